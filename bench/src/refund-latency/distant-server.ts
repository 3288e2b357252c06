import { readFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";
import { createServer as createTlsServer } from "node:tls";
import { createSelfSignedCertificate } from "@amana/dev-env/self-signed-certificate";
import { median } from "../table.ts";

/**
 * Starts a TLS proxy on loopback that makes the server at `target` as distant as one round trip of
 * `delayMs`. It delays the bytes of each direction by half of this time. The first bytes of a
 * connection wait for one more round trip, which simulates the TCP handshake. Writes the
 * certificate to `dir`.
 */
export async function startDistantServer(dir: string, target: URL, delayMs: number) {
  const { keyFile, certFile } = await createSelfSignedCertificate(dir);
  let handshakes = 0;
  let connections = 0;
  const delays: number[] = [];
  const tlsServer = createTlsServer({ key: await readFile(keyFile), cert: await readFile(certFile) }, (socket) => {
    handshakes++;
    pipeBoth(socket, connect(Number(target.port), target.hostname));
  });
  const tlsPort = await listen(tlsServer);
  const server = createServer((socket) => {
    connections++;
    const tls = connect(tlsPort, "127.0.0.1");
    pipeBoth(socket, tls, delayBytes(delays, delayMs / 2, delayMs), delayBytes(delays, delayMs / 2));
  });
  const port = await listen(server);
  return {
    url: `https://127.0.0.1:${port}${target.pathname}`,
    certificateFile: certFile,
    /** Returns the numbers of TCP connections and TLS handshakes since the start. */
    counts: () => ({ connections, handshakes }),
    /**
     * Returns the median round trip in milliseconds: twice the median delay of a chunk. It differs
     * from `delayMs`, because timers have a resolution of a millisecond.
     */
    roundTripMs: () => 2 * median(delays),
    [Symbol.dispose]() {
      server.close();
      tlsServer.close();
    },
  };
}

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** Forwards the bytes and the end of each socket to the other one. */
function pipeBoth(a: Socket, b: Socket, aToB?: Transform, bToA?: Transform): void {
  for (const [socket, other] of [
    [a, b],
    [b, a],
  ] as const) {
    socket.setNoDelay(true);
    // An ordinary end passes through the pipes, behind the delayed bytes.
    socket.on("error", () => other.destroy());
  }
  (aToB ? a.pipe(aToB) : a).pipe(b);
  (bToA ? b.pipe(bToA) : b).pipe(a);
}

/**
 * Delays each chunk, and appends its actual delay to `delays`. `firstMs` is an additional delay of
 * the first chunk.
 */
function delayBytes(delays: number[], delayMs: number, firstMs = 0): Transform {
  let earliest = firstMs === 0 ? 0 : performance.now() + firstMs;
  return new Transform({
    highWaterMark: 1024 * 1024,
    transform(chunk: Buffer, _encoding, callback) {
      const arrivedAt = Math.max(earliest, performance.now());
      earliest = arrivedAt;
      const send = () => {
        delays.push(performance.now() - arrivedAt);
        if (!this.destroyed) this.push(chunk);
      };
      setTimeout(send, arrivedAt + delayMs - performance.now());
      callback();
    },
    // The end stays behind the last chunk, although timers have a resolution of a millisecond.
    flush: (callback) => void setTimeout(callback, Math.max(0, earliest - performance.now()) + delayMs + 2),
  });
}
