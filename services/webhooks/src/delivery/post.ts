import { isIP, type LookupFunction, type Socket } from "node:net";
import { Agent, buildConnector } from "undici";
import { type AddressGuard, AddressNotPublic } from "../webhook-endpoint/address-guard.ts";
import { AnswerTooLong, describeFailure, type Failure } from "./describe-failure.ts";

export interface Answer {
  readonly statusCode: number | undefined;
  /** Why no status came. */
  readonly failure: Failure | undefined;
  readonly retryAfter: string | undefined;
  /** The first KiB, as text. */
  readonly response: string | undefined;
  readonly durationMs: number;
}

export interface Poster extends AsyncDisposable {
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
export function createPoster(options: { addresses: AddressGuard; timeoutMs: number }): Poster {
  const { timeoutMs } = options;
  const agent = new Agent({
    connect: guardedConnector(options.addresses, timeoutMs),
    // Many endpoints may share an origin, and one that hangs must not take others' connections:
    // the dispatcher bounds how many attempts run at once, and nothing else does.
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

  const post: Poster["post"] = (url, headers, body) =>
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
            status = { code, retryAfter: single(answerHeaders["retry-after"]) };
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

/** Judges the address that is connected to: names by our own look-up, literals here. */
function guardedConnector(addresses: AddressGuard, timeoutMs: number): buildConnector.connector {
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    addresses.resolve(hostname).then(
      (found) => (all ? callback(null, [...found]) : callback(null, found[0]?.address ?? "", found[0]?.family)),
      (error: NodeJS.ErrnoException) => callback(error, "", 0),
    );
  };
  // HTTP/1.1 alone: a connection carries one request, so cutting it off disturbs no other.
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false, lookup, maxCachedSessions: 1_000 } as object);
  return (target, callback) => {
    // Sockets do not look up literals.
    const host = target.hostname.replace(/^\[(.*)\]$/, "$1");
    if (isIP(host) !== 0 && !addresses.allows(host)) callback(new AddressNotPublic(), null);
    else
      connect(target, (...connected) => {
        if (connected[1]) endLongAnswers(connected[1]);
        callback(...connected);
      });
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

const single = (header: string | string[] | undefined): string | undefined => (Array.isArray(header) ? header[0] : header);

/** Without a character that was cut through, and without NUL, which PostgreSQL does not store. */
function shownText(chunks: readonly Buffer[]): string {
  const bytes = Buffer.concat(chunks).subarray(0, shownBytes);
  return new TextDecoder().decode(bytes, { stream: true }).replaceAll("\0", "\uFFFD");
}
