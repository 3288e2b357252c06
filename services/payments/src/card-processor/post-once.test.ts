import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postOnce } from "./post-once.ts";

let credentials: { cert: Buffer; key: Buffer };
const trusted = getCACertificates("default");
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "post-once-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  await promisify(execFile)("openssl", [
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-keyout",
    key,
    "-out",
    cert,
    ...subject,
  ]);
  credentials = { cert: await readFile(cert), key: await readFile(key) };
  await rm(folder, { recursive: true });
  setDefaultCACertificates([...trusted, credentials.cert.toString()]);
});
afterAll(() => setDefaultCACertificates(trusted));

/** Starts a server that calls `serve` for each connection, without an HTTP layer. */
async function aServer(secure: boolean, serve: (socket: Socket) => void) {
  const server = secure ? createTlsServer(credentials, serve) : createServer(serve);
  const connections: Socket[] = [];
  server.on("connection", (socket: Socket) => connections.push(socket.on("error", () => {})));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http${secure ? "s" : ""}://localhost:${port}/refund.do`),
    connections,
    async [Symbol.asyncDispose]() {
      for (const socket of connections) socket.destroy();
      server.close();
    },
  };
}

const post = (url: URL, options: Partial<Parameters<typeof postOnce>[2]> = {}, body = "amount=1") =>
  postOnce(url, body, {
    connectTimeoutMs: 2_000,
    signal: AbortSignal.timeout(5_000),
    commit: async () => true,
    onResponse: () => {},
    readBody: async (response) => {
      let text = "";
      for await (const chunk of response) text += chunk.toString();
      return text;
    },
    ...options,
  });

const response = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n{"errorCode":0}';

describe.each([false, true])("postOnce, over TLS: %s", (secure) => {
  test("returns the response and opens a new connection for each request", async () => {
    const received: string[] = [];
    await using server = await aServer(secure, (socket) => {
      socket.on("error", () => {});
      socket.on("data", (data: Buffer) => {
        received.push(data.toString());
        socket.write(response);
      });
    });
    for (let i = 0; i < 2; i++)
      expect(await post(server.url)).toEqual({ kind: "responded", statusCode: 200, text: '{"errorCode":0}' });
    expect(server.connections).toHaveLength(2);
    expect(received.join("")).toMatch(/^POST \/refund\.do HTTP\/1\.1\r\n[\s\S]*content-length: 8\r\n[\s\S]*\r\n\r\namount=1/);
  });

  test.each([
    ["returns false", async () => false],
    ["throws", () => Promise.reject(new Error("the database is unreachable"))],
  ])("sends no byte when commit %s", async (_result, commit) => {
    const received: Buffer[] = [];
    await using server = await aServer(secure, (socket) =>
      socket.on("error", () => {}).on("data", (data: Buffer) => received.push(data)),
    );
    expect(await post(server.url, { commit })).toMatchObject({ kind: "not_sent" });
    await expect.poll(() => server.connections[0]?.destroyed).toBe(true);
    expect(received).toEqual([]);
  });

  test("returns unknown when the connection ends without a response", async () => {
    await using server = await aServer(secure, (socket) => socket.on("error", () => {}).on("data", () => socket.destroy()));
    expect(await post(server.url)).toMatchObject({ kind: "unknown" });
  });

  test("resets the connection on abort, so that unsent bytes are never sent", async () => {
    const abort = new AbortController();
    const [connected, ended] = [Promise.withResolvers<Socket>(), Promise.withResolvers<string>()];
    let bytes = 0;
    await using server = await aServer(secure, (socket) => {
      socket.on("error", (error: NodeJS.ErrnoException) => ended.resolve(error.code ?? ""));
      socket.on("end", () => ended.resolve("end"));
      connected.resolve(socket);
    });
    // More bytes than the kernels of both sides buffer while the server does not read.
    const body = "x".repeat(32 * 1024 * 1024);
    const posting = post(server.url, { signal: abort.signal }, body);
    const socket = await connected.promise;
    await setTimeout(300);
    abort.abort();
    expect(await posting).toMatchObject({ kind: "unknown" });
    socket.on("data", (data: Buffer) => {
      bytes += data.length;
    });
    expect(await ended.promise).toBe("ECONNRESET");
    expect(bytes).toBeLessThan(body.length);
  });
});

test("postOnce does not call commit when the connection is refused", async () => {
  const server = await aServer(false, () => {});
  await server[Symbol.asyncDispose]();
  let commits = 0;
  const commit = async () => ++commits > 0;
  expect(await post(server.url, { commit })).toMatchObject({ kind: "not_sent" });
  expect(commits).toBe(0);
});

test("postOnce does not call commit when the TLS handshake exceeds the connect timeout", async () => {
  await using server = await aServer(false, (socket) => socket.resume());
  const url = new URL(server.url.href.replace("http:", "https:"));
  let commits = 0;
  const commit = async () => ++commits > 0;
  expect(await post(url, { commit, connectTimeoutMs: 200 })).toMatchObject({ kind: "not_sent" });
  expect(commits).toBe(0);
});
