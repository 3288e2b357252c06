import http from "node:http";
import { allTenants, beginSpan, forTenant, inOperation, inTrace, type Logger, type Trace } from "@amana/runtime";
import { create, type DescMethodUnary, type DescService, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { codeToHttpStatus, codeToString, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { createBodyReader, dropBody, messageBytesMax, type ReadBody, tooLargeToWrite } from "./body.ts";
import { type Call, headerNames, type Implementation, type Implementations, readCall, timeoutMsMax } from "./call.ts";
import { type Caller, noCaller } from "./caller.ts";
import { createCallerVerifier, type TrustedKey } from "./caller-token.ts";
import { DomainError, unavailable } from "./domain-error.ts";
import { toConnectError } from "./error-mapping.ts";
import { ServerHealth } from "./health.ts";
import { type ListenerLimits, listen, type Request, type Response } from "./listener.ts";
import { measure, methodName, serverDuration } from "./metrics.ts";
import { rejectUnknownFields } from "./requested-name.ts";
import { endSpan } from "./spans.ts";
import type { Tls } from "./tls.ts";

/** A service description with its implementations, as `serve` returns it. */
export interface ServedService {
  readonly service: DescService;
  readonly implementations: Readonly<Record<string, Implementation<DescMethodUnary>>>;
  readonly requiresCallerToken: boolean;
}

/**
 * Combines a service with the implementations of its RPCs. With `requiresCallerToken: false`, calls
 * need no caller token and get `noCaller` as their caller. The implementation must then
 * authenticate requests by other means.
 */
export function serve<S extends DescService>(
  service: S,
  implementations: Implementations<S>,
  { requiresCallerToken = true }: { requiresCallerToken?: boolean } = {},
): ServedService {
  return { service, implementations: implementations as unknown as ServedService["implementations"], requiresCallerToken };
}

/**
 * Calls `serve` with the RPCs of a service's `rpc/index.ts`. Each entry of `rpcs` is a function
 * that creates an RPC from the context.
 */
export function serveFrom<S extends DescService, Context>(
  service: S,
  rpcs: { readonly [K in keyof Implementations<S>]: (context: Context) => Implementations<S>[K] },
  context: Context,
): ServedService {
  const entries = Object.entries(service.method).map(([name]) => [name, rpcs[name as keyof Implementations<S>](context)]);
  return serve(service, Object.fromEntries(entries));
}

interface RpcServerOptions {
  readonly services: readonly ServedService[];
  readonly host: string;
  /** 0 selects a free port; see `RpcServer.port`. */
  readonly port: number;
  /** Name of the service. Caller tokens for other services are rejected. */
  readonly audience: string;
  /** Public keys that verify caller tokens; several while a key is replaced. */
  readonly callerKeys: readonly TrustedKey[];
  /** Undefined on a single machine, or in a network that encrypts and authenticates connections. */
  readonly tls?: Tls;
  readonly limits?: Partial<ListenerLimits>;
  readonly logger: Logger;
  /**
   * Returns whether a fault is temporary, such as an unavailable database. The response is then
   * `unavailable`.
   */
  readonly isUnavailable?: (error: unknown) => boolean;
  /** Returns whether required dependencies respond, for health probes. It must not throw. */
  readonly isReady?: () => Promise<boolean>;
}

export interface RpcServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Returns the state that health probes get. */
  isReady(): Promise<boolean>;
}

/**
 * Maximum bytes of all unfinished request bodies, separately for calls with and without a token.
 */
const unfinishedBytesMax = { calls: 32 * 1024 * 1024, withoutToken: 8 * 1024 * 1024 };

interface Target {
  readonly method: DescMethodUnary;
  readonly implementation: Implementation<DescMethodUnary>;
  readonly requiresCallerToken: boolean;
}

/**
 * Starts a server for Connect, gRPC and gRPC-Web on one port, over HTTP/1.1 and HTTP/2. It
 * authenticates the caller from the headers, before it reads the body. A fast path serves calls of
 * `createRpcClient`: unary Connect calls with a protobuf body over HTTP/1.1. connect-node serves
 * all other calls. Both paths end in `invoke`.
 */
export async function createRpcServer(options: RpcServerOptions): Promise<RpcServer> {
  const { logger } = options;
  const callers = createCallerVerifier({ audience: options.audience, keys: options.callerKeys });
  const health = new ServerHealth(
    options.services.map(({ service }) => service.typeName),
    options.isReady,
  );

  const methods = targetsOf(options.services);
  const invoke = createInvoke(options);
  const callerOf = ({ method, requiresCallerToken }: Target, token: string | undefined) =>
    requiresCallerToken ? callers.check(token, method) : noCaller;

  const routes = (router: ConnectRouter) => {
    health.routes(router);
    for (const target of methods.values()) {
      router.rpc(target.method, (request, context) => {
        const header = (name: string) => context.requestHeader.get(name) ?? undefined;
        const caller = callerOf(target, header(headerNames.caller));
        const markReplayed = () => context.responseHeader.set(headerNames.replayed, "true");
        const call = readCall(header, caller, context.timeoutMs(), markReplayed);
        return invoke(target, { read: () => request, write: (response) => response }, call);
      });
    }
  };
  const connectNode = connectNodeAdapter({
    routes,
    readMaxBytes: messageBytesMax,
    writeMaxBytes: messageBytesMax,
    // A few compressed bytes could become 4 MiB, but the limit on unfinished bodies counts only
    // received bytes.
    acceptCompression: [],
    maxTimeoutMs: timeoutMsMax,
  });

  const readCallBody = createBodyReader(unfinishedBytesMax.calls);
  const readOtherBody = createBodyReader(unfinishedBytesMax.withoutToken);

  const handle = (request: Request, response: Response) => {
    // Drops the rest of an unneeded body, so that the connection can be used again.
    response.once("finish", () => {
      if (!request.complete) dropBody(request);
    });
    clampTimeout(request);
    // Ignores the query, as connect-node does.
    const [path = ""] = (request.url ?? "").split("?", 1);
    const target = methods.get(path);
    let caller: Caller = noCaller;
    try {
      if (target) caller = callerOf(target, request.headers[headerNames.caller] as string | undefined);
    } catch (error) {
      // The body stays unread. The connection can therefore not be used again.
      if (response instanceof http.ServerResponse) response.shouldKeepAlive = false;
      const rejection = ConnectError.from(error);
      if (target) serverDuration.observe({ method: methodName(target.method), code: codeToString(rejection.code) }, 0);
      inTrace(claimedTrace(request), () =>
        logger.warn({ err: error, method: target?.method.name }, "RPC rejected, caller token invalid"),
      );
      return sendError(response, rejection);
    }
    const readBody = target?.requiresCallerToken ? readCallBody : readOtherBody;
    if (target && isFast(request) && response instanceof http.ServerResponse) {
      void serveFast(request, response, { target, caller, invoke, readBody });
    } else {
      // connect-node has no option for the source of the body. It reads the request by `for await`.
      request[Symbol.asyncIterator] = () => yieldBody(request, readBody);
      connectNode(request, response);
    }
  };

  const { port, stop } = await listen({
    host: options.host,
    port: options.port,
    handle,
    tls: options.tls,
    limits: options.limits,
  });

  return {
    port,
    url: `${options.tls ? "https" : "http"}://${options.host}:${port}`,
    isReady: () => health.isServing(),
    async [Symbol.asyncDispose]() {
      health.stopServing();
      await stop();
    },
  };
}

/** Returns the RPCs by their paths. */
function targetsOf(services: readonly ServedService[]): Map<string, Target> {
  const targets = services.flatMap(({ service, implementations, requiresCallerToken }) =>
    service.methods.map((method) => {
      const implementation = implementations[method.localName];
      if (!implementation || method.methodKind !== "unary") {
        throw new Error(`${service.typeName}/${method.name} is not implemented`);
      }
      const target = { method: method as DescMethodUnary, implementation, requiresCallerToken };
      return [`/${service.typeName}/${method.name}`, target] as const;
    }),
  );
  return new Map(targets);
}

/** Hides the details of a fault from the caller. */
const internalError = () => new ConnectError("internal error", Code.Internal);

interface Codec<T> {
  read(): Message;
  write(response: Message): T;
}

type Invoke = <T>(target: Target, codec: Codec<T>, call: Call) => Promise<T>;

/** Creates a function that runs an RPC for its caller's tenant and converts its errors. */
function createInvoke({ logger, isUnavailable }: RpcServerOptions): Invoke {
  const connectErrorOf = (error: unknown, method: DescMethodUnary, call: Call): ConnectError => {
    if (error instanceof DomainError) return toConnectError(error);
    if (error instanceof ConnectError) return error;
    const context = { err: error, method: method.name, request_id: call.requestId };
    if (isUnavailable?.(error)) {
      logger.warn(context, "RPC failed, dependency unavailable");
      return toConnectError(unavailable("service_unavailable", "The service is not available right now. Try again."));
    }
    logger.error(context, "RPC failed with an internal error");
    return internalError();
  };
  const invoke: Invoke = async ({ method, implementation }, { read, write }, call) => {
    // The client no longer waits for this call and does not expect its effect.
    if (call.remainingMs() === 0) throw new ConnectError("the deadline has passed", Code.DeadlineExceeded);
    try {
      const request = read();
      if (call.caller.role === "business" || call.caller.role === "admin") rejectUnknownFields(request);
      const response = await implementation(request as Parameters<typeof implementation>[0], call);
      return write("$typeName" in response ? (response as Message) : create(method.output, response));
    } catch (error) {
      throw connectErrorOf(error, method, call);
    }
  };
  return (target, codec, call) => {
    const method = methodName(target.method);
    const span = beginSpan("server", method, call.traceparent);
    const traced = span ? { ...call, traceparent: span.traceparent } : call;
    const tenant = call.caller.role === "business" ? call.caller.businessId : allTenants;
    return measure(
      (code, seconds) => {
        serverDuration.observe({ method, code }, seconds);
        if (span) endSpan(span, target.method, code, call.caller);
      },
      () => inTrace(traced, () => forTenant(tenant, () => inOperation(method, () => invoke(target, codec, traced)))),
    );
  };
}

/** Serves a call in the form that `createRpcClient` sends. */
async function serveFast(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  { target, caller, invoke, readBody }: { target: Target; caller: Caller; invoke: Invoke; readBody: ReadBody },
): Promise<void> {
  const { method } = target;
  const timeoutMs = request.headers[headerNames.timeoutMs];
  const call = readCall(
    (name) => request.headers[name] as string | undefined,
    caller,
    timeoutMs === undefined ? undefined : Number(timeoutMs),
    () => response.setHeader(headerNames.replayed, "true"),
  );
  try {
    const body = await readBody(request);
    const codec = { read: () => decode(method, body), write: (message: Message) => encode(method, message) };
    const bytes = await invoke(target, codec, call);
    response.writeHead(200, { "content-type": "application/proto", "content-length": bytes.length });
    response.end(bytes);
  } catch (error) {
    // The caller has closed the connection.
    if (request.destroyed && !request.complete) return;
    sendError(response, ConnectError.from(error, Code.Internal));
  }
}

/**
 * Returns whether a request has the form that `createRpcClient` sends: Connect unary, a protobuf
 * body without compression, HTTP/1.1. connect-node handles all other requests and their error
 * responses.
 */
const isFast = (request: Request): request is http.IncomingMessage =>
  request instanceof http.IncomingMessage &&
  request.headers["content-type"] === "application/proto" &&
  request.headers["content-encoding"] === undefined &&
  /^[1-9]\d{0,9}$/.test(String(request.headers[headerNames.timeoutMs] ?? timeoutMsMax)) &&
  request.method === "POST";

/**
 * Lowers a longer timeout to the maximum: "server implementations may clamp timeouts to an
 * appropriate maximum" (connectrpc.com/docs/protocol, Unary-Request). connect-node would reject the
 * longer timeout.
 */
function clampTimeout({ headers }: Request): void {
  const timeoutMs = String(headers[headerNames.timeoutMs]);
  if (/^\d{1,10}$/.test(timeoutMs) && Number(timeoutMs) > timeoutMsMax) headers[headerNames.timeoutMs] = String(timeoutMsMax);
}

/**
 * Yields the body for connect-node, which sends a ConnectError in the form of the caller's
 * protocol.
 */
async function* yieldBody(request: Request, readBody: ReadBody): AsyncGenerator<Buffer, undefined> {
  const body = await readBody(request);
  if (body.length > 0) yield body;
}

/**
 * Returns the trace of an unauthenticated call, for the log. Cuts the trace context and the request
 * id to their usual lengths.
 */
const claimedTrace = ({ headers }: Request): Trace => ({
  traceparent: String(headers[headerNames.traceparent] ?? "").slice(0, 55),
  requestId: String(headers[headerNames.requestId] ?? "").slice(0, 64),
});

/**
 * Sends an error in the format of Connect. A gRPC client derives the code from the HTTP status: 401
 * is UNAUTHENTICATED.
 */
function sendError(response: Response, error: ConnectError): void {
  const bytes = errorToJsonBytes(error, undefined);
  response.statusCode = codeToHttpStatus(error.code);
  response.setHeader("content-type", "application/json");
  response.setHeader("content-length", bytes.length);
  response.end(bytes);
}

/**
 * Decodes a request. For an unreadable request, throws the code and text of connect-node, because
 * the Connect protocol does not define them.
 */
function decode(method: DescMethodUnary, body: Buffer): Message {
  try {
    return fromBinary(method.input, body);
  } catch (error) {
    throw new ConnectError(`parse binary: ${(error as Error).message}`, Code.Internal);
  }
}

function encode(method: DescMethodUnary, message: Message): Uint8Array {
  const bytes = toBinary(method.output, message);
  if (bytes.length > messageBytesMax) throw tooLargeToWrite(bytes.length);
  return bytes;
}
