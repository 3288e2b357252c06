import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingMessage, type RequestOptions, request } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

type PostResult =
  | { readonly kind: "responded"; readonly statusCode: number; readonly text: string }
  | { readonly kind: "not_sent"; readonly reason: string }
  | { readonly kind: "unknown"; readonly reason: string };

interface PostOptions {
  readonly signal: AbortSignal;
  /**
   * Only for a request that must not be executed twice. Runs after the connection is established
   * and before the first byte is sent. If it returns false or throws, no byte is sent.
   */
  readonly commit?: () => Promise<boolean>;
  readonly onResponse: () => void;
  readonly readBody: (response: AsyncIterable<Buffer>) => Promise<string>;
}

interface Connection {
  /** The TCP socket below TLS, or the socket itself. */
  readonly tcp: Socket;
  /** Time of the latest response; 0 if there was none. */
  respondedAt: number;
  /** Number of bytes that were received up to the end of the latest response. */
  bytesRead: number;
}

/** Time for which an idle connection is kept. */
const keptMs = 20_000;
/**
 * Time after a response in which the server does not close the connection for being idle. Common
 * servers keep idle connections for at least five seconds.
 */
const freshMs = 1_000;

/**
 * Kept-alive connections to the server at `baseUrl`. `post` sends a request and never retries it.
 *
 * A request with `commit` must not be executed twice. If the server closed a connection just before
 * the request, the outcome would be unknown. Therefore such a request uses the connection that
 * carried the latest response only within `freshMs` of this response, and otherwise a new
 * connection. `commit` runs after the connection is established, so that the outcome is "not_sent"
 * and not "unknown" if the server is unreachable. When `signal` aborts, the connection is reset,
 * because after an ordinary close the kernel could still send buffered bytes minutes later.
 */
export function createConnections(baseUrl: string, connectTimeoutMs: number) {
  const connections = new WeakMap<Socket, Connection>();
  const closing = new AbortController();
  const base = new URL(baseUrl);

  const createConnection: Agent["createConnection"] = (_options, callback) => {
    openConnection(base, AbortSignal.any([closing.signal, AbortSignal.timeout(connectTimeoutMs)])).then(
      ({ tcp, socket }) => {
        connections.set(socket, { tcp, respondedAt: 0, bytesRead: 0 });
        callback?.(null, socket);
      },
      (error: Error) => callback?.(error, undefined as never),
    );
    return undefined;
  };
  // The agent gives a request the connection that became idle last.
  const agent = Object.assign(new Agent({ keepAlive: true, timeout: keptMs, scheduling: "lifo" }), { createConnection });

  const hasFreshConnection = () => {
    const socket = Object.values(agent.freeSockets)[0]?.at(-1);
    return socket?.writable === true && performance.now() - (connections.get(socket)?.respondedAt ?? 0) < freshMs;
  };

  return {
    async post(path: string, body: string, { signal, commit, onResponse, readBody }: PostOptions): Promise<PostResult> {
      const mayReuse = commit === undefined || hasFreshConnection();
      const post = createPost(base, path, body, mayReuse ? { agent } : { createConnection });
      let tcp: Socket | undefined;
      let [mayBeSent, isComplete] = [false, false];
      const reset = () => tcp?.resetAndDestroy();
      try {
        const [socket] = (await once(post, "socket", { signal })) as [Socket];
        const connection = connections.get(socket) as Connection;
        tcp = connection.tcp;
        if (commit && !(await commit())) return { kind: "not_sent", reason: "the request was stopped before it was sent" };
        if (signal.aborted) throw signal.reason;
        // Bytes that arrived before the request are not its response.
        if (!socket.writable || socket.bytesRead > connection.bytesRead)
          throw new Error("the connection ended or a response arrived before the request was sent");
        mayBeSent = true;
        signal.addEventListener("abort", reset);
        post.end(body);
        // Without the signal, the wait would not end after a response with status 101.
        const [response] = (await once(post, "response", { signal })) as [IncomingMessage];
        onResponse();
        const text = await readBody(response);
        Object.assign(connection, { respondedAt: performance.now(), bytesRead: socket.bytesRead });
        isComplete = true;
        return { kind: "responded", statusCode: response.statusCode ?? 0, text };
      } catch (error) {
        return { kind: mayBeSent ? "unknown" : "not_sent", reason: String(signal.aborted ? signal.reason : error) };
      } finally {
        signal.removeEventListener("abort", reset);
        // Node.js 26 crashes if a request on TLS is destroyed after the reset of its TCP socket.
        if (!isComplete) tcp ? reset() : post.destroy();
      }
    },

    close() {
      closing.abort();
      agent.destroy();
    },
  };
}

/** Creates a POST that is sent when the caller ends it, without an abort signal of its own. */
function createPost(
  { host, pathname }: URL,
  path: string,
  body: string,
  connection: Pick<RequestOptions, "agent" | "createConnection">,
): ClientRequest {
  const post = request({
    ...connection,
    method: "POST",
    host,
    path: `${pathname.replace(/\/$/, "")}/${path}`,
    headers: {
      host,
      "content-type": "application/x-www-form-urlencoded",
      "content-length": Buffer.byteLength(body),
      accept: "application/json",
    },
  });
  // Without a listener, an error would end the process if it occurs while no promise awaits the
  // request.
  return post.on("error", () => {});
}

async function openConnection(url: URL, signal: AbortSignal): Promise<{ tcp: Socket; socket: Socket }> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isSecure = url.protocol === "https:";
  const tcp = connect({ host, port: Number(url.port || (isSecure ? 443 : 80)), noDelay: true });
  tcp.on("error", () => {});
  try {
    await once(tcp, "connect", { signal });
    if (!isSecure) return { tcp, socket: tcp };
    const tlsSocket = connectTls({ socket: tcp, host, ...(isIP(host) ? {} : { servername: host }) });
    tlsSocket.on("error", () => {});
    await once(tlsSocket, "secureConnect", { signal });
    return { tcp, socket: tlsSocket };
  } catch (error) {
    tcp.destroy();
    throw error;
  }
}
