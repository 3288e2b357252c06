import type { Socket } from "node:net";
import type { EnumName } from "@amana/contracts/enum-names";
import type { DeliveryFailure } from "@amana/contracts/webhooks/v1/event_pb";
import { Agent } from "undici";
import { type AddressGuard, AddressNotPublic, guardedConnector } from "../webhook-endpoint/address-guard.ts";

export type FailureCode = EnumName<typeof DeliveryFailure>;

/** Why no response came, for programs and for the people of the endpoint's business. */
interface Failure {
  readonly code: FailureCode;
  readonly detail: string;
}

export interface Answer {
  readonly statusCode: number | undefined;
  /** Why no status came. */
  readonly failure: Failure | undefined;
  readonly retryAfter: string | undefined;
  /** The first KiB, as text. */
  readonly response: string | undefined;
  readonly durationMs: number;
}

export interface HttpClient extends AsyncDisposable {
  /** Never throws; undefined when it was cut off, so that nobody knows how it ended. */
  post(url: URL, headers: Record<string, string>, body: Buffer): Promise<Answer | undefined>;
  /** Ends whatever is under way, and whatever is begun from now on, without an answer. */
  cutOff(): void;
}

/** An answer's body is only for the log; a longer one is cut off with its connection. */
const bodyBytesMax = 16 * 1024;
const bodyMsMax = 2_000;
const shownBytes = 1024;
/** Of all that comes on the wire: headers, interim answers and the like cost time to parse. */
const answerBytesMax = 128 * 1024;

/**
 * Sends deliveries: connections kept alive for each origin, one deadline over connecting, TLS and
 * headers, no redirects, no decompression, and no connection to an address the guard forbids.
 */
export function createHttpClient({ addresses, timeoutMs }: { addresses: AddressGuard; timeoutMs: number }): HttpClient {
  const connect = guardedConnector(addresses, timeoutMs);
  const agent = new Agent({
    connect: (target, callback) =>
      connect(target, (...connected) => {
        if (connected[1]) endLongAnswers(connected[1]);
        callback(...connected);
      }),
    // Many endpoints may share an origin, and one that hangs must not take others' connections.
    // Only the slots of ConcurrencyLimits limit the number of connections.
    connections: null,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 60_000,
    // Never reached: the client takes 100 ms to make an error of each header beyond.
    maxHeaderSize: 2 * answerBytesMax,
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  const underWay = new Set<() => void>();
  let cut = false;

  const post: HttpClient["post"] = (url, headers, body) =>
    new Promise((resolve) => {
      const startedMs = performance.now();
      const chunks: Buffer[] = [];
      let size = 0;
      let status: { code: number; retryAfter: string | undefined } | undefined;
      let abort: (() => void) | undefined;
      let ended = false;

      const end = (answer: { failure?: Failure } | undefined) => {
        if (ended) return;
        ended = true;
        clearTimeout(timer);
        underWay.delete(onCut);
        resolve(
          answer && {
            statusCode: status?.code,
            failure: status ? undefined : answer.failure,
            retryAfter: status?.retryAfter,
            response: status && shownText(chunks),
            durationMs: Math.round(performance.now() - startedMs),
          },
        );
        abort?.();
      };
      const onCut = () => end(undefined);
      underWay.add(onCut);
      const late = () => end({ failure: { code: "TIMEOUT", detail: `timed out after ${timeoutMs / 1000} s` } });
      let timer = setTimeout(late, timeoutMs);
      if (cut) return onCut();

      agent.dispatch(
        { origin: url.origin, path: url.pathname + url.search, method: "POST", headers, body },
        {
          onRequestStart(controller) {
            abort = () => controller.abort(new Error("not waited for any more"));
            if (ended) abort();
          },
          onResponseStart(_controller, code, answerHeaders) {
            if (code < 200 || ended) return;
            status = { code, retryAfter: [answerHeaders["retry-after"]].flat()[0] };
            clearTimeout(timer);
            const leftMs = timeoutMs - (performance.now() - startedMs);
            timer = setTimeout(() => end({}), Math.min(leftMs, bodyMsMax));
          },
          onResponseData(_controller, chunk) {
            if (ended) return;
            chunks.push(chunk);
            size += chunk.length;
            if (size >= bodyBytesMax) end({});
          },
          onResponseEnd() {
            abort = undefined;
            end({});
          },
          onResponseError(_controller, error) {
            abort = undefined;
            end({ failure: describeFailure(error) });
          },
        },
      );
    });

  return {
    post,
    cutOff() {
      cut = true;
      for (const onCut of underWay) onCut();
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

/** Ends a connection on which too much has come since the last request, before it is parsed. */
function endLongAnswers(socket: Socket): void {
  let [written, before, read] = [0, 0, 0];
  const look = () => {
    if (socket.bytesWritten !== written) [written, before] = [socket.bytesWritten, read];
    read = socket.bytesRead;
    if (read - before <= answerBytesMax) return;
    socket.destroy(new AnswerTooLong());
    socket.read();
  };
  // Before the client's listener, but once it is there: the first one sets off the reading.
  setImmediate(() => socket.prependListener("readable", look));
}

/** Without a character that was cut through, and without NUL, which PostgreSQL does not store. */
function shownText(chunks: readonly Buffer[]): string {
  const bytes = Buffer.concat(chunks).subarray(0, shownBytes);
  return new TextDecoder().decode(bytes, { stream: true }).replaceAll("\0", "\uFFFD");
}

/** Failure of an attempt that sent nothing, because the signing secret could not be decrypted. */
export const secretUnreadable: Failure = {
  code: "SECRET_UNREADABLE",
  detail: "nothing was sent: Amana could not decrypt the signing secret; replay the delivery later, or rotate the secret now",
};

class AnswerTooLong extends Error {}

/** By the code of the error. */
const failures: readonly (readonly [RegExp, FailureCode, string])[] = [
  [/^ENOTFOUND$/, "DNS_ERROR", "the host name does not resolve"],
  [/^EAI_AGAIN$/, "DNS_ERROR", "the host name does not resolve right now"],
  [/^ECONNREFUSED$/, "CONNECTION_REFUSED", "the connection was refused"],
  [/^E(HOST|NET)UNREACH$/, "CONNECTION_REFUSED", "the address cannot be reached"],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, "CONNECTION_RESET", "the connection was closed before an answer"],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, "TIMEOUT", "timed out while connecting"],
  [/CERT|TLS|SSL|SIGNATURE|ISSUER|CHAIN|EPROTO/, "TLS_ERROR", "the TLS certificate or connection is not accepted"],
];

/** Describes the error for the endpoint's business, with nothing about our side. */
export function describeFailure(error: Error & { code?: string; syscall?: string }): Failure {
  if (error instanceof AddressNotPublic) return { code: "ADDRESS_FORBIDDEN", detail: error.message };
  if (error instanceof AnswerTooLong) return { code: "INVALID_RESPONSE", detail: "the answer is too long" };
  if (error.name === "HTTPParserError") return { code: "INVALID_RESPONSE", detail: "the answer is not HTTP" };
  const { code: own = "", syscall = "" } = error;
  // The name server failed, and not the endpoint, even if the code is that of a refused connection.
  const isNameServer = /^query[A-Z]/.test(syscall);
  const code = !isNameServer ? own : own === "ENODATA" || own === "ENOTFOUND" ? "ENOTFOUND" : "EAI_AGAIN";
  const [, known, detail] = failures.find(([codes]) => codes.test(code)) ?? [];
  if (!known || !detail) return { code: "CONNECTION_RESET", detail: "the request failed" };
  return { code: known, detail: known === "TLS_ERROR" ? `${detail} (${code})` : detail };
}
