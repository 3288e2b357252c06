import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import { createSelfSignedCertificate } from "@amana/dev-env/self-signed-certificate";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createConnections } from "./connections.ts";

let credentials: { cert: Buffer; key: Buffer };
const trustedCertificates = getCACertificates("default");
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "connections-"));
  const { keyFile, certFile } = await createSelfSignedCertificate(folder);
  credentials = { cert: await readFile(certFile), key: await readFile(keyFile) };
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
    url: `http${isSecure ? "s" : ""}://localhost:${port}`,
    connections,
    async [Symbol.asyncDispose]() {
      for (const socket of connections) socket.destroy();
      server.close();
    },
  };
}

const stack: Disposable[] = [];
// Stops the clock that measures the age of a response. Otherwise, a response could become too old
// on a busy machine.
beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => {
  vi.useRealTimers();
  for (const disposable of stack.splice(0)) disposable[Symbol.dispose]();
});

type PostOptions = Parameters<ReturnType<typeof createConnections>["post"]>[2];

/** Returns `post` for requests that may be repeated, and `postOnce` for all other requests. */
function aClient(url: string, connectTimeoutMs = 2_000) {
  const connections = createConnections(url, connectTimeoutMs);
  stack.push({ [Symbol.dispose]: connections.close });
  const post = (options: Partial<PostOptions> = {}, body = "amount=1") =>
    connections.post("refund.do", body, {
      signal: AbortSignal.timeout(5_000),
      onResponse: () => {},
      readBody: async (response) => {
        let text = "";
        for await (const chunk of response) text += chunk.toString();
        return text;
      },
      ...options,
    });
  const commit = async () => true;
  return { post, postOnce: (options?: Partial<PostOptions>, body?: string) => post({ commit, ...options }, body) };
}

const response = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n{"errorCode":0}';
const responded = { kind: "responded", statusCode: 200, text: '{"errorCode":0}' };

/** Serves a connection: writes a response for each request. */
const respond = (socket: Socket) => socket.on("error", () => {}).on("data", () => socket.write(response));

/** Starts a server that responds to each request. Records its connections and the received data. */
async function aRecordingServer(isSecure: boolean) {
  const [sockets, receivedData]: [Socket[], Buffer[]] = [[], []];
  const server = await aServer(isSecure, (socket) => {
    sockets.push(socket);
    respond(socket).on("data", (data: Buffer) => receivedData.push(data));
  });
  return { ...server, sockets, receivedData };
}

describe.each([false, true])("connections with TLS %s", (isSecure) => {
  test("`post` of createConnections sends one POST with its body and returns the response", async () => {
    const receivedData: string[] = [];
    await using server = await aServer(isSecure, (socket) =>
      respond(socket).on("data", (data: Buffer) => receivedData.push(data.toString())),
    );
    expect(await aClient(server.url).postOnce()).toEqual(responded);
    expect(receivedData.join("")).toMatch(
      /^POST \/refund\.do HTTP\/1\.1\r\n[\s\S]*content-length: 8\r\n[\s\S]*\r\n\r\namount=1$/,
    );
  });

  test("`post` of createConnections sends ten reads, each followed by a request with `commit`, on one connection", async () => {
    await using server = await aServer(isSecure, respond);
    const { post, postOnce } = aClient(server.url);
    for (let i = 0; i < 10; i++) {
      expect(await post()).toEqual(responded);
      expect(await postOnce()).toEqual(responded);
    }
    expect(server.connections).toHaveLength(1);
  });

  test("`post` of createConnections opens a new connection for a request with `commit` if the last response is more than a second old", async () => {
    await using server = await aServer(isSecure, respond);
    const { post, postOnce } = aClient(server.url);
    await post();
    vi.advanceTimersByTime(1_100);
    expect(await postOnce()).toEqual(responded);
    expect(server.connections).toHaveLength(2);
    expect(await post()).toEqual(responded);
    expect(server.connections).toHaveLength(2);
  });

  test.each([
    ["returns false", async () => false],
    ["throws", () => Promise.reject(new Error("database unavailable"))],
  ])("`post` of createConnections sends no byte when `commit` %s", async (_result, commit) => {
    await using server = await aRecordingServer(isSecure);
    const { receivedData } = server;
    const { post, postOnce } = aClient(server.url);
    expect(await postOnce({ commit })).toMatchObject({ kind: "not_sent" });
    await expect.poll(() => server.connections[0]?.destroyed).toBe(true);
    expect(receivedData).toEqual([]);
    await post();
    expect(await postOnce({ commit })).toMatchObject({ kind: "not_sent" });
    await expect.poll(() => server.connections[1]?.destroyed).toBe(true);
    expect(receivedData).toHaveLength(1);
  });

  test.each([
    ["the server ends the connection", (socket: Socket) => socket.end()],
    ["a response arrives", (socket: Socket) => socket.write(response)],
  ])("`post` of createConnections sends no byte when %s during `commit`", async (_event, disturb) => {
    await using server = await aRecordingServer(isSecure);
    const { sockets, receivedData } = server;
    const { post, postOnce } = aClient(server.url);
    await post();
    const commit = async () => {
      for (const socket of sockets) disturb(socket);
      await setTimeout(100);
      return true;
    };
    expect(await postOnce({ commit })).toMatchObject({ kind: "not_sent" });
    expect(receivedData).toHaveLength(1);
  });

  test("`post` of createConnections sends no byte when the connection fails in the same event-loop iteration in which `commit` resolves", async () => {
    await using server = await aRecordingServer(isSecure);
    const { sockets, receivedData } = server;
    const { post, postOnce } = aClient(server.url);
    for (const fail of [(socket: Socket) => socket.end(), (socket: Socket) => socket.destroy()]) {
      await post();
      receivedData.length = 0;
      const failed = Promise.withResolvers<boolean>();
      const onFailed = () => failed.resolve(true);
      subscribe("http.client.request.error", onFailed);
      const commit = () => {
        for (const socket of sockets) fail(socket);
        return failed.promise;
      };
      expect(await postOnce({ commit, signal: AbortSignal.timeout(1_000) })).toMatchObject({ kind: "not_sent" });
      unsubscribe("http.client.request.error", onFailed);
      expect(receivedData).toEqual([]);
    }
  });

  test("`post` of createConnections sends no byte when a part of a response arrives during `commit`", async () => {
    const sockets: Socket[] = [];
    let receivedCount = 0;
    await using server = await aServer(isSecure, (socket) => {
      sockets.push(socket.on("error", () => {}));
      socket.on("data", () => socket.write(++receivedCount === 1 ? response : response.slice(20)));
    });
    const { post, postOnce } = aClient(server.url);
    await post();
    const commit = async () => {
      sockets[0]?.write(response.slice(0, 20));
      await setTimeout(100);
      return true;
    };
    expect(await postOnce({ commit })).toMatchObject({ kind: "not_sent" });
    expect(receivedCount).toBe(1);
  });

  test("`post` of createConnections returns an unknown outcome when `signal` aborts after a response with status 101", async () => {
    const switching = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n";
    let stop = new AbortController();
    await using server = await aServer(isSecure, (socket) =>
      socket
        .on("error", () => {})
        .on("data", async () => {
          socket.write(switching);
          await setTimeout(100);
          stop.abort();
        }),
    );
    const { post, postOnce } = aClient(server.url);
    expect(await post({ signal: stop.signal })).toMatchObject({ kind: "unknown" });
    stop = new AbortController();
    expect(await postOnce({ signal: stop.signal })).toMatchObject({ kind: "unknown" });
  });

  test("`post` of createConnections sends a request with `commit` once if the server closes the kept-alive connection without a response", async () => {
    let receivedCount = 0;
    await using server = await aServer(isSecure, (socket) =>
      socket.on("error", () => {}).on("data", () => (++receivedCount === 1 ? socket.write(response) : socket.destroy())),
    );
    const { post, postOnce } = aClient(server.url);
    expect(await post()).toEqual(responded);
    expect(await postOnce()).toMatchObject({ kind: "unknown" });
    await setTimeout(100);
    expect(receivedCount).toBe(2);
    expect(server.connections).toHaveLength(1);
  });

  test("`post` of createConnections resets the connection and discards buffered bytes if the signal is aborted", async () => {
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
    const postResult = aClient(server.url).postOnce({ signal: abort.signal }, body);
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

test("`post` of createConnections does not call `commit` when the connection is refused", async () => {
  const server = await aServer(false, () => {});
  await server[Symbol.asyncDispose]();
  let commitCount = 0;
  const commit = async () => ++commitCount > 0;
  expect(await aClient(server.url).postOnce({ commit })).toMatchObject({ kind: "not_sent" });
  expect(commitCount).toBe(0);
});

test("`post` of createConnections does not call `commit` when the TLS handshake exceeds the connect timeout", async () => {
  await using server = await aServer(false, (socket) => socket.resume());
  let commitCount = 0;
  const commit = async () => ++commitCount > 0;
  const { postOnce } = aClient(server.url.replace("http:", "https:"), 200);
  expect(await postOnce({ commit })).toMatchObject({ kind: "not_sent" });
  await expect.poll(() => server.connections[0]?.destroyed).toBe(true);
  expect(commitCount).toBe(0);
});
