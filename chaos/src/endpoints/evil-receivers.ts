import { createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";

/** What an endpoint does once it has read a request, or for TLS a client's first words. */
type Behaviour = (socket: Socket) => void;

const ok = "HTTP/1.1 200 OK\r\n";
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;
/** Ten megabytes of zeros. */
const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024));

/** Begins with `first`, and then the same again as fast as it is taken. */
const endless =
  (first: string, again: string | Buffer): Behaviour =>
  (socket) => {
    const piece = Buffer.from(again.length < 60_000 ? again.toString().repeat(60_000 / again.length) : again);
    socket.write(first);
    const more = () => void (socket.destroyed || (socket.write(piece) ? setImmediate(more) : socket.once("drain", more)));
    more();
  };

/** One character of `text`, and then of `again` without end, each `everyMs`. */
const drip =
  (text: string, again: string, everyMs: number): Behaviour =>
  (socket) => {
    let sent = 0;
    const dripping = setInterval(() => {
      socket.write(text[sent] ?? again);
      sent++;
    }, everyMs);
    socket.once("close", () => clearInterval(dripping));
  };

const say =
  (text: string): Behaviour =>
  (socket) =>
    void socket.write(text);
const sayAndReset =
  (text: string): Behaviour =>
  (socket) =>
    void socket.write(text, () => socket.resetAndDestroy());
const answerAfter =
  (ms: number): Behaviour =>
  (socket) =>
    void setTimeout(() => socket.destroyed || socket.write(`${ok}content-length: 0\r\n\r\n`), ms);

/**
 * The ways in which an endpoint can misbehave, by name. Those that count as delivered, for a 2xx
 * came, are among them: what follows it is as evil. `target` is where redirects lead.
 */
const behaviours = (target: string): Record<string, Behaviour> => ({
  "never answers": () => {},
  "does not read": (socket) => socket.pause(),
  "closes at once": (socket) => socket.end(),
  "resets at once": (socket) => socket.resetAndDestroy(),
  "resets within the status line": sayAndReset("HTTP/1.1 2"),
  "resets within the headers": sayAndReset(`${ok}content-le`),
  "resets after a 200": sayAndReset(`${ok}content-length: 10\r\n\r\n12345`),
  "a header a second": drip(ok, "x: y\r\n", 1_000),
  "a byte of headers at a time": drip("HTTP/1.1 200 OK", "k", 200),
  "a byte of the body at a time": drip(`${ok}content-length: 1000\r\n\r\n`, "a", 20),
  "endless headers": endless(ok, "x-header: value\r\n"),
  "one endless header": endless(`${ok}x: `, "a"),
  "endless reason": endless("HTTP/1.1 200 ", "a"),
  "endless interim answers": endless("", "HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n"),
  "endless empty lines": endless("", "\r\n"),
  "endless body": endless(`${ok}\r\n`, "a"),
  "a body of ten gigabytes": endless(`${ok}content-length: 10000000000\r\n\r\n`, "a"),
  "endless chunks of one byte": endless(chunked, "1\r\na\r\n"),
  "endless extension of a chunk": endless(`${chunked}5;`, "a"),
  "endless trailers": endless(`${chunked}0\r\n`, "a: b\r\n"),
  "a gzip bomb": endless(`${ok}content-encoding: gzip\r\n\r\n`, bomb),
  "chunks that are none": say(`${chunked}zz\r\n`),
  garbage: say("\0\x01\x02 not HTTP at all\r\n\r\n"),
  "HTTP/2 unasked": say("\0\0\x12\x04\0\0\0\0\0"),
  "switches protocols": say("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
  "status 000": say("HTTP/1.1 000 Nothing\r\n\r\n"),
  "status 999": say("HTTP/1.1 999 Much\r\ncontent-length: 0\r\n\r\n"),
  "two lengths": say(`${ok}content-length: 3\r\ncontent-length: 4\r\n\r\nabc`),
  "a length and chunks": say(`${ok}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
  "two answers": say(`${ok}content-length: 0\r\n\r\n`.repeat(2)),
  "promises to be kept alive": (socket) => {
    socket.write(`${ok}content-length: 0\r\nkeep-alive: timeout=600\r\n\r\n`);
    setTimeout(() => socket.destroy(), 50);
  },
  redirects: say(`HTTP/1.1 307 There\r\nlocation: ${target}\r\ncontent-length: 0\r\n\r\n`),
  "redirects by a header of its own": say(
    `${ok}refresh: 0; url=${target}\r\nalt-svc: h2="${target}"\r\ncontent-length: 0\r\n\r\n`,
  ),
  "asks for a year": say("HTTP/1.1 503 Later\r\nretry-after: 31536000\r\ncontent-length: 0\r\n\r\n"),
  fails: say("HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n"),
  "answers after one and a half seconds": answerAfter(1_500),
  "answers after three seconds": answerAfter(2_900),
  "TLS: never answers": () => {},
  "TLS: speaks plainly": say(`${ok}content-length: 0\r\n\r\n`),
  "TLS: resets": (socket) => socket.resetAndDestroy(),
});

/** One server for each way of misbehaving. */
export async function startEvilReceivers(target: string) {
  const sockets = new Set<Socket>();
  const servers = Object.entries(behaviours(target)).map(([name, behave]) => {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      socket.on("error", () => {});
      // Kept alive or not, each request is met in the same way.
      socket.on("data", () => behave(socket));
    });
    return { name, server };
  });
  const urls: { name: string; url: string }[] = [];
  for (const { name, server } of servers) {
    const scheme = name.startsWith("TLS") ? "https" : "http";
    urls.push({ name, url: `${scheme}://127.0.0.1:${await listening(server)}/` });
  }
  return {
    urls,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map(({ server }) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

/** A server that nobody must connect to. */
export async function startForbidden() {
  let connections = 0;
  // On all addresses, so that each spelling of this machine leads to it.
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  const port = await listening(server, "::");
  return {
    port,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => void (await new Promise((resolve) => server.close(resolve))),
  };
}

async function listening(server: ReturnType<typeof createServer>, host = "127.0.0.1"): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return (server.address() as { port: number }).port;
}
