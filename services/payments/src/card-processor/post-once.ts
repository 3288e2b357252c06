import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

type Posted =
  | { readonly kind: "answered"; readonly statusCode: number; readonly text: string }
  | { readonly kind: "not_sent"; readonly reason: string }
  | { readonly kind: "unknown"; readonly reason: string };

/**
 * One POST over a connection of its own, for what must not happen twice. It stands before `commit`
 * is asked, so a processor out of reach leaves no doubt; no idle one is used that the other side
 * may just be closing. When `signal` aborts, it is reset: after an ordinary close the kernel would
 * still deliver what it holds, minutes after everybody has stopped waiting.
 */
export async function postOnce(
  url: URL,
  body: string,
  options: {
    connectTimeoutMs: number;
    signal: AbortSignal;
    commit: () => Promise<boolean>;
    answering: () => void;
    read: (answer: AsyncIterable<Buffer>) => Promise<string>;
  },
): Promise<Posted> {
  const { signal, commit } = options;
  const tcp = tcpTo(url);
  let isCommitted = false;
  let isAnswered = false;
  try {
    const socket = await ready(tcp, url, AbortSignal.any([signal, AbortSignal.timeout(options.connectTimeoutMs)]));
    if (!(await commit())) return { kind: "not_sent", reason: "it may not be sent any more" };
    if (signal.aborted) throw signal.reason;
    isCommitted = true;
    signal.addEventListener("abort", () => tcp.resetAndDestroy());
    const answer = await send(socket, url, body);
    options.answering();
    const text = await options.read(answer);
    isAnswered = true;
    return { kind: "answered", statusCode: answer.statusCode ?? 0, text };
  } catch (thrown) {
    return { kind: isCommitted ? "unknown" : "not_sent", reason: String(signal.aborted ? signal.reason : thrown) };
  } finally {
    // A reset of one that does not stand yet would wait for it to stand.
    if (isAnswered || tcp.connecting) tcp.destroy();
    else tcp.resetAndDestroy();
  }
}

function tcpTo(url: URL): Socket {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const tcp = connect({ host, port: Number(url.port || (url.protocol === "https:" ? 443 : 80)), noDelay: true });
  // Whoever waits is told by rejection; what comes after that concerns nobody.
  return tcp.on("error", () => {});
}

async function ready(tcp: Socket, url: URL, signal: AbortSignal): Promise<Socket> {
  await once(tcp, "connect", { signal });
  if (url.protocol !== "https:") return tcp;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const secure = connectTls({ socket: tcp, host, ...(isIP(host) ? {} : { servername: host }) });
  secure.on("error", () => {});
  await once(secure, "secureConnect", { signal });
  return secure;
}

/** Without the signal, at which the client would close the connection before it can be reset. */
async function send(socket: Socket, url: URL, body: string): Promise<IncomingMessage> {
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
  const [answer] = (await once(post, "response")) as [IncomingMessage];
  return answer;
}
