import { AsyncLocalStorage } from "node:async_hooks";
import type { EnumName } from "@amana/contracts/enum-names";
import type { DeliveryFailure } from "@amana/contracts/webhooks/v1/event_pb";
import type { FairSemaphore } from "@amana/runtime";
import { Agent } from "undici";
import { type AddressGuard, AddressNotPublic } from "./address-guard.ts";
import { guardedConnector } from "./guarded-connector.ts";
import type { HandshakeCpu } from "./handshake-cpu.ts";
import { TlsLimitExceeded } from "./limit-records.ts";
import { ResponseTooLong } from "./limit-response.ts";
import { ResponseTooLarge, TooManyAddresses } from "./resolve-name.ts";

export type FailureCode = EnumName<typeof DeliveryFailure>;

/** The reason why an attempt got no response. `detail` is shown to the endpoint's business. */
interface Failure {
  readonly code: FailureCode;
  readonly detail: string;
}

export interface PostOutcome {
  readonly statusCode: number | undefined;
  /** Set if `statusCode` is undefined. */
  readonly failure: Failure | undefined;
  readonly retryAfter: string | undefined;
  /** The first KiB of the response body as text. */
  readonly response: string | undefined;
  readonly durationMs: number;
  /** False if the attempt failed while it resolved the name, connected, or negotiated TLS. */
  readonly hasConnected: boolean;
}

export interface HttpClient extends AsyncDisposable {
  /**
   * Sends a POST for a business. Never throws. Returns undefined if `abortAll` aborted the request,
   * because the effect of an aborted request is unknown. Also returns undefined, without sending
   * the request, if no slot for connecting is free within `slotWaitMs`.
   */
  post(
    sender: { readonly businessId: string; readonly slotWaitMs: number },
    url: URL,
    headers: Record<string, string>,
    body: Buffer,
  ): Promise<PostOutcome | undefined>;
  /** Aborts all current and future requests. */
  abortAll(): void;
}

const bodyMsMax = 2_000;
const idleMsMax = 4_000;
const shownBytes = 1024;

/** The business of a request, and whether undici opened a TLS connection for the request. */
interface Sender {
  readonly businessId: string;
  hasHandshake: boolean;
}

/**
 * Creates the agent that opens connections and sends requests. Run each dispatch in `senders` with
 * its own `Sender`. The agent adds the CPU time of each business's TLS handshakes to
 * `handshakeCpu`.
 */
function createAgent(addresses: AddressGuard, timeoutMs: number, handshakeCpu: HandshakeCpu) {
  const senders = new AsyncLocalStorage<Sender>();
  const beginHandshake = () => {
    const sender = senders.getStore() ?? { businessId: "", hasHandshake: false };
    sender.hasHandshake = true;
    handshakeCpu.begin(sender.businessId);
    return (cpuMs: number) => handshakeCpu.add(sender.businessId, cpuMs);
  };
  const agent = new Agent({
    connect: guardedConnector(addresses, timeoutMs, beginHandshake),
    // Must be false, although the connector never offers HTTP/2. Otherwise undici assumes that an
    // https origin may use HTTP/2, and queues all requests to the origin until its first connection
    // has negotiated a protocol.
    allowH2: false,
    // Sets no limit of connections per origin. Many endpoints may share an origin, and an endpoint
    // that does not respond must not use up the connections of the other endpoints.
    connections: null,
    pipelining: 1,
    // Also the maximum, so that a receiver cannot keep an idle connection open for longer. Each
    // connection can need hundreds of kilobytes of memory. Together with the limit of
    // `handshakeCpu`, `idleMsMax` limits the idle TLS connections of a business to about 400.
    keepAliveTimeout: idleMsMax,
    keepAliveMaxTimeout: idleMsMax,
    // Larger than the limits of `limitResponse`, which therefore closes the connection first. If
    // undici detects headers that are too large, it needs 100 ms to create its error.
    maxHeaderSize: 256 * 1024,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return { agent, senders };
}

/**
 * Creates the HTTP client of deliveries. The client keeps connections to each origin alive. One
 * deadline covers connecting, TLS and response headers. The client does not follow redirects, does
 * not decompress bodies, and does not connect to addresses that the guard forbids. An attempt uses
 * a slot of `connecting` until its connection is ready or the attempt fails. After a TLS handshake,
 * the slot stays occupied for longer if the handshakes of the business need much CPU time (see
 * `HandshakeCpu`).
 */
export function createHttpClient({
  addresses,
  timeoutMs,
  limits: { connecting, handshakeCpu },
}: {
  readonly addresses: AddressGuard;
  readonly timeoutMs: number;
  readonly limits: { readonly connecting: FairSemaphore; readonly handshakeCpu: HandshakeCpu };
}): HttpClient {
  const { agent, senders } = createAgent(addresses, timeoutMs, handshakeCpu);
  const inFlight = new Set<() => void>();
  let isAborted = false;

  const send = (url: URL, headers: Record<string, string>, body: Buffer, onConnected: () => void) =>
    new Promise<PostOutcome | undefined>((resolve) => {
      const startedMs = performance.now();
      const chunks: Buffer[] = [];
      let status: { code: number; retryAfter: string | undefined } | undefined;
      let abort: (() => void) | undefined;
      let [hasConnected, hasEnded] = [false, false];

      const end = (outcome: { failure?: Failure } | undefined) => {
        if (hasEnded) return;
        hasEnded = true;
        clearTimeout(timer);
        inFlight.delete(onAbort);
        resolve(
          outcome && {
            statusCode: status?.code,
            failure: status ? undefined : outcome.failure,
            retryAfter: status?.retryAfter,
            response: status && shownText(chunks),
            durationMs: Math.round(performance.now() - startedMs),
            hasConnected,
          },
        );
        abort?.();
      };
      const onAbort = () => end(undefined);
      inFlight.add(onAbort);
      const onTimeout = () => end({ failure: { code: "TIMEOUT", detail: `timed out after ${timeoutMs / 1000} s` } });
      let timer = setTimeout(onTimeout, timeoutMs);
      if (isAborted) return onAbort();

      agent.dispatch(
        { origin: url.origin, path: url.pathname + url.search, method: "POST", headers, body },
        {
          onRequestStart(controller) {
            hasConnected = true;
            onConnected();
            abort = () => controller.abort(new Error("request aborted by the webhook HTTP client"));
            if (hasEnded) abort();
          },
          onResponseStart(_controller, code, responseHeaders) {
            if (code < 200 || hasEnded) return;
            status = { code, retryAfter: [responseHeaders["retry-after"]].flat()[0] };
            clearTimeout(timer);
            const leftMs = timeoutMs - (performance.now() - startedMs);
            timer = setTimeout(() => end({}), Math.max(0, Math.min(leftMs, bodyMsMax)));
          },
          onResponseData(_controller, chunk) {
            if (!hasEnded) chunks.push(chunk);
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
    async post({ businessId, slotWaitMs }, url, headers, body) {
      const entered = connecting.acquire(businessId, slotWaitMs, url.host);
      if (entered !== true && !(await entered)) return undefined;
      const sender: Sender = { businessId, hasHandshake: false };
      let isConnecting = true;
      const release = () => {
        if (!isConnecting) return;
        isConnecting = false;
        const holdMs = sender.hasHandshake ? handshakeCpu.holdMs(businessId) : 0;
        if (holdMs === 0) connecting.release(businessId, url.host);
        else setTimeout(() => connecting.release(businessId, url.host), holdMs).unref();
      };
      try {
        return await senders.run(sender, () => send(url, headers, body, release));
      } finally {
        release();
      }
    },
    abortAll() {
      isAborted = true;
      for (const onAbort of inFlight) onAbort();
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

/**
 * Decodes the start of a body, at most `shownBytes` in UTF-8. Omits an incomplete last character.
 * Replaces control characters, except tab and line breaks, because PostgreSQL cannot store NUL in a
 * text, and JSON needs six bytes for each of the others.
 */
function shownText(chunks: readonly Buffer[]): string {
  const bytes = Buffer.concat(chunks).subarray(0, shownBytes);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters
  const text = startOf(bytes).replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g, "\uFFFD");
  return startOf(Buffer.from(text).subarray(0, shownBytes));
}

const startOf = (bytes: Buffer): string => new TextDecoder().decode(bytes, { stream: true });

/** Failure of an attempt that sent nothing, because the signing secret could not be decrypted. */
export const secretUnreadable: Failure = {
  code: "SECRET_UNREADABLE",
  detail: "nothing was sent: Amana could not decrypt the signing secret; redeliver the event later, or rotate the secret now",
};

/** Failure code and detail for each error code of Node.js or undici. */
const failures: readonly (readonly [RegExp, FailureCode, string])[] = [
  [/^ENOTFOUND$/, "DNS_ERROR", "the host name does not resolve"],
  [/^EAI_AGAIN$/, "DNS_ERROR", "the host name cannot be resolved at the moment"],
  [/^ECONNREFUSED$/, "CONNECTION_REFUSED", "the connection was refused"],
  [/^E(HOST|NET)UNREACH$/, "CONNECTION_REFUSED", "the address is unreachable"],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, "CONNECTION_RESET", "the connection was closed before a response"],
  // undici fails with ERR_ASSERTION if the status code of a response is less than 100.
  [/^(ERR_ASSERTION|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/, "INVALID_RESPONSE", "the response is not valid HTTP"],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, "TIMEOUT", "timed out while connecting"],
  // Node.js returns UNSPECIFIED if it has no code for OpenSSL's reason to reject a certificate.
  [
    /CERT|TLS|SSL|SIGNATURE|ISSUER|CHAIN|EPROTO|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED|UNSPECIFIED/,
    "TLS_ERROR",
    "the TLS certificate or connection was rejected",
  ],
];

/** Describes an error for the endpoint's business, without internals of Amana. */
export function describeFailure(error: Error & { code?: string }): Failure {
  if (error instanceof AddressNotPublic) return { code: "ADDRESS_FORBIDDEN", detail: error.message };
  if (error instanceof TooManyAddresses || error instanceof ResponseTooLarge) return { code: "DNS_ERROR", detail: error.message };
  if (error instanceof TlsLimitExceeded)
    return { code: "TLS_ERROR", detail: "the certificates or TLS records are not supported or exceed a limit" };
  if (error instanceof ResponseTooLong) return { code: "INVALID_RESPONSE", detail: "the response is too long" };
  if (error.name === "HTTPParserError") return { code: "INVALID_RESPONSE", detail: "the response is not valid HTTP" };
  const { code = "" } = error;
  const [, failureCode, detail] = failures.find(([codes]) => codes.test(code)) ?? [];
  if (!failureCode || !detail) return { code: "CONNECTION_RESET", detail: "the request failed" };
  return { code: failureCode, detail: failureCode === "TLS_ERROR" ? `${detail} (${code})` : detail };
}
