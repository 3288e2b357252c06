import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { KeyLeaseService, ResolveKeysResponseSchema } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { HandOverService } from "@amana/contracts/messaging/v1/hand_over_service_pb";
import { createLogger } from "@amana/runtime";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createCallerSigner,
  createRpcChannel,
  createRpcClient,
  createRpcServer,
  platformCaller,
  type RpcServer,
  serve,
} from "./index.ts";

const messageBytesMax = 4 * 1024 * 1024;
const key = generateKeyPairSync("ed25519");
const signer = createCallerSigner({ id: "gateway", privateKey: key.privateKey });
const resolveKeys = "/identity.v1.KeyLeaseService/ResolveKeys";
const handOver = "/messaging.v1.HandOverService/HandOverMessages";

let prefixLength = 1;
const response = () => create(ResolveKeysResponseSchema, { resolutions: [{ keyPrefix: "k".repeat(prefixLength) }] });
let server: RpcServer;
beforeAll(async () => {
  server = await createRpcServer({
    services: [
      serve(KeyLeaseService, { resolveKeys: async () => response(), resolveBusiness: async () => ({}) }),
      serve(HandOverService, { handOverMessages: async () => ({}) }),
    ],
    host: "127.0.0.1",
    port: 0,
    audience: "test",
    callerKeys: [{ id: "gateway", publicKey: key.publicKey, signsFor: "anyone" }],
    logger: createLogger("test", "silent"),
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const token = () => ({ "amana-caller": signer.sign(platformCaller, "test") });
const inProto = { "content-type": "application/proto" };

interface TestRequest {
  readonly path?: string;
  readonly method?: string;
  /** Headers that replace the headers of a valid request. The value undefined removes a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: Uint8Array;
  readonly chunked?: boolean;
}

interface Outcome {
  readonly status: number;
  readonly body: string;
}

/** A connection that makes calls in sequence. */
interface Connection extends AsyncDisposable {
  call(request: TestRequest): Promise<Outcome>;
}

const headersOf = (
  { headers = {}, body = new Uint8Array(), chunked = false, method = "POST" }: TestRequest,
  additionalHeaders = {},
) => {
  const combined: Record<string, string | undefined> = { ...inProto, ...token(), ...additionalHeaders, ...headers };
  if (!chunked && method === "POST") combined["content-length"] = String(body.length);
  return Object.fromEntries(Object.entries(combined).filter(([, value]) => value !== undefined)) as Record<string, string>;
};

function overHttp1(additionalHeaders: Record<string, string> = {}): Connection & { connections(): number } {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const sockets = new Set<net.Socket>();
  return {
    connections: () => sockets.size,
    async call(options) {
      const { path = resolveKeys, method = "POST", body = new Uint8Array() } = options;
      const request = http.request(`${server.url}${path}`, { agent, method, headers: headersOf(options, additionalHeaders) });
      request.on("socket", (socket) => sockets.add(socket));
      // Writes the body before the end, so that Node does not add a Content-Length.
      request.write(body);
      request.end();
      const [response] = (await once(request, "response")) as [http.IncomingMessage];
      return { status: response.statusCode ?? 0, body: await text(response) };
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
    },
  };
}

function overHttp2(): Connection {
  const session = http2.connect(server.url);
  return {
    async call(options) {
      const { path = resolveKeys, method = "POST", body = new Uint8Array() } = options;
      const stream = session.request({ ":method": method, ":path": path, ...headersOf(options) }, { endStream: false });
      stream.end(body);
      const [headers] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
      return { status: Number(headers[":status"]), body: await text(stream) };
    },
    async [Symbol.asyncDispose]() {
      session.destroy();
    },
  };
}

async function text(stream: AsyncIterable<Buffer>): Promise<string> {
  let combined = "";
  for await (const chunk of stream) combined += chunk.toString("latin1");
  return combined;
}

const success = () => ({ status: 200, body: Buffer.from(toBinary(ResolveKeysResponseSchema, response())).toString("latin1") });
const failure = (status: number, code: string, message: RegExp) => ({
  status,
  body: expect.stringMatching(new RegExp(`^\\{"code":"${code}","message":"${message.source}"\\}$`)),
});
const noBody = (status: number) => ({ status, body: "" });
const timeout = (value: string): TestRequest => ({ headers: { "connect-timeout-ms": value } });
const invalidTimeout = failure(400, "invalid_argument", /protocol error: invalid connect timeout value: .*/);
const tooLarge = new Uint8Array(messageBytesMax + 1);

/**
 * Requests with their expected responses. The codes come from connectrpc.com/docs/protocol, or from
 * connect-node if the protocol defines none.
 */
const cases: Record<string, [TestRequest, () => Outcome]> = {
  "an empty body": [{}, success],
  "a request larger than 4 MiB": [{ body: tooLarge }, () => failure(429, "resource_exhausted", /message size 4194305 is .*/)],
  "a chunked request larger than 4 MiB": [
    { body: tooLarge, chunked: true },
    () => failure(429, "resource_exhausted", /message size is larger .*/),
  ],
  "bytes that are not a protobuf message": [
    { body: Buffer.from([0xff, 0xff]) },
    () => failure(500, "internal", /parse binary: .*/),
  ],
  // The protocol: "If the server doesn't support the specified Message-Codec, it must respond with
  // […] 415"
  "content type image/jpeg": [{ headers: { "content-type": "image/jpeg" } }, () => noBody(415)],
  "content type text/html": [{ headers: { "content-type": "text/html; charset=utf-8" } }, () => noBody(415)],
  "content type application/proto with a parameter": [
    { headers: { "content-type": "application/proto; charset=utf-8" } },
    () => noBody(415),
  ],
  "no content type": [{ headers: { "content-type": undefined } }, () => noBody(415)],
  "content type application/json and a protobuf body": [
    { headers: { "content-type": "application/json" }, body: Buffer.from([10, 1, 1]) },
    () => failure(400, "invalid_argument", /.*/),
  ],
  // The protocol: "servers should return an error with code "unimplemented" and a message listing
  // the supported encodings". This server supports no encodings.
  ...Object.fromEntries(
    ["gzip", "br", "zstd"].map((encoding) => [
      `content encoding ${encoding}`,
      [{ headers: { "content-encoding": encoding } }, () => failure(501, "unimplemented", /unknown compression .*/)],
    ]),
  ),
  // The protocol: "positive integer as ASCII string of at most 10 digits"
  ...Object.fromEntries(
    ["abc", "1.5", "1e3", "0x10", "-1", "+1", "12345678901"].map((value) => [
      `timeout ${value}`,
      [timeout(value), () => invalidTimeout],
    ]),
  ),
  "timeout 0": [timeout("0"), () => failure(504, "deadline_exceeded", /.*/)],
  // The protocol: "server implementations may clamp timeouts to an appropriate maximum"
  "a timeout of 100 days": [timeout("8640000000"), success],
  "a timeout of 10 s": [timeout("10000"), success],
  "an unknown method": [{ path: "/identity.v1.KeyLeaseService/Nothing" }, () => noBody(404)],
  "GET to a method with side effects": [{ path: handOver, method: "GET" }, () => noBody(405)],
};

test.each(Object.entries(cases))(
  "the RPC server's fast path and connect-node return the same response to %s, and the connection stays usable",
  async (_name, [request, expected]) => {
    prefixLength = 1;
    await using fast = overHttp1();
    // Because of this header, connect-node serves the call instead of the fast path.
    await using slow = overHttp1({ "content-encoding": "identity" });
    await using http2 = overHttp2();
    const bodies = new Set<string>();
    for (const [name, connection] of Object.entries({ fast, slow, http2 })) {
      const outcome = await connection.call(request);
      expect({ name, ...outcome }).toEqual({ name, ...expected() });
      bodies.add(outcome.body);
      expect({ name, ...(await connection.call({})) }).toEqual({ name, ...success() });
    }
    expect([...bodies]).toHaveLength(1);
    expect([fast.connections(), slow.connections()]).toEqual([1, 1]);
  },
);

describe("the fast path and connect-node", () => {
  test("the RPC server's fast path and connect-node reject a response larger than 4 MiB with the same error", async () => {
    prefixLength = messageBytesMax;
    await using fast = overHttp1();
    await using slow = overHttp1({ "content-encoding": "identity" });
    await using http2 = overHttp2();
    const expected = failure(429, "resource_exhausted", /message size \d+ is larger than configured writeMaxBytes 4194304/);
    const outcomes = [await fast.call({}), await slow.call({}), await http2.call({})];
    expect(outcomes).toEqual([expected, expected, expected]);
    expect(new Set(outcomes.map(({ body }) => body)).size).toBe(1);
  });

  test("the RPC server's fast path and connect-node accept a request and a response of 4 MiB", async () => {
    const body = Buffer.concat([Buffer.from([10, 0xfb, 0xff, 0xff, 0x01]), Buffer.alloc(messageBytesMax - 5)]);
    prefixLength = messageBytesMax - 10;
    expect(success().body).toHaveLength(messageBytesMax);
    await using fast = overHttp1();
    await using slow = overHttp1({ "content-encoding": "identity" });
    await using http2 = overHttp2();
    for (const connection of [fast, slow, http2]) {
      const { status, body: received } = await connection.call({ body });
      expect([status, received.length]).toEqual([200, messageBytesMax]);
    }
  });

  test("the RPC server responds with status 400 to a truncated body and closes the connection", async () => {
    for (const additionalHeaders of [{}, { "content-encoding": "identity" }]) {
      const socket = net.connect(server.port, "127.0.0.1");
      const lines = Object.entries({ host: "a", ...inProto, ...token(), ...additionalHeaders, "content-length": "100" });
      socket.write(`POST ${resolveKeys} HTTP/1.1\r\n${lines.map((line) => line.join(": ")).join("\r\n")}\r\n\r\nabc`);
      socket.end();
      // Node's HTTP parser rejects the early end before either path runs.
      expect(await text(socket)).toBe("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    }
  });
});

describe("standard clients that send more than 4 MiB", () => {
  const request = { keyHashes: [tooLarge] };
  test.each([
    ["gRPC", () => createGrpcTransport({ baseUrl: server.url })],
    ["gRPC-Web over HTTP/2", () => createGrpcWebTransport({ baseUrl: server.url, httpVersion: "2" })],
    [
      "gRPC-Web over HTTP/1.1",
      () =>
        createGrpcWebTransport({
          baseUrl: server.url,
          httpVersion: "1.1",
          nodeOptions: { agent: new http.Agent({ keepAlive: true, maxSockets: 1 }) },
        }),
    ],
  ])(
    "a %s client gets resource_exhausted for a request above 4 MiB, and its next call on the connection succeeds",
    async (_name, transport) => {
      prefixLength = 1;
      const client = createClient(KeyLeaseService, transport());
      for (let i = 0; i < 2; i++) {
        await expect(client.resolveKeys(request, { headers: token() })).rejects.toMatchObject({ code: Code.ResourceExhausted });
        await expect(client.resolveKeys({}, { headers: token(), timeoutMs: 5_000 })).resolves.toBeDefined();
      }
    },
  );

  test("createRpcClient gets resource_exhausted for a request above 4 MiB", async () => {
    await using channel = createRpcChannel({ urls: [server.url], audience: "test", signer });
    const client = createRpcClient(KeyLeaseService, channel);
    const call = client.resolveKeys(request, { caller: platformCaller });
    await expect(call).rejects.toMatchObject({ code: Code.ResourceExhausted });
  });
});
