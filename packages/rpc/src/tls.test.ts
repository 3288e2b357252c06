import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import https from "node:https";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { Health } from "@amana/contracts/grpc/health/v1/health_pb";
import { HandOverService } from "@amana/contracts/messaging/v1/hand_over_service_pb";
import { beginSpan, createLogger, startTracing } from "@amana/runtime";
import { startCollector } from "@amana/runtime/test/collector";
import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import grpc from "@grpc/grpc-js";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createCa, replace } from "../test/certificates.ts";
import {
  type Caller,
  createCallerSigner,
  createRpcChannel,
  createRpcClient,
  createRpcServer,
  openTls,
  type RpcServer,
  serve,
} from "./index.ts";
import type { TlsFiles } from "./tls.ts";

const logger = createLogger("test", "silent");
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const signer = createCallerSigner({ id: "k", privateKey });
const caller: Caller = { role: "business", businessId: "b1", keyId: "k1", keyPrefix: "sk_test_00000000" };

let folder: string;
let ca: Awaited<ReturnType<typeof createCa>>;
let otherCa: typeof ca;
let validFiles: TlsFiles;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "amana-tls-"));
  ca = await createCa(join(folder, "ca"));
  otherCa = await createCa(join(folder, "other-ca"));
  validFiles = await ca.issue("good");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let stack: AsyncDisposableStack;
let callers: Caller[];
beforeEach(() => {
  stack = new AsyncDisposableStack();
  callers = [];
});
afterEach(() => stack.disposeAsync());

/** Maximum time in which the server and the clients must apply changed files. */
const waitMsMax = 60_000;

async function startServer(files: TlsFiles, limits = {}): Promise<RpcServer> {
  const openedTls = stack.use(await openTls(files, logger, 20));
  return stack.use(
    await createRpcServer({
      services: [
        serve(HandOverService, {
          async handOverMessages(_request, call) {
            callers.push(call.caller);
            return {};
          },
        }),
      ],
      host: "127.0.0.1",
      port: 0,
      audience: "test",
      callerKeys: [{ id: "k", publicKey, signsFor: "anyone" }],
      tls: openedTls,
      logger,
      limits,
    }),
  );
}

/** Creates a client with this certificate. */
async function createTlsClient(server: { readonly port: number }, files: TlsFiles, host = "localhost") {
  const openedTls = stack.use(await openTls(files, logger, 20));
  const channel = stack.use(
    createRpcChannel({ urls: [`https://${host}:${server.port}`], audience: "test", signer, tls: openedTls }),
  );
  const client = createRpcClient(HandOverService, channel);
  return { deliver: (timeoutMs = 3_000) => client.handOverMessages({}, { caller, timeoutMs }) };
}

describe("RPC over TLS with client certificates", () => {
  test("createRpcClient gets a response over TLS with a client certificate", async () => {
    const client = await createTlsClient(await startServer(validFiles), validFiles);
    await client.deliver();
    expect(callers).toEqual([caller]);
  });

  test.each([
    [
      "Connect over HTTP/1.1",
      (baseUrl: string, nodeOptions: ClientOptions) => createConnectTransport({ baseUrl, nodeOptions, httpVersion: "1.1" }),
    ],
    [
      "Connect over HTTP/2",
      (baseUrl: string, nodeOptions: ClientOptions) => createConnectTransport({ baseUrl, nodeOptions, httpVersion: "2" }),
    ],
    ["gRPC", (baseUrl: string, nodeOptions: ClientOptions) => createGrpcTransport({ baseUrl, nodeOptions })],
    [
      "gRPC-Web",
      (baseUrl: string, nodeOptions: ClientOptions) => createGrpcWebTransport({ baseUrl, nodeOptions, httpVersion: "1.1" }),
    ],
  ])("a %s client gets a response from the RPC server over TLS with a client certificate", async (_name, create) => {
    const server = await startServer(validFiles);
    const transport = create(`https://localhost:${server.port}`, await clientOptions(validFiles));
    await createClient(HandOverService, transport).handOverMessages(
      {},
      { headers: { "amana-caller": signer.sign(caller, "test") } },
    );
    expect(callers).toEqual([caller]);
    expect((await createClient(Health, transport).check({})).status).toBe(1);
  });

  test("a client of @grpc/grpc-js gets a response from the RPC server over TLS with a client certificate", async () => {
    const server = await startServer(validFiles);
    const { ca: root, cert, key } = await clientOptions(validFiles);
    const client = new grpc.Client(`localhost:${server.port}`, grpc.credentials.createSsl(root, key, cert));
    const metadata = new grpc.Metadata();
    metadata.set("amana-caller", signer.sign(caller, "test"));
    await new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        "/messaging.v1.HandOverService/HandOverMessages",
        () => Buffer.alloc(0),
        (bytes) => bytes,
        {},
        metadata,
        (error, value) => (error ? reject(error) : resolve(value)),
      );
    });
    client.close();
    expect(callers).toEqual([caller]);
  });

  test.each([
    ["of another CA", () => otherCa.issue("stranger")],
    ["that has expired", () => ca.issue("expired-client", { days: 0 })],
    ["that is valid only for servers", () => ca.issue("server-only", { usage: "serverAuth" })],
  ])("the RPC server rejects a client with a certificate %s", async (_name, issue) => {
    const server = await startServer(validFiles);
    const { certFile, keyFile } = await issue();
    const client = await createTlsClient(server, { certFile, keyFile, caFile: validFiles.caFile });
    await expect(client.deliver()).rejects.toThrow();
    expect(callers).toEqual([]);
    await (await createTlsClient(server, validFiles)).deliver();
  });

  test("the RPC server rejects a client without a certificate and a client without TLS", async () => {
    const server = await startServer(validFiles);
    const root = await readFile(validFiles.caFile);
    const agent = new https.Agent({ ca: root });
    const request = https.get(`https://localhost:${server.port}/`, { agent });
    await expect(once(request, "response")).rejects.toThrow();
    await expect(fetch(`http://localhost:${server.port}/`)).rejects.toThrow();
  });

  test.each([
    ["of another CA", () => otherCa.issue("strange-server"), "localhost"],
    ["that has expired", () => ca.issue("expired-server", { days: 0 }), "localhost"],
    ["for another name", () => ca.issue("elsewhere", { names: "DNS:elsewhere.test" }), "localhost"],
    ["for a name, when the URL has an IP address", () => ca.issue("named"), "127.0.0.1"],
  ])("the RPC client sends no call to a server with a certificate %s, and throws unavailable", async (_name, issue, host) => {
    const { certFile, keyFile } = await issue();
    const server = await startServer({ certFile, keyFile, caFile: validFiles.caFile });
    const client = await createTlsClient(server, validFiles, host);
    await expect(client.deliver()).rejects.toMatchObject({ kind: "unavailable" });
    expect(callers).toEqual([]);
  });

  test("the RPC client does not send a call whose deadline passes during the TLS handshake", async () => {
    const server = await startServer(validFiles);
    const handshake = Promise.withResolvers<void>();
    const proxy = net.createServer(async (socket) => {
      await handshake.promise;
      const upstream = net.connect(server.port, "localhost");
      for (const side of [socket, upstream]) side.on("error", () => {});
      socket.pipe(upstream).pipe(socket);
    });
    stack.defer(() => void proxy.close());
    await once(proxy.listen(0, "localhost"), "listening");
    const client = await createTlsClient(proxy.address() as net.AddressInfo, validFiles);
    await expect(client.deliver(100)).rejects.toMatchObject({ code: Code.DeadlineExceeded });
    handshake.resolve();
    await client.deliver();
    expect(callers).toEqual([caller]);
  });

  test("the RPC server does not resume TLS sessions, so that it verifies the client certificate on each connection", async () => {
    const server = await startServer(validFiles);
    const options = { ...(await clientOptions(validFiles)), port: server.port, host: "localhost" };
    const sessions: Buffer[] = [];
    for (let i = 0; i < 2; i++) {
      const socket = tls.connect({ ...options, ...(sessions[0] && { session: sessions[0] }) });
      socket.on("session", (session) => sessions.push(session));
      socket.on("error", () => {});
      await once(socket, "secureConnect");
      socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      await once(socket, "data");
      expect(socket.isSessionReused()).toBe(false);
      socket.destroy();
    }
  });
});

describe("RPC with changed certificate files", () => {
  /** Copies the files, so that a test can replace them. */
  async function copyFiles(name: string, from: TlsFiles): Promise<TlsFiles> {
    const pathOf = (kind: string) => join(folder, `${name}-${kind}.pem`);
    const copies = { certFile: pathOf("cert"), keyFile: pathOf("key"), caFile: pathOf("ca") };
    for (const file of ["certFile", "keyFile", "caFile"] as const) await copyFile(from[file], copies[file]);
    return copies;
  }

  test("the RPC server uses changed certificate files without a restart, and rejects clients with the old files", async () => {
    const newFiles = await otherCa.issue("next");
    const [serverFiles, clientFiles] = [await copyFiles("server", validFiles), await copyFiles("client", validFiles)];
    const server = await startServer(serverFiles);
    const client = await createTlsClient(server, clientFiles);
    const clientWithOldFiles = await createTlsClient(server, validFiles);
    await client.deliver();
    await clientWithOldFiles.deliver();
    await Promise.all([replace(serverFiles, newFiles), replace(clientFiles, newFiles)]);
    await vi.waitFor(async () => {
      await expect(clientWithOldFiles.deliver()).rejects.toThrow();
      await client.deliver();
    }, waitMsMax);
  });

  test("the RPC server ends a connection whose handshake is not complete when the certificate files change", async () => {
    const newFiles = await otherCa.issue("after");
    const files = await copyFiles("early", validFiles);
    // The timeouts are long, so that only the changed files can close the connection.
    const server = await startServer(files, { headersTimeoutMs: 600_000, requestTimeoutMs: 600_000 });
    const earlyConnection = net.connect(server.port, "localhost");
    earlyConnection.on("error", () => {});
    earlyConnection.resume();
    await once(earlyConnection, "connect");
    // The server has accepted the connection when it responds to a later client.
    await (await createTlsClient(server, validFiles)).deliver();
    await replace(files, newFiles);
    await vi.waitFor(() => expect(earlyConnection.destroyed).toBe(true), waitMsMax);
  });

  test("the RPC server ignores changed certificate files while they are unusable, and uses them when they are usable again", async () => {
    const files = await copyFiles("broken", validFiles);
    const server = await startServer(files);
    await writeFile(files.certFile, "half a cert");
    await new Promise((resolve) => setTimeout(resolve, 100));
    await (await createTlsClient(server, validFiles)).deliver();
    const newFiles = await otherCa.issue("repaired");
    await replace(files, newFiles);
    await vi.waitFor(async () => (await createTlsClient(server, newFiles)).deliver(), waitMsMax);
  });

  test("openTls throws when the certificate files are unusable", async () => {
    await expect(openTls({ ...validFiles, keyFile: otherCa.cert }, logger)).rejects.toThrow();
    await expect(openTls({ ...validFiles, certFile: "/nowhere" }, logger)).rejects.toThrow("ENOENT");
  });
});

type ClientOptions = Awaited<ReturnType<typeof clientOptions>>;

async function clientOptions(files: TlsFiles) {
  const [cert, key, root] = await Promise.all([readFile(files.certFile), readFile(files.keyFile), readFile(files.caFile)]);
  return { cert, key, ca: root };
}

test("startTracing exports spans over TLS only to a collector with a certificate of the configured CA", async () => {
  const [cert, key] = await Promise.all([readFile(validFiles.certFile, "utf8"), readFile(validFiles.keyFile, "utf8")]);
  const collector = stack.use(await startCollector({ cert, key }));
  const headers = { authorization: "Bearer of-the-collector" };
  for (const file of [otherCa.cert, ca.cert]) {
    const certificateAuthority = await readFile(file, "utf8");
    const settings = { url: `${collector.url}/v1/traces`, headers, certificateAuthority };
    const tracing = await startTracing(settings, "tests", logger);
    beginSpan("client", file, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")?.end();
    await tracing[Symbol.asyncDispose]();
  }
  expect(collector.spans.map(({ name }) => name)).toEqual([ca.cert]);
  expect(collector.headers).toMatchObject([headers]);
});
