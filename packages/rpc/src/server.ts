import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { type Logger, sleep } from "@amana/runtime";
import { create, type DescMethodUnary, type DescService, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { type Call, headerNames, type Implementation, type Implementations, readCall } from "./call.ts";
import { createCallerTokens } from "./caller.ts";
import { DomainError } from "./domain-error.ts";
import { toConnectError } from "./error-mapping.ts";
import { ServerHealth } from "./health.ts";

/** A service description together with its implementations; made by `serve`. */
export interface ServedService {
  readonly service: DescService;
  readonly implementations: Readonly<Record<string, Implementation<DescMethodUnary>>>;
  readonly takesCaller: boolean;
}

/**
 * Names the implementations of one service's RPCs. The table of contents of `rpc/index.ts`. `takesCaller: false`: its
 * calls need no token and get `nobody` as their caller; whoever serves it judges what is sent by other means.
 */
export function serve<S extends DescService>(
  service: S,
  implementations: Implementations<S>,
  { takesCaller = true }: { takesCaller?: boolean } = {},
): ServedService {
  return { service, implementations: implementations as unknown as ServedService["implementations"], takesCaller };
}

export interface RpcServerOptions {
  readonly services: readonly ServedService[];
  readonly host: string;
  /** 0 picks a free one; see `RpcServer.port`. */
  readonly port: number;
  /** Shared by everyone who may call; see createCallerTokens. */
  readonly secret: Uint8Array;
  readonly logger: Logger;
  /** True for faults that mean "not now", such as an unreachable database: they are answered as unavailable. */
  readonly isUnavailable?: (error: unknown) => boolean;
  /** Whether what the service cannot do without answers, told to health probes. Must not throw. */
  readonly isReady?: () => Promise<boolean>;
}

export interface RpcServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
}

/** Requests and answers larger than this are refused. */
const messageBytesMax = 4 * 1024 * 1024;
/** How long running calls may take to end when the server stops: longer than the longest, which wait for the outside world. */
const drainTimeoutMs = 40_000;
/** Longer than a request needs from one host to another. */
const idleGraceMs = 100;

/**
 * Serves Connect, gRPC and gRPC-Web on one port, over HTTP/1.1 and HTTP/2 without TLS. A unary Connect call with
 * a protobuf body over HTTP/1.1, which is what `createRpcClient` sends, takes a short way of its own; all else is
 * answered by connect-node. Both ways end in the same `invoke`.
 */
export async function createRpcServer(options: RpcServerOptions): Promise<RpcServer> {
  const { logger } = options;
  const tokens = createCallerTokens(options.secret);
  const health = new ServerHealth(
    options.services.map(({ service }) => service.typeName),
    options.isReady,
  );

  const toAnswer = (error: unknown, method: DescMethodUnary, call: Call | undefined): ConnectError => {
    if (error instanceof DomainError) return toConnectError(error);
    if (error instanceof ConnectError) return error;
    const context = { err: error, method: method.name, request_id: call?.requestId };
    if (options.isUnavailable?.(error)) {
      logger.warn(context, "a call could not be served now");
      return toConnectError(
        new DomainError("unavailable", "service_unavailable", "The service is not available right now. Try again."),
      );
    }
    logger.error(context, "a call failed");
    return new ConnectError("internal error", Code.Internal);
  };

  /** Runs one RPC: who calls, the use case, the answer or the refusal. */
  const invoke = async <M extends DescMethodUnary>(
    method: M,
    implementation: Implementation<M>,
    takesCaller: boolean,
    readRequest: () => Parameters<Implementation<M>>[0],
    header: (name: string) => string | undefined,
    timeoutMs: number | undefined,
    markReplayed: () => void,
  ): Promise<Message> => {
    let call: Call | undefined;
    try {
      call = readCall(header, takesCaller ? tokens : undefined, timeoutMs, markReplayed);
      const answer = await implementation(readRequest(), call);
      return "$typeName" in answer ? (answer as Message) : create(method.output, answer);
    } catch (error) {
      throw toAnswer(error, method, call);
    }
  };

  const fast = new Map<
    string,
    { method: DescMethodUnary; implementation: Implementation<DescMethodUnary>; takesCaller: boolean }
  >();
  for (const { service, implementations, takesCaller } of options.services) {
    for (const method of service.methods) {
      const implementation = implementations[method.localName];
      if (!implementation || method.methodKind !== "unary")
        throw new Error(`${service.typeName}/${method.name} is not implemented`);
      fast.set(`/${service.typeName}/${method.name}`, { method: method as DescMethodUnary, implementation, takesCaller });
    }
  }

  const routes = (router: ConnectRouter) => {
    health.routes(router);
    for (const { method, implementation, takesCaller } of fast.values()) {
      router.rpc(method, (request, context) =>
        invoke(
          method,
          implementation,
          takesCaller,
          () => request,
          (name) => context.requestHeader.get(name) ?? undefined,
          context.timeoutMs(),
          () => context.responseHeader.set(headerNames.replayed, "true"),
        ),
      );
    }
  };
  const connectNode = connectNodeAdapter({
    routes,
    readMaxBytes: messageBytesMax,
    writeMaxBytes: messageBytesMax,
    maxTimeoutMs: 60_000,
  });

  const fastUnary = async (
    request: http.IncomingMessage,
    response: http.ServerResponse,
    target: NonNullable<ReturnType<typeof fast.get>>,
  ) => {
    const { method, implementation, takesCaller } = target;
    try {
      const body = await readBody(request);
      const answer = await invoke(
        method,
        implementation,
        takesCaller,
        () => decode(method, body),
        (name) => request.headers[name] as string | undefined,
        Number(request.headers[headerNames.timeoutMs]) || undefined,
        () => response.setHeader(headerNames.replayed, "true"),
      );
      const bytes = encode(method, answer);
      response.writeHead(200, { "content-type": "application/proto", "content-length": bytes.length });
      response.end(bytes);
    } catch (error) {
      const refusal = ConnectError.from(error);
      if (refusal.cause) logger.error({ err: refusal.cause, method: method.name }, "an answer could not be encoded");
      const bytes = errorToJsonBytes(refusal, undefined);
      response.writeHead(codeToHttpStatus(refusal.code), { "content-type": "application/json", "content-length": bytes.length });
      response.end(bytes);
    }
  };

  let stopping = false;
  const busy = new Set<net.Socket>();
  const server1 = http.createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    busy.add(request.socket);
    if (stopping) response.shouldKeepAlive = false;
    response.once("close", () => {
      busy.delete(request.socket);
      if (stopping) request.socket.destroySoon();
    });
    const target =
      request.headers["content-type"] === "application/proto" &&
      request.headers["content-encoding"] === undefined &&
      request.method === "POST"
        ? fast.get(request.url ?? "")
        : undefined;
    if (target) void fastUnary(request, response, target);
    else connectNode(request, response);
  });
  const server2 = http2.createServer(connectNode);
  const sessions = new Set<http2.ServerHttp2Session>();
  server2.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });

  const sockets = new Set<net.Socket>();
  const http2Sockets = new WeakSet<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    // The first bytes tell HTTP/2 with prior knowledge ("PRI * HTTP/2.0") from HTTP/1.1. They are put back before
    // the HTTP server sees the socket; a "data" listener here would lose them.
    socket.once("readable", () => {
      const first = socket.read() as Buffer | null;
      if (first === null) return socket.destroy();
      socket.unshift(first);
      const isHttp2 = first.subarray(0, 3).toString("latin1") === "PRI";
      if (isHttp2) http2Sockets.add(socket);
      (isHttp2 ? server2 : server1).emit("connection", socket);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as net.AddressInfo;

  return {
    port,
    url: `http://${options.host}:${port}`,
    async [Symbol.asyncDispose]() {
      stopping = true;
      health.stopServing();
      // A request may be on its way on any idle connection: for a moment they are still served, and closed after.
      await sleep(idleGraceMs);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // Running calls end with their answer; connections without one are closed now.
      for (const session of sessions) session.close();
      for (const socket of sockets) if (!busy.has(socket) && !http2Sockets.has(socket)) socket.destroySoon();
      const force = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, drainTimeoutMs);
      await closed;
      clearTimeout(force);
    },
  };
}

async function readBody(request: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > messageBytesMax)
      throw new ConnectError(`the message is larger than ${messageBytesMax} bytes`, Code.ResourceExhausted);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

function encode(method: DescMethodUnary, answer: Message): Uint8Array {
  try {
    return toBinary(method.output, answer);
  } catch (error) {
    // A value that does not fit its field is a fault of ours; its text is for the log alone.
    throw new ConnectError("internal error", Code.Internal, undefined, undefined, error);
  }
}

function decode(method: DescMethodUnary, body: Buffer): Message {
  try {
    return fromBinary(method.input, body);
  } catch {
    throw new ConnectError("the body is not the request message", Code.InvalidArgument);
  }
}
