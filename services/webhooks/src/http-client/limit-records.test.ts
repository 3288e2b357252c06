import { once } from "node:events";
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { createServer, getCACertificates, setDefaultCACertificates, type TLSSocket, type TlsOptions } from "node:tls";
import { eventually } from "@amana/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { selfSigned } from "../../test/self-signed.ts";
import { ConcurrencyLimits } from "../delivery/concurrency-limits.ts";
import { createAddressGuard } from "./address-guard.ts";
import { createHttpClient } from "./http-client.ts";
import { LimitedRecords, TlsLimitExceeded } from "./limit-records.ts";

const stack: AsyncDisposable[] = [];
const trusted = getCACertificates();
beforeEach(() => setDefaultCACertificates([...trusted, selfSigned.cert]));
afterEach(async () => {
  setDefaultCACertificates(trusted);
  for (const disposable of stack.splice(0).reverse()) await disposable[Symbol.asyncDispose]();
});

const sender = { businessId: "business", slotWaitMs: 1_000 };
const body = Buffer.from("{}");
const tooManyRecords = { code: "TLS_ERROR", detail: "the certificates or TLS records are not supported or exceed a limit" };

/** Creates a client. `connecting` contains its slots for connecting. */
function startClient(timeoutMs = 10_000) {
  const limits = new ConcurrencyLimits({ total: 64, perBusiness: 64, perEndpoint: 64 });
  const client = createHttpClient({ addresses: createAddressGuard({ allowInsecure: true }), timeoutMs, limits });
  stack.push(client);
  return { client, connecting: limits.connecting };
}

const urlOf = (server: Server) => new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`);

/**
 * Starts a TLS server that calls `respond` for each request, and a client. `post` sends a request.
 */
async function start(respond: (socket: TLSSocket) => void, options: TlsOptions = {}) {
  const sockets: TLSSocket[] = [];
  const server = createServer({ ...selfSigned, ...options }, (socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", () => respond(socket));
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stack.push({
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  const { client, connecting } = startClient();
  const url = urlOf(server);
  return { sockets, connecting, post: () => client.post(sender, url, {}, body) };
}

/** Sends a text with one TLS record for each character. */
async function sendRecords(socket: TLSSocket, text: string): Promise<void> {
  for (const character of text) {
    if (socket.destroyed) return;
    await new Promise<void>((resolve) => void socket.write(character, () => resolve()));
  }
}

test("the webhook HTTP client returns statuses and bodies over one TLS connection", async () => {
  const text = "x".repeat(16_000);
  const { sockets, post } = await start((socket) =>
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`),
  );
  for (let i = 0; i < 100; i++) {
    expect(await post()).toMatchObject({ statusCode: 200, response: text.slice(0, 1024), hasConnected: true });
  }
  expect(sockets.length).toBeLessThan(3);
});

test("the webhook HTTP client returns TLS_ERROR and closes the connection when a header section has more than 64 TLS records", async () => {
  const { sockets, post } = await start((socket) => void sendRecords(socket, `HTTP/1.1 200 OK\r\nx: ${"x".repeat(100)}\r\n\r\n`));
  expect(await post()).toMatchObject({ statusCode: undefined, failure: tooManyRecords, hasConnected: true });
  await eventually(() => expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]));
});

test("the webhook HTTP client returns the status when a body has more than 64 TLS records", async () => {
  const { post } = await start((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
    void sendRecords(socket, "x".repeat(1_000));
  });
  expect(await post()).toMatchObject({ statusCode: 200, failure: undefined });
});

/** A TLS record of application data with one byte. */
const record = Buffer.from([23, 3, 3, 0, 1, 120]);

/** A TLS record with one byte of a handshake message. */
const handshakeRecord = Buffer.from([22, 3, 3, 0, 1, 120]);

/** The records of a server before the first encrypted record of TLS 1.2. */
const helloOfTls12 = Buffer.concat([
  Buffer.from([22, 3, 3, 0, 44, 2, 0, 0, 40]),
  Buffer.alloc(40),
  Buffer.from([20, 3, 3, 0, 1, 1]),
]);

/** Connects to a TCP server through LimitedRecords. Returns both ends of the connection. */
async function connectLimited(): Promise<{ limited: LimitedRecords; server: Socket; countReceived: () => number }> {
  const listener = createTcpServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const limited = new LimitedRecords(connect((listener.address() as AddressInfo).port, "127.0.0.1"));
  const [server] = (await once(listener, "connection")) as [Socket];
  server.on("error", () => {});
  let received = 0;
  limited.on("data", (chunk: Buffer) => {
    received += chunk.length;
  });
  stack.push({
    async [Symbol.asyncDispose]() {
      limited.destroy();
      server.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  });
  return { limited, server, countReceived: () => received };
}

test.each([
  ["in one chunk", 1_000],
  ["one byte at a time", 1],
])("LimitedRecords passes on 64 TLS records that arrive %s, and closes the connection when more arrive", async (_, size) => {
  const { limited, server, countReceived } = await connectLimited();
  const ended = once(limited, "error");
  const bytes = Buffer.concat(Array.from({ length: 100 }, () => handshakeRecord));
  for (let at = 0; at < bytes.length && !server.destroyed; at += size) {
    server.write(bytes.subarray(at, at + size));
    await setImmediate();
  }
  const [error] = await ended;
  expect(error).toBeInstanceOf(TlsLimitExceeded);
  expect(countReceived()).toBe(64 * handshakeRecord.length);
});

test.each([
  ["64 TLS records", Buffer.concat(Array.from({ length: 64 }, () => record))],
  ["36 KiB", Buffer.concat([Buffer.from([23, 3, 3, 0x8f, 0xfb]), Buffer.alloc(36 * 1024 - 5)])],
])(
  "LimitedRecords passes on %s after each write to the TLS socket, and closes the connection when more arrive",
  async (_, response) => {
    const { limited, server, countReceived } = await connectLimited();
    server.write(helloOfTls12);
    await eventually(() => expect(countReceived()).toBe(helloOfTls12.length));
    const tlsSocket = { bytesWritten: 0 };
    limited.endHandshake(tlsSocket);
    for (let i = 1; i <= 5; i++) {
      tlsSocket.bytesWritten++;
      server.write(response);
      await eventually(() => expect(countReceived()).toBe(helloOfTls12.length + i * response.length));
    }
    const ended = once(limited, "error");
    server.write(record);
    expect((await ended)[0]).toBeInstanceOf(TlsLimitExceeded);
    expect(countReceived()).toBe(helloOfTls12.length + 5 * response.length);
  },
);

test("the webhook HTTP client returns TLS_ERROR for a server whose certificates have more than 16 KiB", async () => {
  const cert = Array.from({ length: 45 }, () => selfSigned.cert).join("\n");
  const { sockets, post } = await start((socket) => socket.end(), { cert });
  expect(await post()).toMatchObject({ statusCode: undefined, failure: tooManyRecords, hasConnected: false });
  expect(sockets).toEqual([]);
});

test("the webhook HTTP client closes the connection of a server that requests TLS renegotiation", async () => {
  const outcomes: string[] = [];
  const { post } = await start(
    (socket) => {
      socket.once("close", () => outcomes.push("closed"));
      socket.renegotiate({}, () => outcomes.push("renegotiated"));
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    },
    { maxVersion: "TLSv1.2" },
  );
  await post();
  await eventually(() => expect(outcomes).toEqual(["closed"]));
});

test("LimitedRecords passes on handshake records only during the handshake", async () => {
  const { limited, server, countReceived } = await connectLimited();
  server.write(helloOfTls12);
  await eventually(() => expect(countReceived()).toBe(helloOfTls12.length));
  limited.endHandshake({ bytesWritten: 0 });
  const ended = once(limited, "error");
  server.write(Buffer.concat([record, handshakeRecord]));
  expect((await ended)[0]).toBeInstanceOf(TlsLimitExceeded);
  expect(countReceived()).toBe(helloOfTls12.length + record.length);
});

/** Returns the groups for the key exchange (RFC 8446, section 4.2.7) of a ClientHello. */
function groupsOf(hello: Buffer, compressionAt: number): number[] {
  let at = compressionAt + 1 + hello.readUInt8(compressionAt) + 2;
  while (hello.readUInt16BE(at) !== 10) at += 4 + hello.readUInt16BE(at + 2);
  return Array.from({ length: hello.readUInt16BE(at + 4) / 2 }, (_, i) => hello.readUInt16BE(at + 6 + 2 * i));
}

test("the webhook HTTP client offers key exchange over elliptic curves and not over finite fields", async () => {
  let hello: Buffer = Buffer.alloc(0);
  const { client, url } = await connectTo((socket) => {
    socket.once("data", (chunk: Buffer) => {
      hello = chunk;
      socket.destroy();
    });
  });
  await client.post(sender, url, {}, body);
  // A ClientHello (RFC 8446, section 4.1.2): headers, version, random, session id, cipher suites.
  const suitesAt = 5 + 4 + 2 + 32 + 1 + hello.readUInt8(43) + 2;
  const suites = Array.from({ length: hello.readUInt16BE(suitesAt - 2) / 2 }, (_, i) => hello.readUInt16BE(suitesAt + 2 * i));
  expect(suites).toContain(0xc02f);
  // TLS_DHE_RSA with AES and ChaCha20 (IANA).
  for (const suite of [0x33, 0x39, 0x67, 0x6b, 0x9e, 0x9f, 0xccaa]) expect(suites).not.toContain(suite);
  expect(groupsOf(hello, suitesAt + 2 * suites.length)).toEqual([0x11ec, 0x1d, 0x17, 0x1e, 0x18, 0x19]);
});

/**
 * Starts a TLS server that responds with status 200, and a proxy in front of it. The proxy calls
 * `forward` for each chunk from the server.
 */
async function connectThroughProxy(version: "TLSv1.2" | "TLSv1.3", forward: (chunk: Buffer, socket: Socket) => void) {
  const secure = createServer({ ...selfSigned, maxVersion: version }, (socket) => {
    socket.on("error", () => {});
    socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
  });
  secure.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
  stack.push({ [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void secure.close(() => resolve())) });
  return await connectTo((socket) => {
    const upstream = connect((secure.address() as AddressInfo).port, "127.0.0.1");
    upstream.on("error", () => {});
    socket.once("close", () => upstream.destroy());
    socket.on("data", (chunk) => upstream.write(chunk));
    upstream.on("data", (chunk: Buffer) => forward(chunk, socket));
  });
}

/** A TLS record that the server sends before its last handshake message. */
const changeCipherSpec = Buffer.from([20, 3, 3, 0, 1, 1]);

test.each(["TLSv1.2", "TLSv1.3"] as const)(
  "the webhook HTTP client returns CONNECTION_RESET if a %s server resets the connection after its last handshake message",
  async (version) => {
    const { client, url } = await connectThroughProxy(version, (chunk, socket) => {
      const isLast = chunk.includes(changeCipherSpec);
      socket.write(chunk, () => isLast && socket.resetAndDestroy());
    });
    for (let i = 0; i < 20; i++) {
      expect(await client.post(sender, url, {}, body)).toMatchObject({ failure: { code: "CONNECTION_RESET" } });
    }
  },
);

test("the webhook HTTP client returns TLS_ERROR and closes the connection if a TLS record of a response is corrupt", async () => {
  const { client, closed, url } = await connectThroughProxy("TLSv1.2", (chunk, socket) => {
    const isApplicationData = chunk.readUInt8(0) === record[0];
    if (isApplicationData) chunk.writeUInt8(chunk.readUInt8(chunk.length - 1) ^ 1, chunk.length - 1);
    socket.write(chunk);
  });
  expect(await client.post(sender, url, {}, body)).toMatchObject({ statusCode: undefined, failure: { code: "TLS_ERROR" } });
  await Promise.all(closed);
});

test("the webhook HTTP client returns CONNECTION_REFUSED if no server listens at an https URL", async () => {
  const { post } = await start(() => {});
  await stack.shift()?.[Symbol.asyncDispose]();
  expect(await post()).toMatchObject({ failure: { code: "CONNECTION_REFUSED" }, hasConnected: false });
});

/** Starts a TCP server that calls `accept` for each connection, and a client. */
async function connectTo(accept: (socket: Socket) => void, timeoutMs?: number) {
  const sockets: Socket[] = [];
  const closed: Promise<unknown>[] = [];
  const listener = createTcpServer((socket) => {
    sockets.push(socket);
    closed.push(new Promise((resolve) => socket.once("close", resolve)));
    socket.on("error", () => {});
    accept(socket);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  stack.push({ [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void listener.close(() => resolve())) });
  return { sockets, closed, ...startClient(timeoutMs), url: urlOf(listener) };
}

test.each([
  ["the handshake times out", "TIMEOUT", () => {}],
  ["the server closes the connection during the handshake", "CONNECTION_RESET", (socket: Socket) => socket.end()],
  ["the server resets the connection during the handshake", "CONNECTION_RESET", (socket: Socket) => socket.resetAndDestroy()],
  ["the server's response is not TLS", "TLS_ERROR", (socket: Socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n")],
])("the webhook HTTP client closes the TCP connection and frees its slot if %s", async (_, code, respond) => {
  const { sockets, closed, connecting, client, url } = await connectTo((socket) => {
    socket.once("data", () => respond(socket));
  }, 500);
  const outcome = await client.post(sender, url, {}, body);
  expect(outcome).toMatchObject({ statusCode: undefined, failure: { code }, hasConnected: false });
  await Promise.all(closed);
  expect(sockets).toHaveLength(1);
  expect(connecting.usedAndQueued()).toBe(0);
});

test.each(["TLSv1.2", "TLSv1.3"] as const)(
  "the webhook HTTP client refuses a certificate of a %s server whose key is on a curve without a name",
  async (version) => {
    const cert = `${selfSigned.cert}\n${explicitCurve}`;
    const { sockets, post } = await start((socket) => socket.end(), { cert, maxVersion: version });
    expect(await post()).toMatchObject({ statusCode: undefined, failure: tooManyRecords, hasConnected: false });
    expect(sockets).toEqual([]);
  },
);

test("the webhook HTTP client keeps the slot for connecting after a costly TLS handshake, but not after a request on the same connection, and releases it later", async () => {
  const cpuUsage = vi.spyOn(process, "threadCpuUsage").mockReturnValue({ user: 500_000, system: 0 });
  const { connecting, post } = await start((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
  expect(await post()).toMatchObject({ statusCode: 200 });
  cpuUsage.mockRestore();
  expect(connecting.usedAndQueued()).toBe(1);
  for (let i = 0; i < 9; i++) expect(await post()).toMatchObject({ statusCode: 200 });
  // The next request may start before the client has marked the connection as free.
  expect(connecting.usedAndQueued()).toBeLessThan(3);
  await eventually(() => expect(connecting.usedAndQueued()).toBe(0));
});

/** A certificate that contains the parameters of its curve, instead of the curve's name. */
const explicitCurve = `-----BEGIN CERTIFICATE-----
MIICYzCCAgmgAwIBAgIUXlrH8RCDrVmwT6MSq1hngL4hAYEwCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBeDAgFw0yNjExMjkxMDM4NTdaGA8yMTI2MTEwNTEwMzg1N1ow
DDEKMAgGA1UEAwwBeDCCAUswggEDBgcqhkjOPQIBMIH3AgEBMCwGByqGSM49AQEC
IQD/////AAAAAQAAAAAAAAAAAAAAAP///////////////zBbBCD/////AAAAAQAA
AAAAAAAAAAAAAP///////////////AQgWsY12Ko6k+ez671VdpiGvGUdBrDMU7D2
O848PifSYEsDFQDEnTYIhucEk2pmeOETnSa3gZ9+kARBBGsX0fLhLEJH+Lzm5WOk
QPJ3A32BLeszoPShOUXYmMKWT+NC4v4af5uO5+tKfA+eFivOM1drMV7Oy7ZAaDe/
UfUCIQD/////AAAAAP//////////vOb6racXnoTzucrC/GMlUQIBAQNCAAQRnYwT
9Z4lIrTKIyzU+W/W3waUB+rC3zmdhDPKcRcmz4UgPkaJ2UwFjEWmUeeDi3ef8ujg
JHpxNNq4QjBldHpIo1MwUTAdBgNVHQ4EFgQUWmpn5l4yyv/ZQn+7VdjNwG3WBeUw
HwYDVR0jBBgwFoAUWmpn5l4yyv/ZQn+7VdjNwG3WBeUwDwYDVR0TAQH/BAUwAwEB
/zAKBggqhkjOPQQDAgNIADBFAiB4rgV8aCzN6frvFBPQCzcuhtduQXJ/r+EvSmjE
QYholwIhAOTskmGOfD/aDmLVJrI25VGNvtNvzkqM8PTby1mkf5yU
-----END CERTIFICATE-----`;
