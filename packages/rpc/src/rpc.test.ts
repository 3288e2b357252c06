import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { Health } from "@amana/contracts/grpc/health/v1/health_pb";
import { HandOverService } from "@amana/contracts/messaging/v1/hand_over_service_pb";
import { createLogger } from "@amana/runtime";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import grpc from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { headerNames } from "./call.ts";
import type { TrustedKey } from "./caller-token.ts";
import {
  type Call,
  type Caller,
  createCallerSigner,
  createRpcChannel,
  createRpcClient,
  createRpcServer,
  DomainError,
  noCaller,
  platformCaller,
  type RpcChannelOptions,
  type RpcServer,
  requireAdmin,
  requireBusiness,
  serve,
} from "./index.ts";

const gatewayKey = generateKeyPairSync("ed25519");
const signer = createCallerSigner({ id: "gateway", privateKey: gatewayKey.privateKey });
const callerKeys: TrustedKey[] = [{ id: "gateway", publicKey: gatewayKey.publicKey, signsFor: "anyone" }];
const logger = createLogger("test", "silent");
const caller: Caller = { role: "business", businessId: "b1", keyId: "k1", keyPrefix: "sk_test_00000000" };
const refusal = new DomainError("conflict", "payment_not_refundable", "Already refunded.", {
  pointer: "/amount",
  members: { payment_status: "REFUNDED" },
});

let calls: Call[] = [];
let behaviour: (call: Call) => Promise<object> = async () => ({});
const startServer = (port = 0) =>
  createRpcServer({
    services: [
      serve(HandOverService, {
        async handOverMessages(_request, call) {
          calls.push(call);
          return behaviour(call);
        },
      }),
    ],
    host: "127.0.0.1",
    port,
    audience: "test",
    callerKeys,
    logger,
    isUnavailable: (error) => error instanceof Error && error.message === "the database is unavailable",
  });

let server: RpcServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

async function withClient<T>(
  urls: string[],
  use: (client: ReturnType<typeof clientOf>) => Promise<T>,
  options: Partial<RpcChannelOptions> = {},
): Promise<T> {
  await using channel = createRpcChannel({ urls, audience: "test", signer, ...options });
  return await use(clientOf(channel));
}
const unknownSigner = (id: string) => createCallerSigner({ id, privateKey: generateKeyPairSync("ed25519").privateKey });
const clientOf = (channel: ReturnType<typeof createRpcChannel>) => createRpcClient(HandOverService, channel);
const request = { topic: "t", messages: [{ key: "k", payload: new Uint8Array([1, 2]), headers: { ce_id: "e" } }] };

/** Makes all further calls wait until `release`. `begun` resolves when a call has begun. */
function holdCalls() {
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<object>();
  behaviour = () => {
    started.resolve();
    return released.promise;
  };
  return { begun: started.promise, release: () => released.resolve({}) };
}

describe("createRpcClient and createRpcServer", () => {
  test("an RPC passes caller, request id, address, trace, idempotency key and deadline to the server's implementation", async () => {
    calls = [];
    behaviour = async () => ({});
    const idempotencyKey = { key: "once", route: "POST /x", fingerprint: "abc", otherFingerprint: "def" };
    await withClient([server.url], (client) =>
      client.handOverMessages(request, {
        caller,
        requestId: "request-1",
        address: "192.0.2.1",
        traceparent: "00-1-2-01",
        idempotencyKey,
        timeoutMs: 3_000,
      }),
    );
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({
      caller,
      requestId: "request-1",
      address: "192.0.2.1",
      traceparent: "00-1-2-01",
      idempotencyKey,
    });
    const remainingMs = calls[0]?.remainingMs() ?? 0;
    expect(remainingMs).toBeGreaterThan(0);
    expect(remainingMs).toBeLessThanOrEqual(3_000);
  });

  test("an RPC server continues the trace of a call in the calls that the implementation makes", async () => {
    calls = [];
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
    await withClient([server.url], async (client) => {
      behaviour = async () => {
        behaviour = async () => ({});
        return await client.handOverMessages(request, { caller: platformCaller });
      };
      await client.handOverMessages(request, { caller, requestId: "request-1", traceparent });
    });
    const traces = calls.map(({ caller: { role }, requestId, traceparent }) => ({ role, requestId, traceparent }));
    const trace = { requestId: "request-1", traceparent };
    expect(traces).toEqual([
      { role: "business", ...trace },
      { role: "platform", ...trace },
    ]);
  });

  test("an RPC client throws a refusal with the same fields as the refusal that the server's implementation threw", async () => {
    behaviour = async () => Promise.reject(refusal);
    const error = await withClient([server.url], (client) =>
      client.handOverMessages(request, { caller }).catch((e: unknown) => e),
    );
    expect(error).toBeInstanceOf(DomainError);
    expect(error).toMatchObject({
      kind: "conflict",
      code: refusal.code,
      message: refusal.message,
      pointer: "/amount",
      members: refusal.members,
    });
  });

  test.each([false, true])(
    "an RPC client calls onReplayed once when the server returns a stored response (the stored response is a refusal: %s)",
    async (refused) => {
      behaviour = async (call) => {
        call.markReplayed();
        if (refused) throw refusal;
        return {};
      };
      let replayed = 0;
      const onReplayed = () => {
        replayed++;
      };
      await withClient([server.url], (client) => client.handOverMessages(request, { caller, onReplayed }).catch(() => {}));
      expect(replayed).toBe(1);
    },
  );

  test("an RPC server returns `internal` without the text of the error when the implementation throws an internal error", async () => {
    behaviour = async () => Promise.reject(new Error("secret detail"));
    const error = await withClient([server.url], (client) =>
      client.handOverMessages(request, { caller }).catch((e: unknown) => e),
    );
    expect(error).toBeInstanceOf(ConnectError);
    expect((error as ConnectError).code).toBe(Code.Internal);
    expect(String(error)).not.toContain("secret detail");
  });

  test("an RPC server returns unavailable while its database is unavailable, and the RPC client retries a call that has an idempotency key", async () => {
    calls = [];
    behaviour = async () => Promise.reject(new Error("the database is unavailable"));
    const error = await withClient([server.url], (client) =>
      client
        .handOverMessages(request, { caller, idempotencyKey: { key: "k", route: "r", fingerprint: "f" } })
        .catch((e: unknown) => e),
    );
    expect(error).toMatchObject({ kind: "unavailable" });
    expect(calls).toHaveLength(3);
  });

  test("an RPC server returns service_unavailable for a request with an unknown field, unless the caller is the platform", async () => {
    calls = [];
    behaviour = async () => ({});
    const newerRequest = create(HandOverService.method.handOverMessages.input, request);
    newerRequest.$unknown = [{ no: 500, wireType: 0, data: new Uint8Array([1]) }];
    await withClient([server.url], async (client) => {
      for (const external of [caller, { role: "admin", keyId: "k1", keyPrefix: "ak_test_00000000" } as const]) {
        const error = await client.handOverMessages(newerRequest, { caller: external }).catch((e: unknown) => e);
        expect(error).toMatchObject({ kind: "unavailable", code: "service_unavailable" });
      }
      expect(calls).toEqual([]);
      await client.handOverMessages(newerRequest, { caller: platformCaller });
    });
    expect(calls).toHaveLength(1);
  });

  test("an RPC client does not retry a call that the server refused with the code provider_unavailable", async () => {
    calls = [];
    behaviour = async () => Promise.reject(new DomainError("unavailable", "provider_unavailable", "Try again later."));
    const error = await withClient([server.url], (client) =>
      client
        .handOverMessages(request, { caller, idempotencyKey: { key: "k", route: "r", fingerprint: "f" } })
        .catch((e: unknown) => e),
    );
    expect(error).toMatchObject({ kind: "unavailable", code: "provider_unavailable" });
    expect(calls).toHaveLength(1);
  });

  test("an RPC client does not retry a failed change if the call has no idempotency key", async () => {
    calls = [];
    behaviour = async () => Promise.reject(new Error("the database is unavailable"));
    await withClient([server.url], (client) => client.handOverMessages(request, { caller }).catch(() => {}));
    expect(calls).toHaveLength(1);
  });

  test.each([
    ["has an unknown key or algorithm", { signer: unknownSigner("unknown") }],
    ["has an invalid signature", { signer: unknownSigner("gateway") }],
    ["is for another service", { audience: "elsewhere" }],
  ])("an RPC server rejects a call without running the implementation if the call's token %s", async (reason, options) => {
    calls = [];
    const error = await withClient(
      [server.url],
      (client) => client.handOverMessages(request, { caller }).catch((e: unknown) => e),
      options,
    );
    expect((error as ConnectError).code).toBe(Code.Unauthenticated);
    expect((error as ConnectError).message).toContain(reason);
    expect(calls).toHaveLength(0);
  });

  test("an RPC client retries a call with a new token when the first token expired before the server read the call", async () => {
    calls = [];
    behaviour = async () => ({});
    const expiredSigner = createCallerSigner({ id: "gateway", privateKey: gatewayKey.privateKey }, () => Date.now() - 11_000);
    let signatures = 0;
    const renewing = {
      sign: (...args: Parameters<typeof signer.sign>) => (signatures++ === 0 ? expiredSigner : signer).sign(...args),
    };
    await withClient([server.url], (client) => client.handOverMessages(request, { caller }), { signer: renewing });
    expect(calls).toHaveLength(1);
    const rejectedCall = withClient([server.url], (client) => client.handOverMessages(request, { caller }), {
      signer: expiredSigner,
    });
    await expect(rejectedCall).rejects.toThrow("has expired");
    expect(calls).toHaveLength(1);
  });

  test("an RPC client without a signing key throws for a call that has a caller, and does not send the call", async () => {
    const call = withClient([server.url], (client) => client.handOverMessages(request, { caller }), { signer: undefined });
    await expect(call).rejects.toThrow("no signing key");
  });

  test("an RPC server accepts calls without a token only with `requiresCallerToken: false`, and uses noCaller for such calls", async () => {
    const callers: Caller[] = [];
    await using openServer = await createRpcServer({
      services: [
        serve(
          HandOverService,
          {
            async handOverMessages(_request, call) {
              callers.push(call.caller);
              return {};
            },
          },
          { requiresCallerToken: false },
        ),
      ],
      host: "127.0.0.1",
      port: 0,
      audience: "test",
      callerKeys,
      logger,
    });
    await withClient([openServer.url], async (client) => {
      await client.handOverMessages(request, { caller: noCaller });
      await client.handOverMessages(request, { caller });
    });
    expect(callers).toEqual([noCaller, noCaller]);
    calls = [];
    const error = await withClient([server.url], (client) =>
      client.handOverMessages(request, { caller: noCaller }).catch((e: unknown) => e),
    );
    expect((error as ConnectError).code).toBe(Code.Unauthenticated);
    expect(calls).toHaveLength(0);
  });

  test("an RPC client throws deadline_exceeded when a call has no response before its deadline", async () => {
    behaviour = () => new Promise(() => {});
    const error = await withClient([server.url], (client) =>
      client.handOverMessages(request, { caller, timeoutMs: 100 }).catch((e: unknown) => e),
    );
    expect((error as ConnectError).code).toBe(Code.DeadlineExceeded);
  });

  test("an RPC client that has the addresses of two replicas uses the available replica while the other replica is down", async () => {
    behaviour = async () => ({});
    const down = await startServer();
    await down[Symbol.asyncDispose]();
    await withClient([down.url, server.url], async (client) => {
      for (let i = 0; i < 10; i++) await client.handOverMessages(request, { caller });
    });
  });

  test("an RPC client uses another replica after a replica has sent a response with `Connection: close`", async () => {
    behaviour = async () => ({});
    let requests = 0;
    const closingServer = http.createServer((_request, response) => {
      requests++;
      response.writeHead(200, { "content-type": "application/proto", connection: "close" }).end();
    });
    closingServer.listen(0, "127.0.0.1");
    await once(closingServer, "listening");
    const { port } = closingServer.address() as net.AddressInfo;
    await withClient([`http://127.0.0.1:${port}`, server.url], async (client) => {
      for (let i = 0; i < 3; i++) await client.handOverMessages(request, { caller });
    });
    closingServer.close();
    expect(requests).toBe(1);
  });

  test("an RPC client retries a call at another replica after a response with status 408", async () => {
    behaviour = async () => ({});
    let requests = 0;
    const closingServer = net.createServer((socket) => {
      socket.once("data", () => {
        requests++;
        socket.end("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      });
    });
    closingServer.listen(0, "127.0.0.1");
    await once(closingServer, "listening");
    const { port } = closingServer.address() as net.AddressInfo;
    await withClient([`http://127.0.0.1:${port}`, server.url], async (client) => {
      for (let i = 0; i < 3; i++) await client.handOverMessages(request, { caller });
    });
    closingServer.close();
    expect(requests).toBe(1);
  });

  test("an RPC client throws unavailable when all replicas are down", async () => {
    const down = await startServer();
    await down[Symbol.asyncDispose]();
    const error = await withClient([down.url], (client) => client.handOverMessages(request, { caller }).catch((e: unknown) => e));
    expect(error).toMatchObject({ kind: "unavailable", code: "service_unavailable" });
  });

  test("an RPC client throws outcome_unknown when the connection ends after the client has sent a call without an idempotency key", async () => {
    const target = await startServer();
    // The test cuts connections of this proxy to simulate a network failure.
    const sockets = new Set<net.Socket>();
    const proxy = net.createServer((socket) => {
      const upstream = net.connect(target.port, "127.0.0.1");
      for (const side of [socket, upstream]) {
        sockets.add(side);
        side.on("error", () => {});
      }
      socket.pipe(upstream).pipe(socket);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const { port } = proxy.address() as net.AddressInfo;
    await withClient([`http://127.0.0.1:${port}`], async (client) => {
      behaviour = async () => {
        for (const socket of sockets) socket.destroy();
        return {};
      };
      const unknownOutcome = await client.handOverMessages(request, { caller }).catch((e: unknown) => e);
      expect(unknownOutcome).toMatchObject({ kind: "outcome_unknown", code: "outcome_unknown" });
      const idempotencyKey = { key: "k", route: "r", fingerprint: "f" };
      const keyedOutcome = await client.handOverMessages(request, { caller, idempotencyKey }).catch((e: unknown) => e);
      expect(keyedOutcome).toMatchObject({ kind: "unavailable" });
    });
    proxy.close();
    await target[Symbol.asyncDispose]();
  });

  test("an RPC server returns deadline_exceeded and does not begin a call whose deadline passes before its body is complete", async () => {
    calls = [];
    const sentRequest = http.request(`${server.url}/${HandOverService.typeName}/HandOverMessages`, {
      method: "POST",
      headers: {
        "content-type": "application/proto",
        [headerNames.caller]: signer.sign(caller, "test"),
        [headerNames.timeoutMs]: "50",
        expect: "100-continue",
      },
    });
    // The server has received the headers, so its deadline passes before the body ends.
    await once(sentRequest, "continue");
    setTimeout(() => sentRequest.end(), 100);
    const [response] = (await once(sentRequest, "response")) as [http.IncomingMessage];
    response.resume();
    expect([response.statusCode, calls.length]).toEqual([504, 0]);
  });

  test("an RPC server responds to a call while 260 other calls are pending", async () => {
    await withClient([server.url], async (client) => {
      const { release, begun: started } = holdCalls();
      const hold = behaviour;
      behaviour = (call) => (call.requestId === "quick" ? Promise.resolve({}) : hold(call));
      const pendingCalls = Array.from({ length: 260 }, () => client.handOverMessages(request, { caller, timeoutMs: 30_000 }));
      await started;
      await client.handOverMessages(request, { caller, requestId: "quick" });
      release();
      await Promise.all(pendingCalls);
    });
  });

  test("an RPC server completes the calls in flight when it stops", async () => {
    const stopping = await startServer();
    const { release, begun: started } = holdCalls();
    await withClient([stopping.url], async (client) => {
      const response = client.handOverMessages(request, { caller });
      await started;
      const stopped = stopping[Symbol.asyncDispose]();
      release();
      await expect(response).resolves.toBeDefined();
      await stopped;
    });
  });
});

describe("standard clients on the same port", () => {
  /** Signs a new token at each call, because a token is valid for only ten seconds. */
  const freshHeaders = () => ({ [headerNames.caller]: signer.sign(caller, "test"), [headerNames.requestId]: "r2" });

  test.each([
    [
      "Connect over HTTP/1.1 with JSON",
      () => createConnectTransport({ baseUrl: server.url, httpVersion: "1.1", useBinaryFormat: false }),
    ],
    ["Connect over HTTP/2", () => createConnectTransport({ baseUrl: server.url, httpVersion: "2" })],
    ["gRPC", () => createGrpcTransport({ baseUrl: server.url })],
    ["gRPC-Web", () => createGrpcWebTransport({ baseUrl: server.url, httpVersion: "1.1" })],
  ])("a %s client gets the same responses and refusals from an RPC server as createRpcClient", async (_name, transport) => {
    calls = [];
    behaviour = async () => ({});
    const client = createClient(HandOverService, transport());
    await client.handOverMessages(request, { headers: freshHeaders() });
    expect(calls[0]).toMatchObject({ caller, requestId: "r2" });
    behaviour = async () => Promise.reject(refusal);
    await expect(client.handOverMessages(request, { headers: freshHeaders() })).rejects.toMatchObject({
      code: Code.FailedPrecondition,
    });
  });

  test("a client of @grpc/grpc-js gets responses and refusals from an RPC server", async () => {
    const { input, output } = HandOverService.method.handOverMessages;
    const client = new grpc.Client(`127.0.0.1:${server.port}`, grpc.credentials.createInsecure());
    const metadata = new grpc.Metadata();
    for (const [name, value] of Object.entries(freshHeaders())) metadata.set(name, value);
    const deliver = () =>
      new Promise<unknown>((resolve, reject) => {
        client.makeUnaryRequest(
          "/messaging.v1.HandOverService/HandOverMessages",
          (value: typeof request) => Buffer.from(toBinary(input, create(input, value))),
          (bytes) => fromBinary(output, bytes),
          request,
          metadata,
          (error, value) => (error ? reject(error) : resolve(value)),
        );
      });
    behaviour = async () => ({});
    await expect(deliver()).resolves.toMatchObject({ $typeName: "messaging.v1.HandOverMessagesResponse" });
    behaviour = async () => Promise.reject(refusal);
    await expect(deliver()).rejects.toMatchObject({ code: grpc.status.FAILED_PRECONDITION });
    client.close();
  });

  test.each([
    ["Connect over HTTP/1.1", () => createConnectTransport({ baseUrl: server.url, httpVersion: "1.1" })],
    ["Connect over HTTP/2", () => createConnectTransport({ baseUrl: server.url, httpVersion: "2" })],
    ["gRPC", () => createGrpcTransport({ baseUrl: server.url })],
    ["gRPC-Web", () => createGrpcWebTransport({ baseUrl: server.url, httpVersion: "1.1" })],
  ])("a %s client without a token gets unauthenticated from an RPC server", async (_name, transport) => {
    calls = [];
    const client = createClient(HandOverService, transport());
    await expect(client.handOverMessages(request)).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(calls).toHaveLength(0);
  });

  test("the RPC server rejects a call without a token before it receives the body, in each supported protocol", async () => {
    const path = "/messaging.v1.HandOverService/HandOverMessages";
    const session = http2.connect(server.url);
    for (const target of [path, `${path}?`, `${path}?a=b`]) {
      for (const type of ["application/proto", "application/grpc", "application/json"]) {
        const socket = net.connect(server.port, "127.0.0.1");
        // The body is never sent.
        socket.write(`POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: 1000000\r\n\r\n`);
        let received = "";
        for await (const chunk of socket) received += String(chunk);
        expect(received).toMatch(/^HTTP\/1.1 401 .*Connection: close/s);
      }
      const stream = session.request({ ":method": "POST", ":path": target, "content-type": "application/grpc" });
      const [headers] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
      expect(headers[":status"]).toBe(401);
    }
    session.destroy();
  });

  test("the health service returns NOT_SERVING while the service is not ready", async () => {
    const notReady = await createRpcServer({
      services: [],
      host: "127.0.0.1",
      port: 0,
      audience: "test",
      callerKeys,
      logger,
      isReady: async () => false,
    });
    const client = createClient(Health, createGrpcTransport({ baseUrl: notReady.url }));
    expect((await client.check({})).status).toBe(2);
    await notReady[Symbol.asyncDispose]();
  });

  test("the health service removes the listener of a watch that its client has ended", async () => {
    await using running = await startServer();
    const client = createClient(Health, createGrpcTransport({ baseUrl: running.url }));
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => void warnings.push(name);
    process.on("warning", onWarning);
    // Node emits a warning for more than ten listeners.
    for (let i = 0; i < 15; i++) {
      const ended = new AbortController();
      const watching = client.watch({}, { signal: ended.signal })[Symbol.asyncIterator]();
      expect((await watching.next()).value?.status).toBe(1);
      ended.abort();
      await expect(watching.next()).rejects.toMatchObject({ code: Code.Canceled });
      // The server processes the end of the watch before this call.
      await client.check({});
    }
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });

  test("the health service accepts probes without a token, and returns NOT_SERVING before the server closes", async () => {
    const stopping = await startServer();
    const client = createClient(Health, createGrpcTransport({ baseUrl: stopping.url }));
    expect((await client.check({ service: "messaging.v1.HandOverService" })).status).toBe(1);
    await expect(client.check({ service: "nothing.v1.Nothing" })).rejects.toMatchObject({ code: Code.NotFound });
    const states: number[] = [];
    let stopped: PromiseLike<void> | undefined;
    const watching = (async () => {
      for await (const { status } of client.watch({})) {
        states.push(status);
        if (status === 1) stopped = stopping[Symbol.asyncDispose]();
        else break;
      }
    })();
    await watching;
    await stopped;
    expect(states).toEqual([1, 2]);
  });
});

test("requireBusiness and requireAdmin throw a DomainError for a caller with a different role", () => {
  expect(requireBusiness(caller)).toBe("b1");
  expect(() => requireAdmin(caller)).toThrow(DomainError);
  expect(() => requireBusiness(platformCaller)).toThrow(DomainError);
});
