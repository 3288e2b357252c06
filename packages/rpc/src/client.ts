import { beginSpan, currentTrace, GrowingBuffer } from "@amana/runtime";
import {
  create,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  type Message,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { errorFromJsonBytes, validateResponseWithCompression } from "@connectrpc/connect/protocol-connect";
import { Pool } from "undici";
import { messageBytesMax, tooLargeToRead } from "./body.ts";
import { headerNames, type IdempotencyKey } from "./call.ts";
import type { Caller } from "./caller.ts";
import type { CallerSigner } from "./caller-token.ts";
import { DomainError, outcomeUnknown, unavailable } from "./domain-error.ts";
import { fromConnectError } from "./error-mapping.ts";
import { clientDuration, clientRetries, measure, methodName } from "./metrics.ts";
import { endSpan } from "./spans.ts";
import type { Tls } from "./tls.ts";

export interface CallOptions {
  readonly caller: Caller;
  readonly requestId?: string;
  readonly address?: string;
  readonly traceparent?: string;
  readonly idempotencyKey?: IdempotencyKey;
  /** Milliseconds to the deadline. The client sends the deadline to the server. */
  readonly timeoutMs?: number;
  /** Called before the promise settles if the response is a stored result of an earlier call. */
  readonly onReplayed?: () => void;
}

/** Makes an RPC. `method` describes its request and response. */
export interface RpcFunction<Request, Response> {
  (request: Request, options: CallOptions): Promise<Response>;
  readonly method: DescMethodUnary;
}

/** A typed client with a function for each RPC. */
export type RpcClient<S extends DescService> = {
  [K in keyof S["method"]]: S["method"][K] extends DescMethodUnary<infer I, infer O>
    ? RpcFunction<MessageInitShape<I>, MessageShape<O>>
    : never;
};

/** Connections to the replicas of a service, which its clients share. */
export interface RpcChannel extends AsyncDisposable {
  call(method: DescMethodUnary, body: Uint8Array, options: CallOptions): Promise<Message>;
}

const timeoutMsDefault = 5_000;
/** Time for which calls avoid a replica after it refused or closed a connection. */
const ejectMs = 1_000;
const attemptsMax = 3;
/**
 * Status of a request that the server did not receive completely in time. The server did not begin
 * the call (RFC 9110, section 15.5.9).
 */
const requestTimeout = 408;

export interface RpcChannelOptions {
  /**
   * URLs of the replicas of one service. With `tls`, the URLs must be https, and the certificates
   * of the replicas must contain the host names.
   */
  readonly urls: readonly string[];
  /** Name of the service, for which caller tokens are signed. */
  readonly audience: string;
  /** Signs caller tokens. Without a signer, only calls of `noCaller` are possible. */
  readonly signer?: CallerSigner;
  readonly tls?: Tls;
}

interface Replica {
  pool: Pool;
  ejectedUntilMs: number;
}

const eject = (replica: Replica): void => {
  replica.ejectedUntilMs = performance.now() + ejectMs;
};

/**
 * Opens the pool of a replica. A connection has one call at a time. The pool does not limit the
 * number of connections, so a call never waits for another call. Callers limit their own calls. The
 * pool closes an idle connection 2 s before the time in the server's Keep-Alive header, so that no
 * call is written to a connection that the server closes.
 */
function openReplica(url: string, tls: Tls | undefined): Replica {
  const openPool = () => {
    const connect = { timeout: 2_000, ...tls?.material };
    const pool = new Pool(url, { connect, maxCachedSessions: 0, allowH2: false, headersTimeout: 0, bodyTimeout: 0 });
    return pool.on("disconnect", (_origin, _targets, error) => {
      // The error of a connection that this client closed has the code UND_ERR_INFO.
      if (error.code !== "UND_ERR_INFO") eject(replica);
    });
  };
  const replica: Replica = { pool: openPool(), ejectedUntilMs: 0 };
  // Calls in flight finish on the connections of the old pool.
  tls?.onChange(() => {
    const { pool } = replica;
    replica.pool = openPool();
    void pool.close();
  });
  return replica;
}

/**
 * Opens a channel to the replicas of a service, which get calls in rotation. The channel retries a
 * call in two cases: the server did not begin the call, or the service was unavailable and the call
 * is a read or has an idempotency key. docs/decisions/rpc.md explains why this is not a standard
 * client.
 */
export function createRpcChannel({ urls, audience, signer, tls }: RpcChannelOptions): RpcChannel {
  const replicas = urls.map((url) => openReplica(url, tls));
  const tokenFor = (caller: Caller): string | undefined => {
    if (caller.role === "none") return undefined;
    if (!signer) throw new Error(`calls to ${audience} need a caller token, but this process has no signing key`);
    return signer.sign(caller, audience);
  };
  let nextIndex = 0;

  const nextReplica = () => {
    const now = performance.now();
    for (let i = 0; i < replicas.length; i++) {
      const replica = replicas[nextIndex++ % replicas.length] as Replica;
      if (replica.ejectedUntilMs <= now) return replica;
    }
    // The replica that failed first is the likeliest to be available again.
    return replicas.reduce((first, other) => (other.ejectedUntilMs < first.ejectedUntilMs ? other : first));
  };

  const makeCall: RpcChannel["call"] = async (method, body, call) => {
    const endsAtMs = performance.now() + (call.timeoutMs ?? timeoutMsDefault);
    const isRepeatable = method.idempotency !== IdempotencyLevel.IDEMPOTENCY_UNKNOWN || call.idempotencyKey !== undefined;
    for (let attempt = 1; ; attempt++) {
      const replica = nextReplica();
      const remainingMs = Math.ceil(endsAtMs - performance.now());
      const token = tokenFor(call.caller);
      try {
        if (remainingMs <= 0) throw new ConnectError("the deadline has passed", Code.DeadlineExceeded);
        return await send(replica, method, body, { call, token, timeoutMs: remainingMs });
      } catch (error) {
        // The token expired before the server verified it. The server did not read the call.
        const expired = error instanceof ConnectError && error.code === Code.Unauthenticated && tokenFor(call.caller) !== token;
        const notSent = error instanceof ConnectionError && error.notSent;
        // Refusals with other codes report an external system that is unavailable to all replicas.
        const unavailable =
          error instanceof ConnectionError || (error instanceof DomainError && error.code === "service_unavailable");
        if (notSent) eject(replica);
        if (
          attempt < attemptsMax &&
          (notSent || expired || (unavailable && isRepeatable)) &&
          endsAtMs - performance.now() > 100
        ) {
          clientRetries.inc({ to: audience });
          await new Promise((resolve) => setTimeout(resolve, 20 * attempt ** 2));
          continue;
        }
        if (expired) throw unreachable();
        if (!(error instanceof ConnectionError)) throw error;
        throw notSent || isRepeatable ? unreachable() : interrupted();
      }
    }
  };

  return {
    call(method, body, options) {
      const call = options.traceparent === undefined ? inCurrentTrace(options) : options;
      const labels = { to: audience, method: methodName(method) };
      const span = beginSpan("client", labels.method, call.traceparent);
      const traced = span ? { ...call, traceparent: span.traceparent } : call;
      return measure(
        (code, seconds) => {
          clientDuration.observe({ ...labels, code }, seconds);
          if (span) endSpan(span, method, code, call.caller);
        },
        () => makeCall(method, body, traced),
      );
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(replicas.map(({ pool }) => pool.close()));
    },
  };
}

/**
 * Creates the typed client of a service. It throws refusals as DomainError, faults as ConnectError.
 */
export function createRpcClient<S extends DescService>(service: S, channel: RpcChannel): RpcClient<S> {
  const methods = service.methods.map((method) => {
    const unary = method as DescMethodUnary;
    const call = async (request: MessageInitShape<typeof unary.input>, options: CallOptions) =>
      await channel.call(unary, toBinary(unary.input, create(unary.input, request)), options);
    return [method.localName, Object.assign(call, { method })] as const;
  });
  return Object.fromEntries(methods) as RpcClient<S>;
}

/**
 * Thrown when the connection ended without a response. `notSent` is true if the server did not
 * begin the call.
 */
class ConnectionError extends Error {
  readonly notSent: boolean;

  constructor(cause: Error, notSent: boolean) {
    super(cause.message, { cause });
    this.notSent = notSent;
  }
}

/** Adds the current trace to a call that has no trace. */
function inCurrentTrace(call: CallOptions): CallOptions {
  const trace = currentTrace();
  return trace ? { ...call, traceparent: trace.traceparent, requestId: call.requestId ?? trace.requestId ?? "" } : call;
}

const unreachable = () =>
  unavailable("service_unavailable", "A part of the service cannot be reached right now. Try again in a moment.");

const interrupted = () =>
  outcomeUnknown(
    "outcome_unknown",
    "The connection to a part of the service broke before its response arrived, so the request may or may not have taken effect. Read the resource before you send the request again, or send it again with an Idempotency-Key.",
  );

interface SendOptions {
  readonly call: CallOptions;
  readonly token: string | undefined;
  readonly timeoutMs: number;
}

function send(
  replica: Replica,
  method: DescMethodUnary,
  body: Uint8Array,
  { call, token, timeoutMs }: SendOptions,
): Promise<Message> {
  const headers = [
    "content-type",
    "application/proto",
    "connect-protocol-version",
    "1",
    headerNames.timeoutMs,
    String(timeoutMs),
  ];
  if (token) headers.push(headerNames.caller, token);
  if (call.requestId) headers.push(headerNames.requestId, call.requestId);
  if (call.address) headers.push(headerNames.address, call.address);
  if (call.traceparent) headers.push(headerNames.traceparent, call.traceparent);
  if (call.idempotencyKey) {
    const { key, route, fingerprint, otherFingerprint } = call.idempotencyKey;
    headers.push(headerNames.idempotencyKey, key);
    headers.push(headerNames.idempotencyRoute, route);
    headers.push(headerNames.idempotencyFingerprint, otherFingerprint ? `${fingerprint},${otherFingerprint}` : fingerprint);
  }

  return new Promise((resolve, reject) => {
    const responseBody = new GrowingBuffer();
    let responseHeaders: ResponseHeaders = {};
    let status = 0;
    let abort: ((reason: Error) => void) | undefined;
    let expired: Error | undefined;
    // Rounds up to tenths of a second, so that Node keeps the timers in few timer lists.
    const timer = setTimeout(
      () => {
        expired = new ConnectError("the deadline has passed", Code.DeadlineExceeded);
        reject(expired);
        abort?.(expired);
      },
      Math.ceil(timeoutMs / 100) * 100,
    );
    replica.pool.dispatch(
      { method: "POST", path: `/${method.parent.typeName}/${method.name}`, headers, body },
      {
        // Runs before the first byte is written to a connection.
        onRequestStart(controller) {
          abort = (reason) => controller.abort(reason);
          // The deadline may pass while the connection is opened.
          if (expired) abort(expired);
        },
        onResponseStart(_controller, statusCode, headers) {
          status = statusCode;
          responseHeaders = headers;
          if (headers[headerNames.replayed] !== undefined) call.onReplayed?.();
          // The replica shuts down and will close its other connections, too.
          if (headers["connection"] === "close") eject(replica);
        },
        onResponseData(controller, chunk) {
          if (responseBody.length + chunk.length > messageBytesMax) controller.abort(tooLargeToRead());
          else responseBody.append(chunk);
        },
        onResponseEnd() {
          clearTimeout(timer);
          if (status === requestTimeout) return reject(new ConnectionError(new Error("HTTP 408"), true));
          try {
            resolve(readResponse(method, status, responseHeaders, responseBody.bytes()));
          } catch (error) {
            reject(error);
          }
        },
        onResponseError(_controller, error) {
          clearTimeout(timer);
          reject(error instanceof ConnectError ? error : new ConnectionError(error, abort === undefined));
        },
      },
    );
  });
}

type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Returns the message of a response, or throws the response's error. A successful response has the
 * content type of the request, an error is JSON (connectrpc.com/docs/protocol, Unary-Response). Any
 * other response is not from a Connect server and gets the code of the reference implementation.
 */
function readResponse(method: DescMethodUnary, status: number, headers: ResponseHeaders, body: Buffer): Message {
  const type = headers["content-type"];
  const encoding = headers["content-encoding"];
  if (status !== 200 || type !== "application/proto" || encoding !== undefined) {
    const standardHeaders = new Headers();
    if (type !== undefined) standardHeaders.set("content-type", String(type));
    if (encoding !== undefined) standardHeaders.set("content-encoding", String(encoding));
    const { unaryError } = validateResponseWithCompression("unary", [], true, status, standardHeaders);
    if (unaryError) throw readError(body, unaryError);
  }
  try {
    return fromBinary(method.output, body);
  } catch (error) {
    throw new ConnectError(`parse binary: ${(error as Error).message}`, Code.Internal);
  }
}

function readError(body: Buffer, fallback: ConnectError): Error {
  try {
    const error = errorFromJsonBytes(body, undefined, fallback);
    return fromConnectError(error) ?? error;
  } catch {
    return fallback;
  }
}
