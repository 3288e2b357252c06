import { ActionRecordedSchema } from "@amana/contracts/identity/v1/audit_events_pb";
import { DeliveryStatus } from "@amana/contracts/webhooks/v1/event_pb";
import { WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { aBusinessCaller, forAllTenants } from "@amana/testing";
import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aPaymentEvent } from "../../test/a-payment-event.ts";
import { type Harness, startHarness, startReceiver } from "../../test/harness.ts";
import * as disabling from "./disable-endpoints.ts";

const disableEndpoints = forAllTenants(disabling.disableEndpoints);

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const type = "WEBHOOK_ENDPOINT_DISABLED";
const page = { limit: 50, offset: 0 };
type Caller = ReturnType<typeof aBusinessCaller>;

const create = (url: string, caller: Caller, events: string[] = []) =>
  harness.endpoints.createWebhookEndpoint({ url, events }, { caller });
const eventsOf = async (caller: Caller) => (await harness.events.listEvents({ ...page, type }, { caller })).events;
const auditOf = async (endpointId: string) => {
  const rows = await harness.sql<{ payload: Buffer }>("select payload from outbox where topic = 'audit.v1' and key = ?", [
    endpointId,
  ]);
  const actions = rows.map(({ payload }) => fromBinary(ActionRecordedSchema, payload));
  return actions.filter(({ action }) => action === "webhook_endpoint.disabled");
};
async function deliver(caller: Caller): Promise<void> {
  await harness.publish(aPaymentEvent(caller));
  await harness.waitUntilIdle();
}

test("the webhooks service disables an endpoint after status 410, writes an audit entry, and notifies the business's subscribed endpoints with an event", async () => {
  await using goneReceiver = await startReceiver((response) => response.writeHead(410).end());
  await using subscribedReceiver = await startReceiver();
  await using otherReceiver = await startReceiver();
  const [caller, otherBusiness] = [aBusinessCaller(), aBusinessCaller()];
  const { id, url } = await create(goneReceiver.url, caller, ["PAYMENT_REFUNDED", type]);
  const subscribed = await create(subscribedReceiver.url, caller, [type]);
  const disabled = await create(otherReceiver.url, caller, [type]);
  await harness.endpoints.updateWebhookEndpoint({ id: disabled.id, status: WebhookEndpointStatus.DISABLED }, { caller });
  await create(otherReceiver.url, caller, ["KYC_COMPLETED"]);
  await create(otherReceiver.url, otherBusiness, [type]);
  await deliver(caller);

  const [event, ...more] = await eventsOf(caller);
  expect(more).toEqual([]);
  const body = { id: event?.id, event: type, occurred_at: expect.any(String), business_id: caller.businessId };
  expect(JSON.parse(event?.body ?? "")).toEqual({ ...body, endpoint_id: id, url, reason: "GONE" });
  expect(subscribedReceiver.requests.map((request) => request.body.toString())).toEqual([event?.body]);
  expect([goneReceiver.requests.length, otherReceiver.requests.length]).toEqual([1, 0]);
  const { deliveries } = await harness.events.listDeliveries({ eventId: event?.id as string, ...page }, { caller });
  expect(new Map(deliveries.map(({ endpointId, status }) => [endpointId, status]))).toEqual(
    new Map([
      [subscribed.id, DeliveryStatus.SUCCEEDED],
      [disabled.id, DeliveryStatus.SKIPPED],
    ]),
  );
  expect(await eventsOf(otherBusiness)).toEqual([]);
  expect(await auditOf(id)).toMatchObject([
    {
      actor: "platform",
      action: "webhook_endpoint.disabled",
      entityType: "webhook_endpoint",
      businessId: caller.businessId,
      before: { fields: { status: "ACTIVE" } },
      after: { fields: { status: "DISABLED" } },
      reason: "GONE",
    },
  ]);
  const read = await harness.endpoints.getWebhookEndpoint({ id }, { caller });
  expect(read).toMatchObject({ status: WebhookEndpointStatus.DISABLED, health: { lastError: "http_410" } });
});

test("the webhooks service disables an endpoint once, with the reason FAILING, if the endpoint's attempts have failed for five days", async () => {
  await using failingReceiver = await startReceiver((response) => response.writeHead(500).end());
  const caller = aBusinessCaller();
  const { id } = await create(failingReceiver.url, caller);
  await harness.sql("update webhook_endpoint set failing_since = now() - interval '121 hours' where id = ?", [id]);
  await deliver(caller);
  expect((await eventsOf(caller)).map(({ body }) => JSON.parse(body))).toMatchObject([{ endpoint_id: id, reason: "FAILING" }]);
  expect(await auditOf(id)).toMatchObject([{ reason: "FAILING" }]);
});

const readUpdatedAt = async (id: string) => {
  const [row] = await harness.sql<{ at: string }>("select updated_at::text as at from webhook_endpoint where id = ?", [id]);
  return row?.at ?? "";
};

test.each<[string, { url?: string; events?: { types: string[] }; rotateSecret?: boolean }]>([
  ["the URL", { url: "http://127.0.0.1:9/changed" }],
  ["the event types", { events: { types: ["KYC_COMPLETED"] } }],
  ["the secret", { rotateSecret: true }],
])(
  "disableEndpoints ignores a response with status 410 if the business has changed %s since the attempt began",
  async (_name, change) => {
    const caller = aBusinessCaller();
    const { id } = await create("http://127.0.0.1:9/", caller);
    const updatedAt = await readUpdatedAt(id);
    await harness.endpoints.updateWebhookEndpoint({ id, ...change }, { caller });
    await disableEndpoints(harness.context, [{ id, reason: "GONE", updated_at: updatedAt }]);
    expect((await harness.endpoints.getWebhookEndpoint({ id }, { caller })).status).toBe(WebhookEndpointStatus.ACTIVE);
    await disableEndpoints(harness.context, [{ id, reason: "GONE", updated_at: await readUpdatedAt(id) }]);
    expect((await harness.endpoints.getWebhookEndpoint({ id }, { caller })).status).toBe(WebhookEndpointStatus.DISABLED);
  },
);

test("disableEndpoints ignores a request whose reason no longer applies, and disables an endpoint once for five concurrent requests", async () => {
  const caller = aBusinessCaller();
  const { id } = await create("http://127.0.0.1:9/", caller);
  const outdated: disabling.DisableRequest = { id, reason: "GONE", updated_at: await readUpdatedAt(id) };
  const disable = (request: disabling.DisableRequest) => disableEndpoints(harness.context, [request]);
  for (const status of [WebhookEndpointStatus.DISABLED, WebhookEndpointStatus.ACTIVE]) {
    await harness.endpoints.updateWebhookEndpoint({ id, status }, { caller });
  }
  await disable(outdated);
  await disable({ id, reason: "FAILING" });
  await harness.sql("update webhook_endpoint set failing_since = now() - interval '119 hours' where id = ?", [id]);
  await disable({ id, reason: "FAILING" });
  expect([await eventsOf(caller), await auditOf(id)]).toEqual([[], []]);
  expect((await harness.endpoints.getWebhookEndpoint({ id }, { caller })).status).toBe(WebhookEndpointStatus.ACTIVE);

  const current: disabling.DisableRequest = { ...outdated, updated_at: await readUpdatedAt(id) };
  await Promise.all(Array.from({ length: 5 }, () => disable(current)));
  expect([(await eventsOf(caller)).length, (await auditOf(id)).length]).toEqual([1, 1]);
  expect((await harness.endpoints.getWebhookEndpoint({ id }, { caller })).status).toBe(WebhookEndpointStatus.DISABLED);
});

test("disableEndpoints keeps an endpoint ACTIVE and writes no audit entry if it cannot insert the event", async () => {
  const caller = aBusinessCaller();
  const { id } = await create("http://127.0.0.1:9/", caller);
  const request: disabling.DisableRequest = { id, reason: "GONE", updated_at: await readUpdatedAt(id) };
  await harness.sql("alter table event add constraint refuse check (type <> 'WEBHOOK_ENDPOINT_DISABLED') not valid");
  await expect(disableEndpoints(harness.context, [request])).rejects.toThrow("refuse");
  await harness.sql("alter table event drop constraint refuse");
  expect(await auditOf(id)).toEqual([]);
  expect((await harness.endpoints.getWebhookEndpoint({ id }, { caller })).status).toBe(WebhookEndpointStatus.ACTIVE);
});
