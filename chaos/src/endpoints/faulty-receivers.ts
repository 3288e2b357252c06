import { createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";

/** Handles data that a connection receives, such as a request or the start of a TLS handshake. */
type Behaviour = (socket: Socket) => void;

const ok = "HTTP/1.1 200 OK\r\n";
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;
/** Ten megabytes of zeros, compressed. */
const gzipBomb = gzipSync(Buffer.alloc(10 * 1024 * 1024));

/** Sends `first`, and then `repeated` without end, as fast as the peer reads. */
const sendEndlessly =
  (first: string, repeated: string | Buffer): Behaviour =>
  (socket) => {
    const piece = Buffer.from(repeated.length < 60_000 ? repeated.toString().repeat(60_000 / repeated.length) : repeated);
    socket.write(first);
    const writeNext = () =>
      void (socket.destroyed || (socket.write(piece) ? setImmediate(writeNext) : socket.once("drain", writeNext)));
    writeNext();
  };

/** Every `everyMs`, sends the next character of `text` or, after the last one, `repeated`. */
const sendSlowly =
  (text: string, repeated: string, everyMs: number): Behaviour =>
  (socket) => {
    let sent = 0;
    const timer = setInterval(() => {
      socket.write(text[sent] ?? repeated);
      sent++;
    }, everyMs);
    socket.once("close", () => clearInterval(timer));
  };

const send =
  (text: string): Behaviour =>
  (socket) =>
    void socket.write(text);
const sendAndReset =
  (text: string): Behaviour =>
  (socket) =>
    void socket.write(text, () => socket.resetAndDestroy());
const respondAfter =
  (ms: number): Behaviour =>
  (socket) =>
    void setTimeout(() => socket.destroyed || socket.write(`${ok}content-length: 0\r\n\r\n`), ms);

/**
 * Returns the faulty behaviours by name. Some deliveries succeed, because the endpoint sends a 2xx
 * status before its fault. `target` is the URL to which endpoints redirect.
 */
const createBehaviours = (target: string): Record<string, Behaviour> => ({
  "never responds": () => {},
  "does not read": (socket) => socket.pause(),
  "closes at once": (socket) => socket.end(),
  "resets at once": (socket) => socket.resetAndDestroy(),
  "resets within the status line": sendAndReset("HTTP/1.1 2"),
  "resets within the headers": sendAndReset(`${ok}content-le`),
  "resets after a 200": sendAndReset(`${ok}content-length: 10\r\n\r\n12345`),
  "one header each second": sendSlowly(ok, "x: y\r\n", 1_000),
  "headers byte by byte": sendSlowly("HTTP/1.1 200 OK", "k", 200),
  "body byte by byte": sendSlowly(`${ok}content-length: 1000\r\n\r\n`, "a", 20),
  "endless headers": sendEndlessly(ok, "x-header: value\r\n"),
  "one endless header": sendEndlessly(`${ok}x: `, "a"),
  "endless reason phrase": sendEndlessly("HTTP/1.1 200 ", "a"),
  "endless interim responses": sendEndlessly("", "HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n"),
  "endless empty lines": sendEndlessly("", "\r\n"),
  "endless body": sendEndlessly(`${ok}\r\n`, "a"),
  "a body of ten gigabytes": sendEndlessly(`${ok}content-length: 10000000000\r\n\r\n`, "a"),
  "endless chunks of one byte": sendEndlessly(chunked, "1\r\na\r\n"),
  "endless extension of a chunk": sendEndlessly(`${chunked}5;`, "a"),
  "endless trailers": sendEndlessly(`${chunked}0\r\n`, "a: b\r\n"),
  "a gzip bomb": sendEndlessly(`${ok}content-encoding: gzip\r\n\r\n`, gzipBomb),
  "invalid chunks": send(`${chunked}zz\r\n`),
  garbage: send("\0\x01\x02 not HTTP at all\r\n\r\n"),
  "unrequested HTTP/2": send("\0\0\x12\x04\0\0\0\0\0"),
  "switches protocols": send("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
  "status 000": send("HTTP/1.1 000 Nothing\r\n\r\n"),
  "status 999": send("HTTP/1.1 999 Much\r\ncontent-length: 0\r\n\r\n"),
  "two lengths": send(`${ok}content-length: 3\r\ncontent-length: 4\r\n\r\nabc`),
  "a length and chunks": send(`${ok}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
  "two responses": send(`${ok}content-length: 0\r\n\r\n`.repeat(2)),
  "closes a keep-alive connection": (socket) => {
    socket.write(`${ok}content-length: 0\r\nkeep-alive: timeout=600\r\n\r\n`);
    setTimeout(() => socket.destroy(), 50);
  },
  redirects: send(`HTTP/1.1 307 There\r\nlocation: ${target}\r\ncontent-length: 0\r\n\r\n`),
  "redirects by other headers": send(`${ok}refresh: 0; url=${target}\r\nalt-svc: h2="${target}"\r\ncontent-length: 0\r\n\r\n`),
  "Retry-After of one year": send("HTTP/1.1 503 Later\r\nretry-after: 31536000\r\ncontent-length: 0\r\n\r\n"),
  fails: send("HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n"),
  "responds after 1.5 s": respondAfter(1_500),
  "responds after 2.9 s": respondAfter(2_900),
  "TLS: never responds": () => {},
  "TLS: responds with plain HTTP": send(`${ok}content-length: 0\r\n\r\n`),
  "TLS: resets": (socket) => socket.resetAndDestroy(),
});

/** Starts one server for each faulty behaviour. */
export async function startFaultyReceivers(target: string) {
  const sockets = new Set<Socket>();
  const servers = Object.entries(createBehaviours(target)).map(([name, handle]) => {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      socket.on("error", () => {});
      // Also handles further requests on a keep-alive connection.
      socket.on("data", () => handle(socket));
    });
    return { name, server };
  });
  const urls: { name: string; url: string }[] = [];
  for (const { name, server } of servers) {
    const scheme = name.startsWith("TLS") ? "https" : "http";
    urls.push({ name, url: `${scheme}://127.0.0.1:${await listen(server)}/` });
  }
  return {
    urls,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map(({ server }) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

/** Starts a server to which webhooks must not connect, and counts its connections. */
export async function startForbiddenServer() {
  let connections = 0;
  // Listens on all addresses, so that every spelling of the local address reaches it.
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  const port = await listen(server, "::");
  return {
    port,
    countConnections: () => connections,
    [Symbol.asyncDispose]: async () => void (await new Promise((resolve) => server.close(resolve))),
  };
}

async function listen(server: ReturnType<typeof createServer>, host = "127.0.0.1"): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return (server.address() as { port: number }).port;
}
