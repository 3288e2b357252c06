import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { Worker } from "node:worker_threads";
import { KeyLeaseService } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { HandOverService } from "@amana/contracts/messaging/v1/hand_over_service_pb";
import { createLogger, sleep } from "@amana/runtime";
import { afterEach, expect, test } from "vitest";
import { createRpcChannel, createRpcClient, createRpcServer, noCaller, type RpcServer, serve } from "./index.ts";

const path = "/messaging.v1.HandOverService/HandOverMessages";
let server: RpcServer;
let startedCalls = 0;
let onCallStart = () => {};
afterEach(() => server[Symbol.asyncDispose]());

/** Starts a server with short time limits. `respondAfterMs` is the duration of a call. */
async function startServer(connectionsMax = 100, respondAfterMs = 0, requestTimeoutMs = 600): Promise<RpcServer> {
  server = await createRpcServer({
    services: [
      serve(
        HandOverService,
        {
          async handOverMessages() {
            startedCalls++;
            onCallStart();
            await sleep(respondAfterMs);
            return {};
          },
        },
        { requiresCallerToken: false },
      ),
    ],
    host: "127.0.0.1",
    port: 0,
    audience: "test",
    callerKeys: [],
    limits: { headersTimeoutMs: 300, requestTimeoutMs, idleTimeoutMs: 1_500, connectionsMax },
    logger: createLogger("test", "silent"),
  });
  return server;
}

/**
 * Resolves when the connection has ended. The server resets a connection whose bytes it did not
 * read.
 */
const waitForClose = (socket: net.Socket) => new Promise((resolve) => socket.on("error", () => {}).once("close", resolve));

/** Sends `begin`, and then `piece` every 50 ms. Resolves when the server closes the connection. */
async function sendSlowly(begin: Buffer | string, piece: Buffer | string): Promise<void> {
  const socket = net.connect(server.port, "127.0.0.1");
  const timer = setInterval(() => socket.write(piece), 50);
  socket.write(begin);
  socket.resume();
  await waitForClose(socket);
  clearInterval(timer);
}

const post = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/proto\r\n`;
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const settingsFrame = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

test.each([
  ["first byte", "", ""],
  ["request head", `POST ${path} HTTP/1.1\r\nX: `, "x"],
  ["body", `${post}Content-Length: 100000\r\n\r\n`, "x"],
  ["chunked body", `${post}Transfer-Encoding: chunked\r\n\r\n`, "1\r\nx\r\n"],
  ["HTTP/2 preface", preface.slice(0, 10), ""],
  ["HTTP/2 request", Buffer.concat([Buffer.from(preface), settingsFrame]), ""],
])("the RPC server closes a connection on which no complete %s arrives within the time limit", async (_part, begin, piece) => {
  await startServer();
  await sendSlowly(begin, piece);
});

test("the RPC server ends an HTTP/2 request whose body does not arrive within the request timeout, and later closes the idle connection", async () => {
  await startServer();
  const session = http2.connect(server.url);
  const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
  stream.on("error", () => {});
  await once(stream, "close");
  expect(session.closed).toBe(false);
  await once(session, "close");
});

test("the RPC server keeps a connection open during a call that exceeds the request timeout, and between calls", async () => {
  await startServer(100, 1_000);
  await using channel = createRpcChannel({ urls: [server.url], audience: "test" });
  const client = createRpcClient(HandOverService, channel);
  await client.handOverMessages({}, { caller: noCaller });
  await sleep(1_000);
  await client.handOverMessages({}, { caller: noCaller });
});

test("the RPC server closes a connection when the caller does not read the response within the idle timeout", async () => {
  server = await createRpcServer({
    services: [
      serve(
        KeyLeaseService,
        { resolveBusiness: async () => ({}), resolveKeys: async () => ({ resolutions: [{ keyPrefix: "k".repeat(4_000_000) }] }) },
        { requiresCallerToken: false },
      ),
    ],
    host: "127.0.0.1",
    port: 0,
    audience: "test",
    callerKeys: [],
    limits: { idleTimeoutMs: 500 },
    logger: createLogger("test", "silent"),
  });
  const socket = net.connect(server.port, "127.0.0.1").pause();
  const closed = waitForClose(socket);
  const head = "POST /identity.v1.KeyLeaseService/ResolveKeys HTTP/1.1\r\nHost: a\r\nContent-Type: application/proto\r\n";
  socket.write(`${head}Content-Length: 0\r\n\r\n`.repeat(8));
  // A socket that does not read detects the close only when it writes. The server must close the
  // connection although it receives these bytes.
  const timer = setInterval(() => socket.write("\r\n"), 100);
  await closed;
  clearInterval(timer);
});

test("the RPC server closes a connection on which more than 32 pipelined requests wait for a response", async () => {
  await startServer(100, 60_000);
  const socket = net.connect(server.port, "127.0.0.1");
  const closed = waitForClose(socket);
  startedCalls = 0;
  socket.write(`${post}Content-Length: 0\r\n\r\n`.repeat(100));
  await closed;
  expect(startedCalls).toBeLessThanOrEqual(32);
});

test("the RPC server ends an HTTP/2 request whose body has more than 10 000 frames", async () => {
  await startServer(100, 0, 60_000);
  const createFrame = (type: number, flags: number, streamId: number, payload: Buffer) =>
    Buffer.concat([Buffer.of(0, payload.length >> 8, payload.length & 255, type, flags, 0, 0, 0, streamId), payload]);
  // HPACK: each header as a literal with a literal name (RFC 7541, section 6.2.2).
  const literal = (text: string) => Buffer.concat([Buffer.of(text.length), Buffer.from(text)]);
  const headers = { ":method": "POST", ":scheme": "http", ":authority": "a", ":path": path, "content-type": "application/grpc" };
  const block = Object.entries(headers).flatMap(([name, value]) => [Buffer.of(0), literal(name), literal(value)]);
  const socket = net.connect(server.port, "127.0.0.1");
  let received = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
  });
  socket.write(Buffer.concat([Buffer.from(preface), settingsFrame, createFrame(1, 4, 1, Buffer.concat(block))]));
  const enhanceYourCalm = createFrame(3, 0, 1, Buffer.of(0, 0, 0, http2.constants.NGHTTP2_ENHANCE_YOUR_CALM));
  socket.write(Buffer.concat(Array.from({ length: 10_000 }, () => createFrame(0, 0, 1, Buffer.of(65)))));
  await sleep(100);
  expect(received.includes(enhanceYourCalm)).toBe(false);
  socket.write(createFrame(0, 0, 1, Buffer.of(65)));
  while (!received.includes(enhanceYourCalm)) await once(socket, "data");
  socket.destroy();
});

test("the RPC server closes a new connection beyond the connection limit, and leaves earlier connections open", async () => {
  await startServer(2);
  const sockets = [1, 2].map(() => net.connect(server.port, "127.0.0.1"));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  const thirdSocket = net.connect(server.port, "127.0.0.1");
  thirdSocket.on("error", () => {});
  await once(thirdSocket, "close");
  expect(sockets.map(({ closed }) => closed)).toEqual([false, false]);
  for (const socket of sockets) socket.destroy();
});

test("the RPC server responds to a request that was sent while the stopping process was busy", async () => {
  const { port } = await startServer();
  const socket = net.connect(port, "127.0.0.1");
  const request = `${post}Content-Length: 0\r\n\r\n`;
  let responses = 0;
  socket.on("data", (chunk) => {
    responses += chunk.toString("latin1").split("HTTP/1.1 200").length - 1;
  });
  socket.write(request);
  await once(socket, "data");
  const stopped = server[Symbol.asyncDispose]();
  socket.write(request);
  const untilMs = performance.now() + 300;
  while (performance.now() < untilMs);
  await once(socket, "close");
  await stopped;
  expect(responses).toBe(2);
});

test("the RPC server responds to a request on a connection that was opened while the stopping process was busy", async () => {
  const { port } = await startServer();
  const request = `${post}Content-Length: 0\r\n\r\n`;
  const turn = new Int32Array(new SharedArrayBuffer(4));
  const code = `const { parentPort, workerData } = require("node:worker_threads");
    Atomics.wait(workerData.turn, 0, 0);
    const socket = require("node:net").connect(workerData.port, "127.0.0.1", () => socket.write(workerData.request, () => {
      Atomics.store(workerData.turn, 0, 2);
      Atomics.notify(workerData.turn, 0);
    }));
    socket.on("error", (error) => parentPort.postMessage(error.code));
    socket.once("data", (chunk) => parentPort.postMessage(chunk.toString().slice(0, 12)));`;
  const worker = new Worker(code, { eval: true, workerData: { port, request, turn } });
  await once(worker, "online");
  const outcome = once(worker, "message");
  const socket = net.connect(port, "127.0.0.1");
  socket.write(request);
  await once(socket.resume(), "data");
  // Blocks the process in this call until the worker has connected.
  onCallStart = () => {
    onCallStart = () => {};
    Atomics.store(turn, 0, 1);
    Atomics.notify(turn, 0);
    Atomics.wait(turn, 0, 1);
  };
  const stopped = server[Symbol.asyncDispose]();
  socket.write(request);
  const untilMs = performance.now() + 300;
  while (performance.now() < untilMs);
  expect(await outcome).toEqual(["HTTP/1.1 200"]);
  await worker.terminate();
  await stopped;
});

test("the RPC server responds to a request that arrived on an idle connection while the process was blocked", async () => {
  const { port } = await startServer();
  const socket = net.connect(port, "127.0.0.1");
  const request = `${post}Content-Length: 0\r\n\r\n`;
  socket.write(request);
  await once(socket, "data");
  socket.write(request);
  // Blocks the process for longer than the lifetime of an idle connection.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_500);
  const [chunk] = await once(socket, "data");
  expect(String(chunk)).toContain("HTTP/1.1 200");
  socket.destroy();
});

test("the RPC server, while it stops, responds to a call that arrives on an idle connection", async () => {
  await startServer();
  await using channel = createRpcChannel({ urls: [server.url], audience: "test" });
  const client = createRpcClient(HandOverService, channel);
  await client.handOverMessages({}, { caller: noCaller });
  startedCalls = 0;
  const stopped = server[Symbol.asyncDispose]();
  // Waits until the server has closed its port, which it does 100 ms after the stop begins.
  await sleep(500);
  await client.handOverMessages({}, { caller: noCaller });
  expect(startedCalls).toBe(1);
  await stopped;
});

test("an RPC client closes an idle connection earlier than the RPC server would", async () => {
  const { port } = await startServer();
  const ends: string[] = [];
  const proxy = net.createServer((socket) => {
    const upstream = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("data", (chunk) => upstream.write(chunk)).once("end", () => ends.push("client"));
    upstream.on("data", (chunk) => socket.write(chunk)).once("end", () => ends.push("server"));
    for (const side of [socket, upstream]) side.on("error", () => {}).once("close", () => socket.destroy() && upstream.destroy());
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(proxy.address() as net.AddressInfo).port}`;
  await using channel = createRpcChannel({ urls: [url], audience: "test" });
  await createRpcClient(HandOverService, channel).handOverMessages({}, { caller: noCaller });
  await new Promise((resolve) => proxy.close(resolve));
  expect(ends[0]).toBe("client");
});

test("the RPC server, while it stops, responds to a pipelined request that arrived before the response to the previous request", async () => {
  const { port } = await startServer(100, 400);
  const socket = net.connect(port, "127.0.0.1");
  const request = `${post}Content-Length: 0\r\n\r\n`;
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
  });
  const closed = once(socket, "close");
  startedCalls = 0;
  socket.write(request);
  await sleep(200);
  socket.write(request);
  // Waits for the first response. At this time, the server has not responded to the second request.
  await once(socket, "data");
  await server[Symbol.asyncDispose]();
  await closed;
  expect(startedCalls).toBe(2);
  expect(received.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200"]);
});
