import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ProblemError } from "@amana/client";
import { apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { createServiceProcess } from "@amana/dev-env/service-process";
import grpc from "@grpc/grpc-js";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedSystem } from "../../src/shared-system.ts";
import {
  aBusiness,
  anOrder,
  aPaidPayment,
  readProcessorView,
  type TestBusiness,
  type TestSystem,
} from "../../src/test-system.ts";

let testSystem: TestSystem;
let business: TestBusiness;
let otherBusiness: TestBusiness;

beforeAll(async () => {
  testSystem = sharedSystem();
  [business, otherBusiness] = await Promise.all([aBusiness(testSystem.system), aBusiness(testSystem.system, "Autre")]);
});
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
  await otherBusiness?.receiver[Symbol.asyncDispose]();
});

test("20 parallel refunds of one payment cause one processor call, one response with status 200 and 19 with status 409", async () => {
  const payment = await aPaidPayment(testSystem.system, business);
  const refunds = await Promise.allSettled(Array.from({ length: 20 }, () => business.amana.payments.refund(payment.id)));
  const rejected = refunds.flatMap((refund) => (refund.status === "rejected" ? [refund.reason as ProblemError] : []));
  expect(rejected.map(({ status }) => status)).toEqual(Array(19).fill(409));
  for (const { code } of rejected) expect(["refund_in_progress", "payment_not_refundable"]).toContain(code);
  expect(await readProcessorView(testSystem.system, payment.orderId)).toEqual({ refundedAmount: 500_000, refundCalls: 1 });
  expect(await business.receiver.next("PAYMENT_REFUNDED", payment.id, 90_000)).toBeDefined();
});

test("POST /payments creates one payment for 20 parallel requests with one Idempotency-Key", async () => {
  const idempotencyKey = randomUUID();
  const creations = await Promise.allSettled(
    Array.from({ length: 20 }, () => business.amana.payments.create({ ...anOrder, order_ref: "twenty" }, { idempotencyKey })),
  );
  for (const creation of creations) {
    if (creation.status === "rejected") expect(creation.reason).toMatchObject({ status: 409, code: "idempotency_in_progress" });
  }
  expect((await business.amana.payments.list({ order_ref: "twenty" }).page()).total).toBe(1);
});

test("a webhook endpoint receives test and check events, and a replay delivers the event that the endpoint missed while it was disabled", async () => {
  const replayBusiness = await aBusiness(testSystem.system, "Replays");
  await using receiver = replayBusiness.receiver;
  const { webhookEndpoints, events } = replayBusiness.amana;
  const { endpointId } = replayBusiness;

  const tested = await webhookEndpoints.test(endpointId);
  expect(tested.type).toBe("WEBHOOK_TEST");
  await eventually(async () => {
    const { items } = await events.listDeliveries(tested.id).page();
    expect(items).toMatchObject([{ endpoint_id: endpointId, status: "succeeded", attempts: [{ status_code: 204 }] }]);
  });

  const passedChecks = ["good", "forged_signature", "duplicate", "old_timestamp"].map((name) => ({ name, passed: true }));
  expect(await webhookEndpoints.check(endpointId)).toMatchObject({ checks: passedChecks });

  await webhookEndpoints.update(endpointId, { status: "DISABLED" });
  const since = new Date(Date.now() - 60_000).toISOString();
  const { id } = await aPaidPayment(testSystem.system, replayBusiness);
  await eventually(async () => {
    expect((await events.list({ type: "PAYMENT_COMPLETED" }).page()).total).toBe(1);
  });
  await webhookEndpoints.update(endpointId, { status: "ACTIVE" });
  const startedReplay = await webhookEndpoints.replay(endpointId, { since });
  expect(startedReplay.matched).toBe(1);
  expect(await receiver.next("PAYMENT_COMPLETED", id, 90_000)).toBeDefined();
  await eventually(async () => {
    const replay = await webhookEndpoints.getReplay(endpointId, startedReplay.id);
    expect(replay).toEqual({ id: startedReplay.id, status: "DONE", matched: 1, sent: 1 });
  });
});

test("the webhooks service disables an endpoint that responds with status 410, notifies the business's other endpoints, and adds an audit row", async () => {
  const { call, receiver } = await aBusiness(testSystem.system, "Librairie", ["WEBHOOK_ENDPOINT_DISABLED"]);
  await using _receiver = receiver;
  const goneServer = createServer((_request, response) => response.writeHead(410).end());
  await new Promise<void>((resolve) => goneServer.listen(0, "127.0.0.1", resolve));
  await using _goneServer = {
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void goneServer.close(() => resolve())),
  };
  const url = `http://127.0.0.1:${(goneServer.address() as AddressInfo).port}/`;
  const endpointId = String((await call("POST", "/api/v1/webhook-endpoints", { url })).body["id"]);
  const identity = new Client({ connectionString: testSystem.system.databaseUrls["identity"] });
  await identity.connect();
  await using _identity = { [Symbol.asyncDispose]: () => identity.end() };
  await call("POST", `/api/v1/webhook-endpoints/${endpointId}/test`);

  await eventually(async () => {
    const { body } = await call("GET", `/api/v1/webhook-endpoints/${endpointId}`);
    expect(body).toMatchObject({ status: "DISABLED", health: { success_rate_1h: 0, last_error: "http_410" } });
    expect(receiver.received.map(({ event, body }) => [event, body])).toEqual([
      ["WEBHOOK_ENDPOINT_DISABLED", expect.objectContaining({ endpoint_id: endpointId, url, reason: "GONE" })],
    ]);
    const { rows } = await identity.query(
      "select actor, reason from audit_event where entity_id = $1 and action = 'webhook_endpoint.disabled'",
      [endpointId],
    );
    expect(rows).toEqual([{ actor: "platform", reason: "GONE" }]);
  });
});

describe("ids of another business", () => {
  test("the routes of payments, events and webhook endpoints return the same response for an id of another business as for an unknown id", async () => {
    const payment = await aPaidPayment(testSystem.system, business);
    await business.call("POST", `/api/v1/payments/${payment.id}/refund`);
    const webhook = await eventually(async () => {
      const events = (await business.call("GET", "/api/v1/events?type=PAYMENT_REFUNDED")).body as unknown as { id: string }[];
      expect(events.length).toBeGreaterThan(0);
      return events[0] as { id: string };
    });
    const operations: ["GET" | "POST" | "PATCH" | "DELETE", (id: string) => string, string, object?][] = [
      ["GET", (id) => `/api/v1/payments/${id}`, payment.id],
      ["POST", (id) => `/api/v1/payments/${id}/refund`, payment.id, {}],
      ["GET", (id) => `/api/v1/webhook-endpoints/${id}`, business.endpointId],
      ["PATCH", (id) => `/api/v1/webhook-endpoints/${id}`, business.endpointId, { rotate_secret: true }],
      ["DELETE", (id) => `/api/v1/webhook-endpoints/${id}`, business.endpointId],
      ["POST", (id) => `/api/v1/webhook-endpoints/${id}/test`, business.endpointId, {}],
      ["POST", (id) => `/api/v1/webhook-endpoints/${id}/check`, business.endpointId, {}],
      ["POST", (id) => `/api/v1/webhook-endpoints/${id}/replay`, business.endpointId, { since: "2026-01-01T00:00:00Z" }],
      ["GET", (id) => `/api/v1/events/${id}`, webhook.id],
      ["GET", (id) => `/api/v1/events/${id}/deliveries`, webhook.id],
      ["POST", (id) => `/api/v1/events/${id}/redeliver`, webhook.id, {}],
    ];
    for (const [method, path, id, body] of operations) {
      const foreign = await otherBusiness.call(method, path(id), body);
      const unknown = await otherBusiness.call(method, path(randomUUID()), body);
      const strip = ({ request_id: _r, instance: _i, ...rest }: Record<string, unknown>) => rest;
      expect(foreign.status, `${method} ${path(":id")}`).toBe(404);
      expect(strip(foreign.body)).toEqual(strip(unknown.body));
      expect(JSON.stringify(foreign.body)).not.toContain(id);
    }
    const lists = await Promise.all(["/api/v1/payments", "/api/v1/events"].map((path) => otherBusiness.call("GET", path)));
    for (const { body } of lists) expect(body).toEqual([]);
  });
});

describe("requests with invalid input", () => {
  const amounts: unknown[] = [
    5000,
    "5e3",
    "1e400",
    "1,00",
    "+1",
    " 1 ",
    ".5",
    "5.",
    "٥٠٠٠",
    "1".repeat(40),
    "-1",
    "0",
    "49.99",
    "",
    null,
    true,
    {},
    [],
    "50.001",
    "0x10",
  ];
  test.each(amounts.map((amount) => [JSON.stringify(amount) ?? String(amount), amount]))(
    "POST /payments with the amount %s returns status 422 with an error for /amount",
    async (_text, amount) => {
      const response = await business.call("POST", "/api/v1/payments", { ...anOrder, amount: amount as string });
      expect(response.status).toBe(422);
      expect(JSON.stringify(response.body["errors"])).toContain('"/amount"');
    },
  );

  const urls = [
    "",
    "nowhere",
    "javascript:alert(1)",
    "ftp://shop.example",
    "http://shop.example",
    "https://a:b@shop.example",
    `https://shop.example/${"x".repeat(2048)}`,
    "https://shop.example/\r\nx: y",
    7,
    null,
  ];
  test.each(urls.map((url) => [String(url).slice(0, 40), url]))(
    "POST /payments with the success_url %j returns status 422 with an error for /success_url",
    async (_text, url) => {
      const response = await business.call("POST", "/api/v1/payments", { ...anOrder, success_url: url as string });
      expect(response.status).toBe(422);
      expect(JSON.stringify(response.body["errors"])).toContain('"/success_url"');
    },
  );

  test("POST /payments stores no payment if the body has a numeric amount or an unknown field", async () => {
    const totalBefore = (await business.call("GET", "/api/v1/payments")).headers["x-total-count"];
    await business.call("POST", "/api/v1/payments", { ...anOrder, amount: 5000 as unknown as string });
    await business.call("POST", "/api/v1/payments", { ...anOrder, unknown_field: true });
    expect((await business.call("GET", "/api/v1/payments")).headers["x-total-count"]).toBe(totalBefore);
  });

  test("a refund with an invalid amount returns status 422 with an error for /amount, and the payment stays PAID", async () => {
    const payment = await aPaidPayment(testSystem.system, business);
    for (const amount of [5000, "abc", "0", "0.00", "5000.01", "999999999999999", "-1", "1.234", null]) {
      const response = await business.call("POST", `/api/v1/payments/${payment.id}/refund`, { amount: amount as string });
      expect(response.status, String(amount)).toBe(422);
      expect(JSON.stringify(response.body["errors"])).toContain('"/amount"');
    }
    expect((await business.call("GET", `/api/v1/payments/${payment.id}`)).body["status"]).toBe("PAID");
    expect((await readProcessorView(testSystem.system, payment.orderId)).refundCalls).toBe(0);
  });

  test.each([
    ["GET", "/api/v1/payments/%00"],
    ["GET", "/api/v1/payments/not-a-uuid"],
    ["GET", `/api/v1/payments/${"a".repeat(3000)}`],
    ["GET", "/api/v1/payments/..%2f..%2fetc"],
    ["POST", "/api/v1/payments/1/refund"],
    ["GET", "/api/v1/webhook-endpoints/'%20or%201=1"],
    ["GET", "/api/v1/nothing"],
  ] as const)("the gateway returns status 404 for %s %s", async (method, path) => {
    expect((await business.call(method, path, method === "POST" ? {} : undefined)).status).toBe(404);
  });

  test.each([
    "limit=0",
    "limit=101",
    "limit=-1",
    "limit=1e2",
    "limit=",
    "offset=-1",
    "offset=x",
    "status=PAYED",
    "created_from=yesterday",
    "created_to=2026-02-30T00:00:00Z",
    "limit=1&limit=2",
  ])("GET /payments returns status 422 for the query %s", async (query) => {
    expect((await business.call("GET", `/api/v1/payments?${query}`)).status).toBe(422);
  });
});

describe("a gRPC client", () => {
  const call = (port: number, method: string, metadata = new grpc.Metadata()) =>
    new Promise<Buffer>((resolve, reject) => {
      const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
      client.makeUnaryRequest(
        method,
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
        Buffer.alloc(0),
        metadata,
        { deadline: Date.now() + 10_000 },
        (error, response) => {
          client.close();
          if (error) reject(error);
          else resolve(response as Buffer);
        },
      );
    });
  const portOf = (name: "identity" | "payments" | "webhooks") => Number(testSystem.system.rpcPorts[name]);

  test.each(["identity", "payments", "webhooks"] as const)(
    "the service %s returns the health status SERVING to a gRPC client",
    async (name) => {
      // The bytes encode HealthCheckResponse { status: SERVING } as field 1 with the varint 1.
      expect([...(await call(portOf(name), "/grpc.health.v1.Health/Check"))]).toEqual([8, 1]);
    },
  );

  test("the payments service returns UNAUTHENTICATED to a gRPC client that sends no caller token", async () => {
    await expect(call(portOf("payments"), "/payments.v1.PaymentService/ListPayments")).rejects.toMatchObject({
      code: grpc.status.UNAUTHENTICATED,
    });
  });
});

describe("key leases", () => {
  test("the gateways reject an API key after identity has confirmed its revocation, under load and with two identity replicas", async () => {
    const { system } = testSystem;
    await using stack = new AsyncDisposableStack();
    const [identityPort, gatewayPort] = await Promise.all([freePort(), freePort()]);
    const secondIdentity = createServiceProcess({
      name: "identity",
      env: { ...system.envOf("identity"), RPC_PORT: String(identityPort) },
      port: identityPort,
      logDir: system.logDir,
      supervised: false,
      onCrash: () => {},
    });
    await secondIdentity.start();
    stack.defer(() => secondIdentity.stop());
    const secondGateway = createServiceProcess({
      name: "gateway",
      env: {
        ...system.envOf("gateway"),
        PORT: String(gatewayPort),
        IDENTITY_URLS: `${system.envOf("gateway")["IDENTITY_URLS"]},http://127.0.0.1:${identityPort}`,
      },
      port: gatewayPort,
      logDir: system.logDir,
      supervised: false,
      onCrash: () => {},
    });
    await secondGateway.start();
    stack.defer(() => secondGateway.stop());
    const gateways = [system.gatewayUrl, `http://127.0.0.1:${gatewayPort}`];
    await eventually(async () =>
      expect((await apiCaller(gateways[1] as string, business.key)("GET", "/api/v1/me")).status).toBe(200),
    );
    const operator = apiCaller(system.gatewayUrl, system.adminKey);

    for (const method of ["revoke", "rotate", "disable"] as const) {
      const created = await operator("POST", "/api/v1/businesses", { name: `Leased ${method}` });
      const businessId = String(created.body["id"]);
      const issued = await operator("POST", "/api/v1/admin/api-keys", { business_id: businessId, name: "till" });
      const key = String(issued.body["api_key"]);
      let revokedAtMs = Number.POSITIVE_INFINITY;
      const lateAcceptances: string[] = [];
      let acceptedCount = 0;
      let isOver = false;
      const callers = gateways.flatMap((url) =>
        Array.from({ length: 4 }, async () => {
          const call = apiCaller(url, key);
          while (!isOver) {
            const sentAtMs = performance.now();
            const { status } = await call("GET", "/api/v1/me");
            if (status === 200) acceptedCount++;
            if (status === 200 && sentAtMs > revokedAtMs)
              lateAcceptances.push(`${url} accepted the key ${sentAtMs - revokedAtMs} ms after the response to the revocation`);
          }
        }),
      );
      await eventually(() => expect(acceptedCount).toBeGreaterThan(50));
      const response =
        method === "revoke"
          ? await operator("POST", `/api/v1/admin/api-keys/${issued.body["id"]}/revoke`)
          : method === "rotate"
            ? await apiCaller(gateways[1] as string, key)("PATCH", "/api/v1/me", { rotate_api_key: true })
            : await operator("PATCH", `/api/v1/businesses/${businessId}`, { status: "DISABLED" });
      revokedAtMs = performance.now();
      expect(response.status, JSON.stringify(response.body)).toBe(200);
      const responsesAfter = await Promise.all(gateways.map((url) => apiCaller(url, key)("GET", "/api/v1/me")));
      isOver = true;
      await Promise.all(callers);
      expect(lateAcceptances).toEqual([]);
      for (const { status, body } of responsesAfter) {
        expect(status).toBe(401);
        expect(body["code"]).toBe(method === "disable" ? "business_disabled" : "api_key_revoked");
      }
    }
  });
});

test("the gateway returns status 503 with Retry-After for a stopped service until the service has started again", async () => {
  const { system } = testSystem;
  await system.services.payments.stop();
  try {
    const unavailable = await business.call("GET", `/api/v1/payments/${randomUUID()}`);
    expect(unavailable.status).toBe(503);
    expect(unavailable.headers["retry-after"]).toBeDefined();
  } finally {
    await system.services.payments.start();
    await system.waitUntilReady();
  }
  expect((await business.call("GET", `/api/v1/payments/${randomUUID()}`)).status).toBe(404);
});
