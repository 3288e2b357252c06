import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { DeliveryFailure, DeliveryStatus } from "@amana/contracts/webhooks/v1/event_pb";
import { WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, withIdempotencyKey } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aPaymentEvent } from "../../test/a-payment-event.ts";
import { type Harness, startHarness, startReceiver } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const page = { limit: 50, offset: 0 };
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

test("listEvents returns events newest first, and filters events by type and time", async () => {
  const caller = aBusinessCaller();
  const { businessId } = caller;
  const times = [30, 20, 10].map(minutesAgo) as [Date, Date, Date];
  const [oldest, middle, newest] = [
    aPaymentEvent({ businessId, occurredAt: times[0].toISOString() }),
    aPaymentEvent({ businessId, occurredAt: times[1].toISOString(), type: PaymentEventType.PAYMENT_COMPLETED }),
    aPaymentEvent({ businessId, occurredAt: times[2].toISOString() }),
  ];
  await harness.publish(middle, newest, oldest, aPaymentEvent());
  const ids = async (filter: object) => {
    const { events, total } = await harness.events.listEvents({ ...page, ...filter }, { caller });
    expect(total).toBe(events.length);
    return events.map(({ id }) => id);
  };

  expect(await ids({})).toEqual([newest.id, middle.id, oldest.id]);
  expect(await ids({ type: "PAYMENT_COMPLETED" })).toEqual([middle.id]);
  expect(await ids({ fromMs: BigInt(times[1].getTime()) })).toEqual([newest.id, middle.id]);
  expect(await ids({ toMs: BigInt(times[1].getTime()) })).toEqual([oldest.id]);
  expect(await ids({ type: "PAYMENT_REFUNDED", fromMs: -(2n ** 62n), toMs: 2n ** 62n })).toEqual([newest.id, oldest.id]);

  const second = await harness.events.listEvents({ limit: 1, offset: 1 }, { caller });
  expect(second.total).toBe(3);
  expect(second.events[0]).toMatchObject({
    id: middle.id,
    type: "PAYMENT_COMPLETED",
    createdAtMs: BigInt(times[1].getTime()),
  });
  expect(JSON.parse(second.events[0]?.body as string)).toMatchObject({ id: middle.id, event: "PAYMENT_COMPLETED" });
  expect(await harness.events.getEvent({ id: middle.id }, { caller })).toEqual(second.events[0]);
});

test("listEvents and getEvent do not return an event that is older than 30 days", async () => {
  const caller = aBusinessCaller();
  const oldEvent = aPaymentEvent({ ...caller, occurredAt: minutesAgo(30 * 24 * 60 + 1).toISOString() });
  await harness.publish(oldEvent);
  expect((await harness.events.listEvents(page, { caller })).total).toBe(0);
  await expect(harness.events.getEvent({ id: oldEvent.id }, { caller })).rejects.toMatchObject({ code: "not_found" });
});

test("getEvent, listDeliveries and redeliverEvent return the same error not_found for an unknown event id, a malformed id and another business's id", async () => {
  const event = aPaymentEvent();
  await harness.publish(event);
  const caller = aBusinessCaller();
  for (const call of [
    (id: string) => harness.events.getEvent({ id }, { caller }),
    (eventId: string) => harness.events.listDeliveries({ eventId, ...page }, { caller }),
    (eventId: string) => harness.events.redeliverEvent({ eventId }, { caller }),
  ]) {
    const refusals = await Promise.all([event.id, uuidv7(), "x"].map((id) => call(id).catch((error: unknown) => error)));
    for (const refusal of refusals) expect(refusal).toEqual(refusals[1]);
    expect(refusals[0]).toMatchObject({ kind: "not_found", code: "not_found" });
  }
});

test("listDeliveries returns each attempt with its status code and the first KiB of the response body", async () => {
  const caller = aBusinessCaller();
  await using receiver = await startReceiver((response, number) => {
    response.statusCode = number === 1 ? 500 : 200;
    response.end(number === 1 ? "é".repeat(1_000) : "fine");
  });
  const endpoint = await harness.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller });
  const event = aPaymentEvent(caller);
  await harness.publish(event);
  await harness.waitUntilIdle();

  const { deliveries, total } = await harness.events.listDeliveries({ eventId: event.id, ...page }, { caller });
  expect(total).toBe(1);
  expect(deliveries[0]).toMatchObject({
    endpointId: endpoint.id,
    status: DeliveryStatus.SUCCEEDED,
    attempts: [
      { statusCode: 500, response: "é".repeat(512) },
      { statusCode: 200, response: "fine" },
    ],
  });
  expect(deliveries[0]?.nextAttemptAtMs).toBeUndefined();
  const at = deliveries[0]?.attempts.map(({ atMs }) => Number(atMs)) as number[];
  expect(Math.abs(Date.now() - (at[1] as number))).toBeLessThan(60_000);
});

test("listDeliveries returns the failure UNSPECIFIED if a newer version stored a failure code that this version does not support", async () => {
  const caller = aBusinessCaller();
  await using receiver = await startReceiver();
  await harness.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller });
  const event = aPaymentEvent(caller);
  await harness.publish(event);
  await harness.waitUntilIdle();
  const attempts = async () =>
    (await harness.events.listDeliveries({ eventId: event.id, ...page }, { caller })).deliveries[0]?.attempts;
  const setFailure = (code: string) =>
    harness.sql("update delivery_attempt set failure = ? where business_id = ?", [code, caller.businessId]);
  await setFailure("TIMEOUT");
  expect(await attempts()).toMatchObject([{ failure: DeliveryFailure.TIMEOUT }]);
  await setFailure("NEW_FAILURE_CODE");
  expect(await attempts()).toMatchObject([{ statusCode: 200, failure: DeliveryFailure.UNSPECIFIED }]);
});

test("redeliverEvent sends the same bytes again, but only to ACTIVE endpoints that already had a delivery of the event", async () => {
  const caller = aBusinessCaller();
  await using receiver = await startReceiver();
  await using disabledReceiver = await startReceiver();
  await using lateReceiver = await startReceiver();
  const active = await harness.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller });
  const disabled = await harness.endpoints.createWebhookEndpoint({ url: disabledReceiver.url }, { caller });
  const event = aPaymentEvent(caller);
  await harness.publish(event);
  await harness.waitUntilIdle();
  await harness.endpoints.updateWebhookEndpoint({ id: disabled.id, status: WebhookEndpointStatus.DISABLED }, { caller });
  const newEndpoint = await harness.endpoints.createWebhookEndpoint({ url: lateReceiver.url }, { caller });

  const redelivered = await harness.events.redeliverEvent({ eventId: event.id }, { caller });
  expect(redelivered.deliveries).toMatchObject([
    { endpointId: active.id, status: DeliveryStatus.PENDING, attempts: [{ statusCode: 200 }] },
  ]);
  await harness.waitUntilIdle();
  expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual([event.id, event.id]);
  expect(receiver.requests[1]?.body).toEqual(receiver.requests[0]?.body);
  expect([disabledReceiver.requests.length, lateReceiver.requests.length]).toEqual([1, 0]);

  const redeliverTo = (endpointId: string, by = caller) =>
    harness.events.redeliverEvent({ eventId: event.id, endpointId }, { caller: by });
  await expect(redeliverTo(disabled.id)).rejects.toMatchObject({ kind: "conflict", code: "webhook_endpoint_disabled" });
  await expect(redeliverTo(newEndpoint.id)).rejects.toMatchObject({ kind: "conflict", code: "event_without_delivery" });
  const foreign = await harness.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller: aBusinessCaller() });
  const refusals = await Promise.all([foreign.id, uuidv7(), "x"].map((id) => redeliverTo(id).catch((error: unknown) => error)));
  for (const refusal of refusals) expect(refusal).toEqual(refusals[1]);
  expect(refusals[0]).toMatchObject({ kind: "not_found", code: "webhook_endpoint_not_found" });
});

test("redeliverEvent returns only the newest earlier attempt of a delivery, without the response body", async () => {
  const caller = aBusinessCaller();
  await using receiver = await startReceiver((response, number) => response.end(`response ${number}`));
  await harness.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller });
  const event = aPaymentEvent(caller);
  await harness.publish(event);
  await harness.waitUntilIdle();
  await harness.events.redeliverEvent({ eventId: event.id }, { caller });
  await harness.waitUntilIdle();
  const { deliveries } = await harness.events.redeliverEvent({ eventId: event.id }, { caller });
  expect(deliveries.map(({ attempts }) => attempts.map(({ statusCode, response }) => [statusCode, response]))).toEqual([
    [[200, undefined]],
  ]);
});

test("listDeliveries returns the requested page of an event's deliveries, newest first, with the total", async () => {
  const caller = aBusinessCaller();
  await using receiver = await startReceiver();
  for (let i = 0; i < 3; i++) await harness.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller });
  const event = aPaymentEvent(caller);
  await harness.publish(event);
  await harness.waitUntilIdle();
  const all = await harness.events.listDeliveries({ eventId: event.id, ...page }, { caller });
  expect([all.total, all.deliveries.length]).toEqual([3, 3]);
  const second = await harness.events.listDeliveries({ eventId: event.id, limit: 1, offset: 1 }, { caller });
  expect([second.total, second.deliveries]).toEqual([3, all.deliveries.slice(1, 2)]);
  const last = await harness.events.listDeliveries({ eventId: event.id, limit: 1, offset: 3 }, { caller });
  expect([last.total, last.deliveries]).toEqual([3, []]);
});

test("redeliverEvent sends the event again only once if two requests have the same Idempotency-Key", async () => {
  const caller = aBusinessCaller();
  await using receiver = await startReceiver();
  await harness.endpoints.createWebhookEndpoint({ url: receiver.url }, { caller });
  const event = aPaymentEvent(caller);
  await harness.publish(event);
  await harness.waitUntilIdle();
  const first = await harness.events.redeliverEvent({ eventId: event.id }, withIdempotencyKey(caller, "again"));
  await harness.waitUntilIdle();
  const second = await harness.events.redeliverEvent({ eventId: event.id }, withIdempotencyKey(caller, "again"));
  await harness.waitUntilIdle();
  expect(second).toEqual(first);
  expect(receiver.requests).toHaveLength(2);
});
