import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { DeliveryFailure, DeliveryStatus } from "@amana/contracts/webhooks/v1/event_pb";
import { WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { WebhookCheckName } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { WebhookReplayStatus } from "@amana/contracts/webhooks/v1/webhook_replay_pb";
import { eventTypeNames, eventTypes } from "@amana/public-api";
import { DomainError } from "@amana/rpc";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.received.length = 0;
});

const id = "019a0000-0000-7000-8000-000000000001";
const url = "https://shop.example/hooks";
const at = 1_795_170_000_000n;
const atText = "2026-11-20T10:20:00.000Z";
const anEndpoint = (fields: object = {}) => ({
  id,
  businessId: gateway.business.businessId,
  url,
  status: WebhookEndpointStatus.ACTIVE,
  createdAtMs: at,
  updatedAtMs: at,
  events: [],
  ...fields,
});
const expectedJson = () => ({
  id,
  business_id: gateway.business.businessId,
  url,
  status: "ACTIVE",
  events: eventTypeNames.filter((name) => !eventTypes[name].optIn),
});

const send = (method: "GET" | "POST" | "PATCH" | "DELETE", path: string, payload?: object) =>
  gateway.app.inject({
    method,
    url: `/api/v1${path}`,
    headers: gateway.business.headers,
    ...(payload === undefined ? {} : { payload }),
  });

describe("/webhook-endpoints", () => {
  test("POST /webhook-endpoints returns 201 with the secret", async () => {
    gateway.behaviour.webhookEndpoints.createWebhookEndpoint = async () => anEndpoint({ secret: "whsec_x" });
    const response = await send("POST", "/webhook-endpoints", { url, events: ["PAYMENT_REFUNDED"] });
    expect([response.statusCode, response.headers["location"]]).toEqual([201, `/api/v1/webhook-endpoints/${id}`]);
    expect(response.json()).toEqual({ ...expectedJson(), created_at: atText, secret: "whsec_x" });
    expect(gateway.received[0]?.request).toMatchObject({ url, events: ["PAYMENT_REFUNDED"] });
  });

  test.each([
    [{}, "/url"],
    [{ url: 7 }, "/url"],
    [{ url: null }, "/url"],
    [{ url: "" }, "/url"],
    [{ url: `https://shop.example/${"a".repeat(8_192)}` }, "/url"],
    [{ url, events: null }, "/events"],
    [{ url, events: "PAYMENT_REFUNDED" }, "/events"],
    [{ url, events: ["NOTHING"] }, "/events"],
    [{ url, events: ["PAYMENT_REFUNDED", "PAYMENT_REFUNDED"] }, "/events"],
    [{ url, events: [null] }, "/events"],
    [{ url, secret: "whsec_mine" }, "/secret"],
    [{ url, status: "DISABLED" }, "/status"],
  ])("POST /webhook-endpoints rejects the body %j", async (payload, pointer) => {
    const response = await send("POST", "/webhook-endpoints", payload);
    expect(response.statusCode).toBe(422);
    expect(response.json().errors).toEqual([expect.objectContaining({ pointer })]);
    expect(gateway.received).toEqual([]);
  });

  test("GET /webhook-endpoints and /webhook-endpoints/{id} return no secrets", async () => {
    gateway.behaviour.webhookEndpoints.getWebhookEndpoint = async () => anEndpoint({ secret: "whsec_x" });
    gateway.behaviour.webhookEndpoints.listWebhookEndpoints = async () => ({
      webhookEndpoints: [anEndpoint({ secret: "whsec_x", status: WebhookEndpointStatus.DISABLED })],
      total: 1,
    });
    const expected = { ...expectedJson(), created_at: atText, updated_at: atText };
    expect((await send("GET", `/webhook-endpoints/${id}`)).json()).toEqual(expected);
    const list = await send("GET", "/webhook-endpoints");
    expect(list.json()).toEqual([{ ...expected, status: "DISABLED" }]);
    expect(list.headers["x-total-count"]).toBe("1");
  });

  test("GET /webhook-endpoints/{id} returns the endpoint's health without absent values, and GET /webhook-endpoints returns no health", async () => {
    const health = { failingSinceMs: at, successRate1h: 0, successRate24h: 0.25, lastError: "timeout", p95Ms24h: 9_800 };
    const healthJson = async (fields: object) => {
      gateway.behaviour.webhookEndpoints.getWebhookEndpoint = async () => anEndpoint({ health: fields });
      return (await send("GET", `/webhook-endpoints/${id}`)).json().health;
    };
    const healthFields = { success_rate_1h: 0, success_rate_24h: 0.25, last_error: "timeout", p95_ms_24h: 9_800 };
    expect(await healthJson(health)).toEqual({ failing_since: atText, ...healthFields });
    expect(await healthJson({})).toEqual({});
    gateway.behaviour.webhookEndpoints.listWebhookEndpoints = async () => ({
      webhookEndpoints: [anEndpoint({ health })],
      total: 1,
    });
    gateway.behaviour.webhookEndpoints.updateWebhookEndpoint = async () => anEndpoint({ health });
    expect((await send("GET", "/webhook-endpoints")).json()[0]).not.toHaveProperty("health");
    expect((await send("PATCH", `/webhook-endpoints/${id}`, {})).json()).not.toHaveProperty("health");
    expect((await send("PATCH", `/webhook-endpoints/${id}`, { health: {} })).json().code).toBe("immutable_field");
  });

  test("PATCH /webhook-endpoints/{id} returns the changed endpoint, and the secret only after a rotation", async () => {
    gateway.behaviour.webhookEndpoints.updateWebhookEndpoint = async ({ rotateSecret }) =>
      anEndpoint(rotateSecret ? { secret: "whsec_new" } : {});
    const update = { ...expectedJson(), updated_at: atText };
    expect((await send("PATCH", `/webhook-endpoints/${id}`, {})).json()).toEqual(update);
    expect(gateway.received[0]?.request).toMatchObject({ id, rotateSecret: false, status: 0 });
    expect(gateway.received[0]?.request).not.toHaveProperty("events");
    const rotated = await send("PATCH", `/webhook-endpoints/${id}`, { rotate_secret: true, status: "DISABLED", events: [] });
    expect(rotated.json()).toEqual({ ...update, secret: "whsec_new" });
    expect(gateway.received[1]?.request).toMatchObject({
      rotateSecret: true,
      status: WebhookEndpointStatus.DISABLED,
      events: { types: [] },
    });
  });

  test("PATCH /webhook-endpoints/{id} accepts a rotation with activate_in_seconds from 0 to one day", async () => {
    gateway.behaviour.webhookEndpoints.updateWebhookEndpoint = async () => anEndpoint({ secret: "whsec_new" });
    for (const seconds of [0, 86_400]) {
      const response = await send("PATCH", `/webhook-endpoints/${id}`, { rotate_secret: true, activate_in_seconds: seconds });
      expect([response.statusCode, response.json().secret]).toEqual([200, "whsec_new"]);
      expect(gateway.received.at(-1)?.request).toMatchObject({ rotateSecret: true, activateInSeconds: seconds });
    }
  });

  test.each([
    { rotate_secret: true, activate_in_seconds: -1 },
    { rotate_secret: true, activate_in_seconds: 86_401 },
    { rotate_secret: true, activate_in_seconds: 0.5 },
    { rotate_secret: true, activate_in_seconds: "60" },
    { rotate_secret: true, activate_in_seconds: null },
    { activate_in_seconds: 60 },
    { activate_in_seconds: 0, rotate_secret: false },
  ])("PATCH /webhook-endpoints/{id} rejects activate_in_seconds in the body %j", async (payload) => {
    const response = await send("PATCH", `/webhook-endpoints/${id}`, payload);
    expect([response.statusCode, response.json().errors]).toMatchObject([422, [{ pointer: "/activate_in_seconds" }]]);
    expect(gateway.received).toEqual([]);
  });

  test.each([
    [{ secret: "x" }, "immutable_field"],
    [{ url: null }, "validation_failed"],
    [{ events: [null] }, "validation_failed"],
    [{ events: ["KYC_COMPLETED", "KYC_COMPLETED"] }, "validation_failed"],
  ])("PATCH /webhook-endpoints/{id} with the body %j returns 422 with the code %s", async (payload, code) => {
    const response = await send("PATCH", `/webhook-endpoints/${id}`, payload);
    expect([response.statusCode, response.json().code]).toEqual([422, code]);
  });

  test.each([null, []])("PATCH /webhook-endpoints/{id} with events = %j restores the default event types", async (events) => {
    gateway.behaviour.webhookEndpoints.updateWebhookEndpoint = async () => anEndpoint();
    const response = await send("PATCH", `/webhook-endpoints/${id}`, { events });
    expect(response.statusCode).toBe(200);
    expect(gateway.received[0]?.request).toMatchObject({ events: { types: [] } });
  });

  test("DELETE /webhook-endpoints/{id} returns 204 without a body", async () => {
    gateway.behaviour.webhookEndpoints.deleteWebhookEndpoint = async () => ({});
    const response = await send("DELETE", `/webhook-endpoints/${id}`);
    expect([response.statusCode, response.body, response.headers["content-type"]]).toEqual([204, "", undefined]);
  });

  test.each([{ id: "019a0000-0000-7000-8000-000000000002" }, { id: null }, { url }, { cleared: ["url"] }])(
    "DELETE /webhook-endpoints/{id} uses the id of the path and ignores the body %j",
    async (body) => {
      gateway.behaviour.webhookEndpoints.deleteWebhookEndpoint = async () => ({});
      const response = await send("DELETE", `/webhook-endpoints/${id}`, body);
      expect([response.statusCode, gateway.received.map(({ request }) => request)]).toMatchObject([204, [{ id }]]);
    },
  );

  test.each([
    ["url_invalid", "shop.example"],
    ["url_not_https", "http://shop.example/"],
    ["url_has_credentials", "https://a:b@shop.example/"],
    ["url_has_fragment", "https://shop.example/#part"],
    ["url_too_long", `https://shop.example/${"a".repeat(2_048)}`],
    ["url_not_public", "https://10.0.0.1/"],
  ])("POST and PATCH /webhook-endpoints return the refusal %s of the webhooks service unchanged", async (code, rejectedUrl) => {
    const refuse = async () => {
      throw new DomainError("invalid", code, "The URL is invalid.", { pointer: "/url" });
    };
    gateway.behaviour.webhookEndpoints.createWebhookEndpoint = refuse;
    gateway.behaviour.webhookEndpoints.updateWebhookEndpoint = refuse;
    const created = await send("POST", "/webhook-endpoints", { url: rejectedUrl });
    const changed = await send("PATCH", `/webhook-endpoints/${id}`, { url: rejectedUrl });
    for (const response of [created, changed]) {
      expect(response.json()).toMatchObject({
        status: 422,
        code,
        errors: [{ pointer: "/url", code, message: "The URL is invalid." }],
      });
    }
    expect(gateway.received.map(({ request }) => request)).toMatchObject([{ url: rejectedUrl }, { url: rejectedUrl }]);
  });
});

test("POST /webhook-endpoints/{id}/test returns the event, its signed body, and the delivery", async () => {
  const body = `{"id":"${id}","event":"WEBHOOK_TEST"}`;
  gateway.behaviour.webhookEndpoints.testWebhookEndpoint = async () => ({
    event: { id, type: "WEBHOOK_TEST", createdAtMs: at, body },
    delivery: { id, endpointId: id, status: DeliveryStatus.PENDING, nextAttemptAtMs: at, attempts: [] },
  });
  const response = await send("POST", `/webhook-endpoints/${id}/test`);
  const delivery = { id, endpoint_id: id, status: "pending", next_attempt_at: atText, attempts: [] };
  const head = `{"id":"${id}","type":"WEBHOOK_TEST","created_at":"${atText}"`;
  expect([response.statusCode, response.body]).toEqual([200, `${head},"body":${body},"delivery":${JSON.stringify(delivery)}}`]);
  expect(gateway.received[0]?.request).toMatchObject({ id });
  expect((await send("POST", `/webhook-endpoints/${id}/test`, { types: [] })).statusCode).toBe(422);
});

test("POST /webhook-endpoints/{id}/check returns the check results in the same order as the webhooks service", async () => {
  gateway.behaviour.webhookEndpoints.checkWebhookEndpoint = async () => ({
    checks: [
      { name: WebhookCheckName.GOOD, passed: true, detail: "responded with 204 in 35 ms" },
      {
        name: WebhookCheckName.FORGED_SIGNATURE,
        passed: false,
        detail: "responded with 204 in 35 ms. It accepts forged events.",
      },
      { name: WebhookCheckName.DUPLICATE, passed: true, detail: "responded with 204 in 35 ms" },
      { name: WebhookCheckName.OLD_TIMESTAMP, passed: true, detail: "responded with 400 in 35 ms" },
    ],
  });
  const response = await send("POST", `/webhook-endpoints/${id}/check`);
  expect([response.statusCode, response.json()]).toEqual([
    200,
    {
      checks: [
        { name: "good", passed: true, detail: "responded with 204 in 35 ms" },
        { name: "forged_signature", passed: false, detail: "responded with 204 in 35 ms. It accepts forged events." },
        { name: "duplicate", passed: true, detail: "responded with 204 in 35 ms" },
        { name: "old_timestamp", passed: true, detail: "responded with 400 in 35 ms" },
      ],
    },
  ]);
});

describe("/webhook-endpoints/{id}/replay", () => {
  const replayId = "019a0000-0000-7000-8000-000000000002";
  const replayJson = { id: replayId, status: "RUNNING", matched: 3, sent: 1 };
  const since = "2026-11-20T10:00:00Z";
  beforeEach(() => {
    const aReplay = async () => ({ id: replayId, status: WebhookReplayStatus.RUNNING, matched: 3, sent: 1 });
    gateway.behaviour.webhookEndpoints.replayWebhookEndpoint = aReplay;
    gateway.behaviour.webhookEndpoints.getWebhookReplay = aReplay;
  });

  test("POST /webhook-endpoints/{id}/replay returns 202 with the Location of the replay", async () => {
    const body = { since, until: "2026-11-21T10:00:00Z", types: ["WEBHOOK_TEST"], statuses: ["skipped", "pending"] };
    const started = await send("POST", `/webhook-endpoints/${id}/replay`, body);
    const location = `/api/v1/webhook-endpoints/${id}/replays/${replayId}`;
    expect([started.statusCode, started.headers["location"], started.json()]).toEqual([202, location, replayJson]);
    const read = await send("GET", location.replace("/api/v1", ""));
    expect([read.statusCode, read.json()]).toEqual([200, replayJson]);
    expect(gateway.received.map(({ request }) => request)).toMatchObject([
      {
        id,
        sinceMs: BigInt(Date.parse(since)),
        untilMs: BigInt(Date.parse(body.until)),
        types: ["WEBHOOK_TEST"],
        statuses: [DeliveryStatus.SKIPPED, DeliveryStatus.PENDING],
      },
      { id, replayId },
    ]);
  });

  test("POST /webhook-endpoints/{id}/replay sends no types, statuses or end time if the body contains only the field `since`", async () => {
    expect((await send("POST", `/webhook-endpoints/${id}/replay`, { since })).statusCode).toBe(202);
    expect(gateway.received[0]?.request).toMatchObject({ types: [], statuses: [] });
    expect(gateway.received[0]?.request).not.toHaveProperty("untilMs");
  });

  test.each([
    [{}, "/since"],
    [{ since: "yesterday" }, "/since"],
    [{ since, until: null }, "/until"],
    [{ since, types: [] }, "/types"],
    [{ since, types: ["NOTHING"] }, "/types"],
    [{ since, statuses: ["FAILED"] }, "/statuses"],
    [{ since, statuses: ["failed", "failed"] }, "/statuses"],
    [{ since, status: "failed" }, "/status"],
  ])("POST /webhook-endpoints/{id}/replay rejects the body %j", async (payload, pointer) => {
    const response = await send("POST", `/webhook-endpoints/${id}/replay`, payload);
    expect([response.statusCode, response.json().errors]).toEqual([422, [expect.objectContaining({ pointer })]]);
    expect(gateway.received).toEqual([]);
  });

  test("GET /webhook-endpoints/{id}/replays/{replay_id} returns 404 for a malformed id", async () => {
    for (const path of [`/webhook-endpoints/x/replays/${replayId}`, `/webhook-endpoints/${id}/replays/x`]) {
      expect((await send("GET", path)).statusCode).toBe(404);
    }
    expect(gateway.received).toEqual([]);
  });
});

describe("allowInsecureUrls", () => {
  test("POST /payments with allowInsecureUrls accepts an http success_url only on loopback", async () => {
    await using sandbox = await startTestGateway({ allowInsecureUrls: true });
    sandbox.behaviour.payments.createPayment = async () => ({ id, currency: "DZD", status: PaymentStatus.PENDING });
    const post = (path: string, payload: object) =>
      sandbox.app.inject({ method: "POST", url: `/api/v1${path}`, headers: sandbox.business.headers, payload });
    for (const [host, status] of [
      ["127.0.0.1:8090", 201],
      ["localhost", 201],
      ["[::1]:80", 201],
      ["shop.example", 422],
      ["0.0.0.0", 422],
      ["127.0.0.1.example", 422],
    ] as const) {
      const payload = { amount: "100.00", success_url: `http://${host}/`, fail_url: "https://shop.example/" };
      expect([host, (await post("/payments", payload)).statusCode]).toEqual([host, status]);
    }
  });
});

describe("/events", () => {
  const body = '{"id":"e","n":12345678901234567890,"f":1.10,"t":"\\u00e9","order_ref":"commande-é-1"}';
  const anEvent = { id, type: "PAYMENT_REFUNDED", createdAtMs: at, body };

  test("GET /events/{id} and GET /events return the body of an event byte for byte", async () => {
    gateway.behaviour.events.getEvent = async () => anEvent;
    gateway.behaviour.events.listEvents = async () => ({ events: [anEvent, anEvent], total: 2 });
    const head = `{"id":"${id}","type":"PAYMENT_REFUNDED","created_at":"${atText}"`;
    const eventResponse = await send("GET", `/events/${id}`);
    expect([eventResponse.statusCode, eventResponse.body]).toEqual([200, `${head},"body":${body}}`]);
    expect(eventResponse.headers["content-type"]).toBe("application/json; charset=utf-8");
    const list = await send("GET", "/events?type=PAYMENT_REFUNDED&from=2026-11-20T10:00:00Z&to=2026-11-21T10:00:00Z");
    expect(list.body).toBe(`[${head},"body":${body}},${head},"body":${body}}]`);
    expect(list.headers["x-total-count"]).toBe("2");
    expect(gateway.received[1]?.request).toMatchObject({
      type: "PAYMENT_REFUNDED",
      fromMs: BigInt(Date.parse("2026-11-20T10:00:00Z")),
      toMs: BigInt(Date.parse("2026-11-21T10:00:00Z")),
    });
  });

  test("GET /events returns 422 for an unknown event type in the filter", async () => {
    expect((await send("GET", "/events?type=NOTHING")).json()).toMatchObject({ status: 422, errors: [{ parameter: "type" }] });
  });

  test("GET /events/{id}/deliveries returns the attempts, and POST /events/{id}/redeliver redelivers the event", async () => {
    const deliveries = [
      {
        id,
        endpointId: id,
        status: DeliveryStatus.PENDING,
        nextAttemptAtMs: at,
        attempts: [
          { atMs: at, statusCode: 500, durationMs: 12, response: "oops" },
          { atMs: at, durationMs: 10_000, error: "timed out after 10 s" },
          { atMs: at, durationMs: 10_000, error: "timed out after 10 s", failure: DeliveryFailure.TIMEOUT },
        ],
      },
    ];
    gateway.behaviour.events.listDeliveries = async () => ({ deliveries, total: 1 });
    gateway.behaviour.events.redeliverEvent = async () => ({ deliveries, total: 1 });
    const expected = [
      {
        id,
        endpoint_id: id,
        status: "pending",
        next_attempt_at: atText,
        attempts: [
          { at: atText, status_code: 500, duration_ms: 12, response: "oops" },
          { at: atText, duration_ms: 10_000, detail: "timed out after 10 s" },
          { at: atText, duration_ms: 10_000, error: "timeout", detail: "timed out after 10 s" },
        ],
      },
    ];
    expect((await send("GET", `/events/${id}/deliveries`)).json()).toEqual(expected);
    for (const payload of [undefined, {}, { endpoint_id: id }]) {
      const response = await send("POST", `/events/${id}/redeliver`, payload);
      expect([response.statusCode, response.json()]).toEqual([200, expected]);
    }
    expect(gateway.received.at(-1)?.request).toMatchObject({ eventId: id, endpointId: id });
    expect((await send("POST", `/events/${id}/redeliver`, { endpoint_id: "x" })).statusCode).toBe(422);
  });
});
