import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

type PostResult =
  | { readonly kind: "responded"; readonly statusCode: number; readonly text: string }
  | { readonly kind: "not_sent"; readonly reason: string }
  | { readonly kind: "unknown"; readonly reason: string };

/**
 * Sends a POST that must not be executed twice. Uses a new connection, because the server may be
 * closing an idle connection. `commit` runs after the connection is established. Therefore, if the
 * processor is unreachable, the outcome is "not_sent" and not "unknown". When `signal` aborts, the
 * connection is reset, because after an ordinary close the kernel could still send buffered bytes
 * minutes later.
 */
export async function postOnce(
  url: URL,
  body: string,
  options: {
    connectTimeoutMs: number;
    signal: AbortSignal;
    commit: () => Promise<boolean>;
    onResponse: () => void;
    readBody: (response: AsyncIterable<Buffer>) => Promise<string>;
  },
): Promise<PostResult> {
  const { signal, commit } = options;
  const tcp = connectTcp(url);
  let isCommitted = false;
  let isComplete = false;
  try {
    const socket = await openSocket(tcp, url, AbortSignal.any([signal, AbortSignal.timeout(options.connectTimeoutMs)]));
    if (!(await commit())) return { kind: "not_sent", reason: "the request was stopped before it was sent" };
    if (signal.aborted) throw signal.reason;
    isCommitted = true;
    signal.addEventListener("abort", () => tcp.resetAndDestroy());
    const response = await sendRequest(socket, url, body);
    options.onResponse();
    const text = await options.readBody(response);
    isComplete = true;
    return { kind: "responded", statusCode: response.statusCode ?? 0, text };
  } catch (error) {
    return { kind: isCommitted ? "unknown" : "not_sent", reason: String(signal.aborted ? signal.reason : error) };
  } finally {
    // While a socket is connecting, `resetAndDestroy` would wait for the connection.
    if (isComplete || tcp.connecting) tcp.destroy();
    else tcp.resetAndDestroy();
  }
}

function connectTcp(url: URL): Socket {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const tcp = connect({ host, port: Number(url.port || (url.protocol === "https:" ? 443 : 80)), noDelay: true });
  // Without a listener, an error after the awaited promise has settled would end the process.
  return tcp.on("error", () => {});
}

async function openSocket(tcp: Socket, url: URL, signal: AbortSignal): Promise<Socket> {
  await once(tcp, "connect", { signal });
  if (url.protocol !== "https:") return tcp;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const tlsSocket = connectTls({ socket: tcp, host, ...(isIP(host) ? {} : { servername: host }) });
  tlsSocket.on("error", () => {});
  await once(tlsSocket, "secureConnect", { signal });
  return tlsSocket;
}

/**
 * Sends the request without the abort signal. With the signal, the HTTP client would close the
 * connection before `postOnce` can reset it.
 */
async function sendRequest(socket: Socket, url: URL, body: string): Promise<IncomingMessage> {
  const post = request({
    createConnection: () => socket,
    method: "POST",
    host: url.host,
    path: `${url.pathname}${url.search}`,
    headers: {
      host: url.host,
      "content-type": "application/x-www-form-urlencoded",
      "content-length": Buffer.byteLength(body),
      accept: "application/json",
      connection: "close",
    },
  });
  post.on("error", () => {});
  post.end(body);
  const [response] = (await once(post, "response")) as [IncomingMessage];
  return response;
}
