import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { eventually } from "@amana/testing";
import { afterEach, expect, test } from "vitest";
import { startReceiver } from "../../test/harness.ts";
import { selfSigned } from "../../test/self-signed.ts";
import { ConcurrencyLimits } from "../delivery/concurrency-limits.ts";
import { AddressNotPublic, createAddressGuard } from "./address-guard.ts";
import { createHttpClient, describeFailure, type HttpClient } from "./http-client.ts";
import { type Resolve, ResponseTooLarge } from "./resolve-name.ts";

const stack: AsyncDisposable[] = [];
afterEach(async () => {
  for (const disposable of stack.splice(0).reverse()) await disposable[Symbol.asyncDispose]();
});

function aClient(options: { timeoutMs?: number; allowInsecure?: boolean; resolve?: Resolve; slots?: number } = {}): HttpClient {
  const { timeoutMs = 10_000, allowInsecure = true, resolve, slots = 64 } = options;
  const limits = new ConcurrencyLimits({ total: slots, perBusiness: slots, perEndpoint: slots });
  const addresses = createAddressGuard({ allowInsecure, ...(resolve ? { resolve } : {}) });
  const client = createHttpClient({ addresses, timeoutMs, limits });
  stack.push(client);
  return client;
}

/**
 * Starts a TCP server. The server calls `respond`, which can write any bytes, when a request
 * arrives.
 */
async function startRawServer(respond: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const closed: Promise<void>[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    closed.push(new Promise((resolve) => socket.once("close", () => resolve())));
    socket.on("error", () => {});
    socket.on("data", () => respond(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stack.push({
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  const { port } = server.address() as AddressInfo;
  return { url: new URL(`http://127.0.0.1:${port}/hook`), port, sockets, closed };
}

const sender = { businessId: "business", slotWaitMs: 1_000 };
const body = Buffer.from("{}");
const addressForbidden = { code: "ADDRESS_FORBIDDEN", detail: "the address is not public" };
const timedOut = { code: "TIMEOUT", detail: "timed out after 0.1 s" };
const head = "HTTP/1.1 200 OK\r\n";
const okBody = "content-length: 2\r\n\r\nok";

test("the webhook HTTP client returns the status and the first KiB of the response body", async () => {
  await using receiver = await startReceiver((response) => response.writeHead(202).end("a".repeat(5_000)));
  const outcome = await aClient().post(sender, new URL(receiver.url), { "x-test": "1" }, body);
  expect(outcome).toMatchObject({ statusCode: 202, failure: undefined, response: "a".repeat(1_024) });
  expect(receiver.requests[0]).toMatchObject({ method: "POST", path: "/hook", body });
  expect(receiver.requests[0]?.headers["x-test"]).toBe("1");
});

test("the webhook HTTP client does not follow a redirect", async () => {
  await using target = await startReceiver();
  await using receiver = await startReceiver((response) => response.writeHead(307, { location: target.url }).end());
  expect((await aClient().post(sender, new URL(receiver.url), {}, body))?.statusCode).toBe(307);
  expect(target.requests).toHaveLength(0);
});

test("the webhook HTTP client returns TIMEOUT when the server does not respond", async () => {
  const server = await startRawServer(() => {});
  const outcome = await aClient({ timeoutMs: 100 }).post(sender, server.url, {}, body);
  expect(outcome).toMatchObject({ statusCode: undefined, failure: timedOut, response: undefined });
  await Promise.all(server.closed);
});

test("the webhook HTTP client returns TIMEOUT when the server sends an endless header one byte at a time", async () => {
  const server = await startRawServer((socket) => {
    const timer = setInterval(() => socket.write("H"), 5);
    socket.once("close", () => clearInterval(timer));
    socket.write(`${head}x: `);
  });
  expect(await aClient({ timeoutMs: 100 }).post(sender, server.url, {}, body)).toMatchObject({ failure: timedOut });
  await Promise.all(server.closed);
});

test("the webhook HTTP client returns status 200 when the connection is reset after the headers", async () => {
  const server = await startRawServer((socket) => {
    socket.write(`${head}content-length: 100\r\n\r\npartial`, () => void setImmediate().then(() => socket.resetAndDestroy()));
  });
  expect(await aClient().post(sender, server.url, {}, body)).toMatchObject({ statusCode: 200, failure: undefined });
});

test("the webhook HTTP client returns status 200 with the received part of a body that never completes", async () => {
  const server = await startRawServer((socket) => socket.write(`${head}content-length: 100\r\n\r\npartial`));
  const outcome = await aClient({ timeoutMs: 300 }).post(sender, server.url, {}, body);
  expect(outcome).toMatchObject({ statusCode: 200, failure: undefined, response: "partial" });
  await Promise.all(server.closed);
});

test("the webhook HTTP client closes the connection if the response body is endless", async () => {
  let written = 0;
  const server = await startRawServer((socket) => {
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n`);
    const writeChunks = () => {
      while (!socket.destroyed && written++ < 1e6)
        if (!socket.write(`400\r\n${"z".repeat(1_024)}\r\n`)) return socket.once("drain", writeChunks);
    };
    writeChunks();
  });
  expect(await aClient().post(sender, server.url, {}, body)).toMatchObject({ statusCode: 200, response: "z".repeat(1_024) });
  await Promise.all(server.closed);
  // The server can only write until the buffers of both sockets are full.
  expect(written).toBeLessThan(20_000);
});

test("the webhook HTTP client does not decompress a gzip response body", async () => {
  await using receiver = await startReceiver((response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("x".repeat(100_000)));
  });
  const outcome = await aClient().post(sender, new URL(receiver.url), {}, body);
  expect(outcome?.statusCode).toBe(200);
  expect(outcome?.response).not.toContain("xxxx");
});

test("the webhook HTTP client replaces control characters of a response body, and returns at most 1 KiB of UTF-8", async () => {
  await using receiver = await startReceiver((response) => response.end(`\t\r\n${"\x01".repeat(2_000)}`));
  const outcome = await aClient().post(sender, new URL(receiver.url), {}, body);
  expect(outcome?.response).toBe(`\t\r\n${"\uFFFD".repeat(340)}`);
});

test("the webhook HTTP client replaces NUL and invalid bytes of a response body, and omits an incomplete last character", async () => {
  await using receiver = await startReceiver((response) => response.end(Buffer.from([0x61, 0, 0xff, 0x62, 0xc3])));
  expect((await aClient().post(sender, new URL(receiver.url), {}, body))?.response).toBe("a\uFFFD\uFFFDb");
});

test.each([
  ["the response is not valid HTTP", "SSH-2.0-OpenSSH\r\n"],
  ["the response is not valid HTTP", `${head}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\nhello`],
  ["the response is too long", `${head}x: ${"y".repeat(400_000)}\r\n\r\n`],
])("the webhook HTTP client returns INVALID_RESPONSE with the detail: %s", async (detail, bytes) => {
  const server = await startRawServer((socket) => socket.end(bytes));
  expect(await aClient().post(sender, server.url, {}, body)).toMatchObject({
    statusCode: undefined,
    failure: { code: "INVALID_RESPONSE", detail },
  });
});

test("the webhook HTTP client returns CONNECTION_RESET for a closed connection and CONNECTION_REFUSED for a refused connection", async () => {
  const server = await startRawServer((socket) => socket.destroy());
  expect(await aClient().post(sender, server.url, {}, body)).toMatchObject({
    failure: { code: "CONNECTION_RESET", detail: "the connection was closed before a response" },
    hasConnected: true,
  });
  await stack.pop()?.[Symbol.asyncDispose]();
  await stack.pop()?.[Symbol.asyncDispose]();
  expect(await aClient().post(sender, server.url, {}, body)).toMatchObject({
    failure: { code: "CONNECTION_REFUSED", detail: "the connection was refused" },
    hasConnected: false,
  });
});

test("the webhook HTTP client returns TLS_ERROR for a self-signed certificate, without sending the request", async () => {
  const requests: string[] = [];
  const server = createTlsServer(selfSigned, (request, response) => {
    requests.push(request.url ?? "");
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stack.push({ [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())) });
  const { port } = server.address() as AddressInfo;
  expect(await aClient().post(sender, new URL(`https://127.0.0.1:${port}/`), {}, body)).toMatchObject({
    statusCode: undefined,
    failure: {
      code: "TLS_ERROR",
      detail: "the TLS certificate or connection was rejected (DEPTH_ZERO_SELF_SIGNED_CERT)",
    },
    hasConnected: false,
  });
  expect(requests).toEqual([]);
});

test.each(["http://127.0.0.1", "http://[::1]", "http://2130706433", "http://localhost", "https://127.0.0.1"])(
  "the webhook HTTP client does not connect to %s when only public addresses are allowed",
  async (origin) => {
    const server = await startRawServer(() => {});
    const outcome = await aClient({ allowInsecure: false }).post(sender, new URL(`${origin}:${server.port}/`), {}, body);
    expect(outcome).toMatchObject({ statusCode: undefined, failure: addressForbidden });
    expect(server.sockets.size).toBe(0);
  },
);

test("the webhook HTTP client resolves a host name for each new connection, and sends nothing if an address is not public", async () => {
  await using receiver = await startReceiver((response) => response.writeHead(200, { connection: "close" }).end());
  let addresses = ["127.0.0.1"];
  const resolve: Resolve = async () => addresses.map((address) => ({ address, family: 4 }));
  const client = aClient({ resolve });
  const url = new URL(`http://rebinding.example:${receiver.port}/`);
  expect(await client.post(sender, url, {}, body)).toMatchObject({ statusCode: 200 });
  expect(receiver.requests[0]?.headers.host).toBe(`rebinding.example:${receiver.port}`);
  addresses = ["127.0.0.1", "10.0.0.1"];
  expect(await client.post(sender, url, {}, body)).toMatchObject({ failure: addressForbidden });
  expect(receiver.requests).toHaveLength(1);
});

test("the webhook HTTP client returns DNS_ERROR for a host name that does not resolve", async () => {
  const resolve: Resolve = () => Promise.reject(Object.assign(new Error("simulated failure"), { code: "ENOTFOUND" }));
  expect(await aClient({ resolve }).post(sender, new URL("http://nowhere.example/"), {}, body)).toMatchObject({
    failure: { code: "DNS_ERROR", detail: "the host name does not resolve" },
  });
});

test("the webhook HTTP client connects at most 16 times at once for a business and 12 times for a host, and meanwhile sends another business's request", async () => {
  const hangingServers = [await startRawServer(() => {}), await startRawServer(() => {}), await startRawServer(() => {})];
  await using receiver = await startReceiver();
  const client = aClient({ timeoutMs: 60_000 });
  const outcomes: unknown[] = [];
  // The servers never respond to the ClientHello of the TLS handshake.
  for (const { port } of hangingServers) {
    for (let i = 0; i < 15; i++)
      void client
        .post({ businessId: "a", slotWaitMs: 1_000 }, new URL(`https://127.0.0.1:${port}/`), {}, body)
        .then((outcome) => outcomes.push(outcome));
  }
  const connectionCounts = () => hangingServers.map(({ sockets }) => sockets.size);
  const total = () => connectionCounts().reduce((sum, count) => sum + count, 0);
  await eventually(() => expect(total()).toBe(16));
  expect(await client.post({ businessId: "b", slotWaitMs: 1_000 }, new URL(receiver.url), {}, body)).toMatchObject({
    statusCode: 200,
  });
  // The other 29 requests get no slot within a second.
  await eventually(() => expect(outcomes).toEqual(Array(29).fill(undefined)));
  expect(total()).toBe(16);
  expect(Math.max(...connectionCounts())).toBe(12);
  client.abortAll();
  await eventually(() => expect(outcomes).toHaveLength(45));
});

test("the webhook HTTP client does not count a request with a ready connection as connecting", async () => {
  const server = await startRawServer(() => {});
  const client = aClient();
  const posting = Array.from({ length: 20 }, () => client.post(sender, server.url, {}, body));
  await eventually(() => expect(server.sockets.size).toBe(20));
  client.abortAll();
  expect(await Promise.all(posting)).toEqual(Array(20).fill(undefined));
});

test("the webhook HTTP client returns undefined for current and future requests after `abortAll`", async () => {
  const server = await startRawServer(() => {});
  const client = aClient();
  const posting = client.post(sender, server.url, {}, body);
  client.abortAll();
  expect(await posting).toBeUndefined();
  expect(await client.post(sender, server.url, {}, body)).toBeUndefined();
});

test.each([
  ["interim responses", "", `HTTP/1.1 103 Early Hints\r\n\r\n`],
  ["empty lines", "", "\r\n"],
  ["characters in the reason phrase", "HTTP/1.1 200 ", "a"],
  ["headers", head, "x-header: value\r\n"],
])("the webhook HTTP client returns INVALID_RESPONSE if a response has endless %s", async (_part, first, repeated) => {
  const flood = repeated.repeat(50_000 / repeated.length);
  const server = await startRawServer((socket) => {
    socket.write(first);
    const properties = () =>
      void (socket.destroyed || (socket.write(flood) ? setImmediate().then(properties) : socket.once("drain", properties)));
    properties();
  });
  const outcome = await aClient().post(sender, server.url, {}, body);
  expect(outcome).toMatchObject({
    statusCode: undefined,
    failure: { code: "INVALID_RESPONSE", detail: "the response is too long" },
  });
});

test("the webhook HTTP client uses at most two connections for 60 consecutive requests with responses of 15 kB", async () => {
  const ports = new Set<number | undefined>();
  await using receiver = await startReceiver((response) => {
    ports.add(response.socket?.remotePort);
    response.end("a".repeat(15_000));
  });
  const client = aClient();
  for (let i = 0; i < 60; i++) {
    expect(await client.post(sender, new URL(receiver.url), {}, body)).toMatchObject({ statusCode: 200 });
  }
  // The next request may start before the client has marked the connection as free.
  expect(ports.size).toBeLessThan(3);
});

test("the webhook HTTP client sends keep-alive in each request of a business to 40 receivers", async () => {
  const receivers = await Promise.all(Array.from({ length: 40 }, () => startReceiver()));
  stack.push(...receivers);
  const client = aClient({ slots: 40 });
  for (let i = 0; i < 2; i++) {
    const outcomes = await Promise.all(receivers.map(({ url }) => client.post(sender, new URL(url), {}, body)));
    expect(outcomes.map((outcome) => outcome?.statusCode)).toEqual(Array(40).fill(200));
  }
  const headers = receivers.flatMap(({ requests }) => requests.map(({ headers }) => headers["connection"]));
  expect(headers).toEqual(Array(80).fill("keep-alive"));
});

test("the webhook HTTP client closes an idle connection after four seconds, even if the receiver offers to keep it open for ten minutes", async () => {
  const server = await startRawServer((socket) => socket.write(`${head}keep-alive: timeout=600\r\n${okBody}`));
  expect(await aClient().post(sender, server.url, {}, body)).toMatchObject({ statusCode: 200 });
  await Promise.all(server.closed);
}, 40_000);

test("the webhook HTTP client connects to an IPv4 address after a lost SYN packet, even if the name also has an IPv6 address that refuses connections", async () => {
  // The kernel drops the first SYN packet, because the stopped server's queue of connections is
  // full.
  const program = `require("net").createServer((socket) => socket.end("HTTP/1.1 200 OK\\r\\n${okBody.replaceAll("\r\n", "\\r\\n")}"))
    .listen({ host: "127.0.0.1", port: 0, backlog: 1 }, function () { console.log(this.address().port) })`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  stack.push({ [Symbol.asyncDispose]: async () => void child.kill("SIGKILL") });
  const port = Number(String((await once(child.stdout, "data"))[0]));
  child.kill("SIGSTOP");
  const waiting = Array.from({ length: 4 }, () => connect({ host: "127.0.0.1", port }).on("error", () => {}));
  stack.push({ [Symbol.asyncDispose]: async () => void waiting.map((socket) => socket.destroy()) });
  await Promise.all(waiting.slice(0, 2).map((socket) => once(socket, "connect")));
  const resolve: Resolve = async () => [
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ];
  const response = aClient({ resolve }).post(sender, new URL(`http://shop.test:${port}/`), {}, body);
  await setTimeout(800);
  child.kill("SIGCONT");
  expect(await response).toMatchObject({ statusCode: 200, failure: undefined });
});

const tooLong = { code: "INVALID_RESPONSE", detail: "the response is too long" };

test.each([
  // The status line, the header content-length and the empty line are header lines too.
  ["256 header lines", `${head}${"a:\r\n".repeat(253)}${okBody}`],
  ["a header section of 16 KiB", `${head}a: ${"y".repeat(16_384 - head.length - 5 - (okBody.length - 2))}\r\n${okBody}`],
  ["100 interim responses", `${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100)}${head}${okBody}`],
])("the webhook HTTP client accepts a response with %s, and reuses the connection", async (_size, bytes) => {
  const server = await startRawServer((socket) => socket.write(bytes));
  const client = aClient();
  for (let i = 0; i < 10; i++) {
    expect(await client.post(sender, server.url, {}, body)).toMatchObject({ statusCode: 200, response: "ok" });
  }
  // The next request may start before the client has marked the connection as free.
  expect(server.sockets.size).toBeLessThan(3);
});

test.each([
  ["257 header lines", `${head}${"a:\r\n".repeat(254)}${okBody}`],
  [
    "a header section of 16 KiB and 1 byte",
    `${head}a: ${"y".repeat(16_385 - head.length - 5 - (okBody.length - 2))}\r\n${okBody}`,
  ],
  ["130 interim responses", `${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(130)}${head}${okBody}`],
])("the webhook HTTP client returns INVALID_RESPONSE for a response with %s", async (_size, bytes) => {
  const server = await startRawServer((socket) => socket.write(bytes));
  expect(await aClient().post(sender, server.url, {}, body)).toMatchObject({ statusCode: undefined, failure: tooLong });
  await Promise.all(server.closed);
});

test("the webhook HTTP client counts header lines of a response that arrives one byte at a time", async () => {
  const sendBytes = async (socket: Socket, bytes: string) => {
    for (const byte of bytes) {
      if (socket.destroyed) return;
      socket.write(byte);
      await setImmediate();
    }
  };
  let headerLines = 250;
  const server = await startRawServer((socket) => {
    socket.setNoDelay(true);
    void sendBytes(socket, `${head}${"a:\r\n".repeat(headerLines)}${okBody}`);
  });
  const client = aClient();
  expect(await client.post(sender, server.url, {}, body)).toMatchObject({ statusCode: 200, response: "ok" });
  headerLines = 260;
  expect(await client.post(sender, server.url, {}, body)).toMatchObject({ statusCode: undefined, failure: tooLong });
});

test("the webhook HTTP client returns status 200 and the first KiB of a body of 100 kB that arrives with the headers", async () => {
  const text = Array.from({ length: 20_000 }, (_, i) => `${i % 10}\r\n\r\n`).join("");
  const server = await startRawServer((socket) => socket.write(`${head}content-length: ${text.length}\r\n\r\n${text}`));
  const outcome = await aClient().post(sender, server.url, {}, body);
  expect(outcome).toMatchObject({ statusCode: 200, failure: undefined, response: text.slice(0, 1_024) });
});

test("the webhook HTTP client returns status 200 for a response with 30000 trailers, and closes its connection before the last trailer", async () => {
  const trailers = "a:\r\n".repeat(30_000);
  const server = await startRawServer((socket) =>
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n${trailers}\r\n`),
  );
  const client = aClient();
  for (let i = 0; i < 2; i++) {
    expect(await client.post(sender, server.url, {}, body)).toMatchObject({ statusCode: 200, response: "ok" });
    await setImmediate();
  }
  expect(server.sockets.size).toBe(2);
});

const fault = (code: string) => Object.assign(new Error("simulated failure"), { code });

test.each([
  ["TIMEOUT", fault("ETIMEDOUT")],
  ["TIMEOUT", fault("UND_ERR_CONNECT_TIMEOUT")],
  ["DNS_ERROR", fault("EAI_AGAIN")],
  ["DNS_ERROR", new ResponseTooLarge()],
  ["CONNECTION_REFUSED", fault("ECONNREFUSED")],
  ["CONNECTION_REFUSED", fault("ENETUNREACH")],
  ["CONNECTION_RESET", fault("EPIPE")],
  ["TLS_ERROR", fault("CERT_HAS_EXPIRED")],
  ["TLS_ERROR", fault("ERR_TLS_CERT_ALTNAME_INVALID")],
  ["ADDRESS_FORBIDDEN", new AddressNotPublic()],
  ["CONNECTION_RESET", fault("ESOMETHING")],
])("describeFailure returns the failure code %s for the error %s", (code, error) => {
  expect(describeFailure(error).code).toBe(code);
});
