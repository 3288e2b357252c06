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
const trustedCertificates = getCACertificates("default");
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
  setDefaultCACertificates([...trustedCertificates, credentials.cert.toString()]);
});
afterAll(() => setDefaultCACertificates(trustedCertificates));

/**
 * Starts a TCP or TLS server that calls `serve` for each connection. The server does not implement
 * HTTP.
 */
async function aServer(isSecure: boolean, serve: (socket: Socket) => void) {
  const server = isSecure ? createTlsServer(credentials, serve) : createServer(serve);
  const connections: Socket[] = [];
  server.on("connection", (socket: Socket) => connections.push(socket.on("error", () => {})));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http${isSecure ? "s" : ""}://localhost:${port}/refund.do`),
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

describe.each([false, true])("postOnce with TLS %s", (isSecure) => {
  test("postOnce returns the response and opens a new connection for each request", async () => {
    const receivedData: string[] = [];
    await using server = await aServer(isSecure, (socket) => {
      socket.on("error", () => {});
      socket.on("data", (data: Buffer) => {
        receivedData.push(data.toString());
        socket.write(response);
      });
    });
    for (let i = 0; i < 2; i++)
      expect(await post(server.url)).toEqual({ kind: "responded", statusCode: 200, text: '{"errorCode":0}' });
    expect(server.connections).toHaveLength(2);
    expect(receivedData.join("")).toMatch(/^POST \/refund\.do HTTP\/1\.1\r\n[\s\S]*content-length: 8\r\n[\s\S]*\r\n\r\namount=1/);
  });

  test.each([
    ["returns false", async () => false],
    ["throws", () => Promise.reject(new Error("database unavailable"))],
  ])("postOnce sends no byte when `commit` %s", async (_result, commit) => {
    const receivedData: Buffer[] = [];
    await using server = await aServer(isSecure, (socket) =>
      socket.on("error", () => {}).on("data", (data: Buffer) => receivedData.push(data)),
    );
    expect(await post(server.url, { commit })).toMatchObject({ kind: "not_sent" });
    await expect.poll(() => server.connections[0]?.destroyed).toBe(true);
    expect(receivedData).toEqual([]);
  });

  test("postOnce returns the kind `unknown` if the connection ends before a response", async () => {
    await using server = await aServer(isSecure, (socket) => socket.on("error", () => {}).on("data", () => socket.destroy()));
    expect(await post(server.url)).toMatchObject({ kind: "unknown" });
  });

  test("postOnce resets the connection and discards buffered bytes if its signal is aborted", async () => {
    const abort = new AbortController();
    const [connection, connectionEnd] = [Promise.withResolvers<Socket>(), Promise.withResolvers<string>()];
    let receivedBytes = 0;
    await using server = await aServer(isSecure, (socket) => {
      socket.on("error", (error: NodeJS.ErrnoException) => connectionEnd.resolve(error.code ?? ""));
      socket.on("end", () => connectionEnd.resolve("end"));
      connection.resolve(socket);
    });
    // The body is larger than the socket buffers of client and server. The server does not read.
    const body = "x".repeat(32 * 1024 * 1024);
    const postResult = post(server.url, { signal: abort.signal }, body);
    const socket = await connection.promise;
    await setTimeout(300);
    abort.abort();
    expect(await postResult).toMatchObject({ kind: "unknown" });
    socket.on("data", (data: Buffer) => {
      receivedBytes += data.length;
    });
    expect(await connectionEnd.promise).toBe("ECONNRESET");
    expect(receivedBytes).toBeLessThan(body.length);
  });
});

test("postOnce does not call `commit` when the connection is refused", async () => {
  const server = await aServer(false, () => {});
  await server[Symbol.asyncDispose]();
  let commitCount = 0;
  const commit = async () => ++commitCount > 0;
  expect(await post(server.url, { commit })).toMatchObject({ kind: "not_sent" });
  expect(commitCount).toBe(0);
});

test("postOnce does not call `commit` when the TLS handshake exceeds the connect timeout", async () => {
  await using server = await aServer(false, (socket) => socket.resume());
  const url = new URL(server.url.href.replace("http:", "https:"));
  let commitCount = 0;
  const commit = async () => ++commitCount > 0;
  expect(await post(url, { commit, connectTimeoutMs: 200 })).toMatchObject({ kind: "not_sent" });
  expect(commitCount).toBe(0);
});
