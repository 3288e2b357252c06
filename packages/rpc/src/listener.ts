import { constants } from "node:crypto";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import tls from "node:tls";
import { StalledSockets, sleep } from "@amana/runtime";
import type { Tls } from "./tls.ts";

export type Request = http.IncomingMessage | http2.Http2ServerRequest;
export type Response = http.ServerResponse | http2.Http2ServerResponse;

export interface ListenerLimits {
  /** Timeout of a connection's first bytes, of a TLS handshake, and of a request's headers. */
  readonly headersTimeoutMs: number;
  /** Timeout of a complete request. It does not limit the time of the response. */
  readonly requestTimeoutMs: number;
  /**
   * Timeout of a connection that has no traffic, or whose caller does not read the response. It
   * must exceed the longest call.
   */
  readonly idleTimeoutMs: number;
  /** Maximum number of connections. The listener closes further connections at once. */
  readonly connectionsMax: number;
}

const limitsDefault: ListenerLimits = {
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  idleTimeoutMs: 75_000,
  connectionsMax: 4_096,
};
/** Time for calls in flight to end when the server stops. */
const drainTimeoutMs = 40_000;
/**
 * Lifetime of an idle connection. The server sends this time in the Keep-Alive header, and clients
 * close the connection 2 s earlier. While the server stops, it serves idle connections until their
 * clients have closed them.
 */
const keepAliveTimeoutMs = 4_000;
/**
 * Time for which the port stays open during a shutdown. Clients with traffic receive `Connection:
 * close` in this time, and then connect to another replica.
 */
const portGraceMs = 100;
/**
 * Maximum number of pending requests on a connection. `createRpcClient` sends one request at a
 * time.
 */
const pipelinedMax = 32;
/** Number of checks for unread responses during `idleTimeoutMs`. */
const stallChecks = 5;
/** Maximum number of rounds that accept pending connections, so that a busy process also stops. */
const acceptRoundsMax = 20;
/** Maximum time of a handshake that began with the previous certificate. */
const handshakeEndMs = 500;

/**
 * Listens on one port for HTTP/1.1 and HTTP/2. With TLS, only clients with a certificate of the CA
 * are accepted, and ALPN selects the protocol. Without TLS, the first bytes of a connection select
 * the protocol. When the certificate changes, earlier connections end after their next response.
 */
export async function listen(options: {
  readonly host: string;
  readonly port: number;
  readonly handle: RequestHandler;
  readonly tls: Tls | undefined;
  readonly limits?: Partial<ListenerLimits>;
}): Promise<{ port: number; stop: () => Promise<void> }> {
  const { handle } = options;
  const limits = { ...limitsDefault, ...options.limits };
  const { headersTimeoutMs, requestTimeoutMs } = limits;
  let stopping = false;
  const sockets = new Set<net.Socket>();
  /** Pending HTTP/1.1 responses of each connection, the newest last. */
  const pending = new WeakMap<net.Socket, Set<http.ServerResponse>>();
  /** Connections made with the previous certificate. */
  const outdated = new WeakSet<net.Socket>();
  const sessions = new Set<http2.ServerHttp2Session>();
  /** Connections before the end of their TLS handshake, by remote address. */
  const handshaking = new Map<string, net.Socket>();

  const http1Server = http.createServer(
    {
      keepAliveTimeout: keepAliveTimeoutMs,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, headersTimeoutMs),
    },
    (request, response) => {
      const { socket } = request;
      if (socket.destroyed) return;
      const responses = pending.get(socket) ?? new Set<http.ServerResponse>();
      if (responses.size >= pipelinedMax) return socket.destroy();
      pending.set(socket, responses.add(response));
      response.once("close", () => responses.delete(response));
      if (stopping || outdated.has(socket)) response.shouldKeepAlive = false;
      handle(request, response);
    },
  );
  http1Server.timeout = limits.idleTimeoutMs;
  http1Server.on("timeout", destroyIfSilent);
  // This server does not listen on a port, because `serve` passes the connections to it. The
  // emitted event starts the timer that enforces the timeouts of the server. Without a port, Node
  // has no method that starts this timer.
  http1Server.emit("listening");

  const http2Server = createHttp2Server(handle, limits, sessions).on("session", (session) => {
    if (stopping) session.close();
  });

  const track = (socket: net.Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
  };
  const serve = (socket: net.Socket, isHttp2: boolean) => {
    if (isHttp2 && outdated.has(socket)) return socket.destroy();
    (isHttp2 ? http2Server : http1Server).emit("connection", socket);
  };

  const server = options.tls
    ? createTlsServer(options.tls, { headersTimeoutMs, handshaking, outdated, track, serve })
    : createPlainServer({ headersTimeoutMs, track, serve });
  server.maxConnections = limits.connectionsMax;
  options.tls?.onChange(() => {
    if (server instanceof tls.Server && options.tls) server.setSecureContext(contextOf(options.tls));
    for (const [address, socket] of handshaking) {
      outdated.add(socket);
      const end = setTimeout(() => {
        if (handshaking.get(address) === socket) socket.destroy();
      }, handshakeEndMs);
      socket.once("close", () => clearTimeout(end));
    }
    for (const socket of sockets) outdated.add(socket);
    for (const session of sessions) session.close();
  });

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const stallTimer = destroyStalled(sockets, limits.idleTimeoutMs);

  return {
    port: (server.address() as net.AddressInfo).port,
    async stop() {
      stopping = true;
      for (const socket of sockets) {
        // Only the newest pending response gets `Connection: close`. An earlier response with this
        // header would end the connection before the responses to later pipelined requests.
        const newestResponse = [...(pending.get(socket) ?? [])].at(-1);
        if (newestResponse) newestResponse.shouldKeepAlive = false;
      }
      for (const session of sessions) session.close();
      await sleep(portGraceMs);
      await acceptPending();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const forceTimer = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, drainTimeoutMs);
      await closed;
      clearTimeout(forceTimer);
      clearInterval(stallTimer);
      http1Server.close();
    },
  };
}

/**
 * Destroys a socket whose timeout has expired, if no bytes have arrived. If the event loop was
 * blocked, timers run before the event loop reads the bytes that arrived during the block.
 */
function destroyIfSilent(socket: net.Socket): void {
  const { bytesRead } = socket;
  setImmediate(() => {
    if (socket.bytesRead === bytesRead) socket.destroy();
  });
}

/** Destroys sockets whose peer has read nothing for `stallMs`. */
function destroyStalled(sockets: ReadonlySet<net.Socket>, stallMs: number): NodeJS.Timeout {
  const stalled = new StalledSockets(stallMs);
  const check = () => {
    for (const socket of sockets) if (stalled.isStalled(socket)) socket.destroy();
  };
  return setInterval(check, stallMs / stallChecks).unref();
}

/**
 * Accepts the connections that are queued in the kernel. The kernel would reset these connections
 * when the port closes. A busy process needs several rounds, because more connections arrive during
 * a round. The loop ends after a round without work.
 */
async function acceptPending(): Promise<void> {
  for (let round = 0; round < acceptRoundsMax; round++) {
    const beganMs = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    if (performance.now() - beganMs < 1) return;
  }
}

type RequestHandler = (request: Request, response: Response) => void;

function createHttp2Server(
  handle: RequestHandler,
  limits: ListenerLimits,
  sessions: Set<http2.ServerHttp2Session>,
): http2.Http2Server {
  const { requestTimeoutMs, idleTimeoutMs } = limits;
  const server = http2.createServer({ settings: { maxConcurrentStreams: 256 } }, (request, response) => {
    const bodyTimer = setTimeout(() => {
      if (!request.complete) request.stream.close(http2.constants.NGHTTP2_CANCEL);
    }, requestTimeoutMs);
    request.stream.once("close", () => clearTimeout(bodyTimer));
    handle(request, response);
  });
  return server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.setTimeout(requestTimeoutMs, () => session.destroy());
    session.once("stream", () => session.setTimeout(idleTimeoutMs));
  });
}

interface AcceptOptions {
  readonly headersTimeoutMs: number;
  readonly track: (socket: net.Socket) => void;
  readonly serve: (socket: net.Socket, isHttp2: boolean) => void;
}

function createTlsServer(
  material: Tls,
  options: AcceptOptions & { handshaking: Map<string, net.Socket>; outdated: WeakSet<net.Socket> },
): tls.Server {
  const { headersTimeoutMs, handshaking, outdated, track, serve } = options;
  const addressOf = ({ remoteAddress, remotePort }: net.Socket) => `${remoteAddress} ${remotePort}`;
  const server = tls.createServer(
    {
      ...contextOf(material),
      requestCert: true,
      rejectUnauthorized: true,
      ALPNProtocols: ["h2", "http/1.1"],
      handshakeTimeout: headersTimeoutMs,
    },
    (socket) => {
      const address = addressOf(socket);
      const raw = handshaking.get(address);
      if (raw && outdated.has(raw)) outdated.add(socket);
      handshaking.delete(address);
      track(socket);
      serve(socket, socket.alpnProtocol === "h2");
    },
  );
  return server.on("connection", (socket: net.Socket) => {
    const address = addressOf(socket);
    handshaking.set(address, socket);
    socket.once("close", () => {
      if (handshaking.get(address) === socket) handshaking.delete(address);
    });
  });
}

function createPlainServer({ headersTimeoutMs, track, serve }: AcceptOptions): net.Server {
  return net.createServer((socket) => {
    track(socket);
    const destroy = () => destroyIfSilent(socket);
    socket.setTimeout(headersTimeoutMs, destroy);
    // HTTP/2 with prior knowledge begins with "PRI * HTTP/2.0". `unshift` returns the bytes to the
    // socket for the HTTP server. A "data" listener here would consume them.
    socket.once("readable", () => {
      socket.setTimeout(0, destroy);
      const firstBytes = socket.read() as Buffer | null;
      if (firstBytes === null) return socket.destroy();
      socket.unshift(firstBytes);
      serve(socket, firstBytes.subarray(0, 3).toString("latin1") === "PRI");
    });
  });
}

const contextOf = ({ material }: Tls): tls.SecureContextOptions => ({
  ...material,
  minVersion: "TLSv1.3",
  // A resumed session would skip the check of the client certificate.
  secureOptions: constants.SSL_OP_NO_TICKET,
});
