import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import type { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aPaymentEvent } from "../../test/a-payment-event.ts";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ deliver: false });
});
afterAll(() => harness[Symbol.asyncDispose]());

const deliveriesOf = (eventId: string) =>
  harness.sql<{ endpoint_id: string; status: string }>(
    "select endpoint_id, status from delivery where event_id = ? order by endpoint_id",
    [eventId],
  );
const url = "http://127.0.0.1/";

test("the payments consumer of the webhooks service stores an event body with the exact characters of the order reference", async () => {
  const caller = aBusinessCaller();
  const orderRef = "'\\\\ ? \" \\u0000 é 😀 $1 :y";
  const event = aPaymentEvent({ ...caller, orderRef, paymentId: uuidv7(), occurredAt: "2026-11-20T10:00:00.000Z" });
  await harness.publish(event);
  const [row] = await harness.sql("select business_id, type, body from event where id = ?", [event.id]);
  expect(row).toEqual({
    business_id: caller.businessId,
    type: "PAYMENT_REFUNDED",
    body: `{"id":"${event.id}","event":"PAYMENT_REFUNDED","occurred_at":"2026-11-20T10:00:00.000Z","business_id":"${caller.businessId}","payment_id":"${event.key}","order_ref":${JSON.stringify(orderRef)},"processor_order_id":"V721uPPfNNofVQAAABL3","status":"REFUNDED","amount":"5000.00","currency":"DZD","refunded_amount":"5000.00"}`,
  });
});

test("the payments consumer of the webhooks service stores an event body with the origin PROCESSOR if the message has this origin", async () => {
  const event = aPaymentEvent({ origin: "PROCESSOR" });
  await harness.publish(event);
  const [row] = await harness.sql<{ body: string }>("select body from event where id = ?", [event.id]);
  expect(row?.body).toContain('"refunded_amount":"5000.00","origin":"PROCESSOR"}');
});

test("the payments consumer of the webhooks service creates one delivery for each endpoint of the business that subscribes to the event's type", async () => {
  const caller = aBusinessCaller();
  const create = (events: string[], by = caller) => harness.endpoints.createWebhookEndpoint({ url, events }, { caller: by });
  const [all, subscribed] = [await create([]), await create(["PAYMENT_REFUNDED", "KYC_CANCELED"])];
  await create(["PAYMENT_COMPLETED"]);
  await create([], aBusinessCaller());
  const refunded = aPaymentEvent(caller);
  const expired = aPaymentEvent({ ...caller, type: PaymentEventType.PAYMENT_EXPIRED });
  await harness.publish(refunded, expired);
  expect((await deliveriesOf(refunded.id)).map((row) => row.endpoint_id)).toEqual([all.id, subscribed.id]);
  expect((await deliveriesOf(expired.id)).map((row) => row.endpoint_id)).toEqual([all.id]);
});

test("the payments consumer of the webhooks service creates no second delivery if the same batch or a later batch repeats a message", async () => {
  const caller = aBusinessCaller();
  await harness.endpoints.createWebhookEndpoint({ url }, { caller });
  const event = aPaymentEvent(caller);
  await harness.publish(event, event);
  await harness.publish(event);
  expect(await deliveriesOf(event.id)).toHaveLength(1);
});

test("the payments consumer of the webhooks service stores each of a payment's events once, with one delivery, even if the events arrive out of order", async () => {
  const caller = aBusinessCaller();
  await harness.endpoints.createWebhookEndpoint({ url }, { caller });
  const paymentId = uuidv7();
  const completed = aPaymentEvent({ ...caller, paymentId, type: PaymentEventType.PAYMENT_COMPLETED });
  const refunded = aPaymentEvent({ ...caller, paymentId });
  await harness.publish(refunded);
  await harness.publish(completed, refunded);
  expect(await harness.sql("select id, type from event where business_id = ? order by type", [caller.businessId])).toEqual([
    { id: completed.id, type: "PAYMENT_COMPLETED" },
    { id: refunded.id, type: "PAYMENT_REFUNDED" },
  ]);
  for (const { id } of [completed, refunded]) expect(await deliveriesOf(id)).toHaveLength(1);
});

test("the payments consumer of the webhooks service stores a delivery to a DISABLED endpoint as SKIPPED", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.endpoints.createWebhookEndpoint({ url }, { caller });
  await harness.endpoints.updateWebhookEndpoint({ id, status: WebhookEndpointStatus.DISABLED }, { caller });
  const event = aPaymentEvent(caller);
  await harness.publish(event);
  expect(await deliveriesOf(event.id)).toEqual([{ endpoint_id: id, status: "SKIPPED" }]);
});

test("the payments consumer of the webhooks service dead-letters invalid messages with a reason, and applies the valid messages of the batch", async () => {
  const caller = aBusinessCaller();
  const validMessages = Array.from({ length: 7 }, () => aPaymentEvent(caller));
  const invalidMessages = [
    { ...aPaymentEvent(caller), payload: Buffer.from("not a message") },
    { ...aPaymentEvent(caller), payload: new Uint8Array() },
    aPaymentEvent({ ...caller, type: PaymentEventType.UNSPECIFIED }),
    aPaymentEvent({ businessId: "not a uuid" }),
    aPaymentEvent({ ...caller, occurredAt: "yesterday" }),
  ];
  await harness.publish(
    ...validMessages.flatMap((message, i) => [message, invalidMessages[i]].filter((item) => item !== undefined)),
  );
  const deadLetters = await harness.sql<{ event_id: string; reason: string }>("select event_id, reason from dead_letter");
  expect(deadLetters.map((row) => row.event_id).sort()).toEqual(invalidMessages.map(({ id }) => id).sort());
  for (const { reason } of deadLetters) expect(reason).not.toBe("");
  const events = await harness.sql<{ id: string }>("select id from event where business_id = ?", [caller.businessId]);
  expect(events.map(({ id }) => id).sort()).toEqual(validMessages.map(({ id }) => id).sort());
});

test("the payments consumer of the webhooks service dead-letters events of an unknown type with the status WAITING, and applies the other events of the batch", async () => {
  const caller = aBusinessCaller();
  const newerEvents = Array.from({ length: 4 }, () => aPaymentEvent({ ...caller, type: 99 as PaymentEventType }));
  const validEvent = aPaymentEvent(caller);
  await harness.publish(...newerEvents, validEvent);
  const ids = `{${newerEvents.map(({ id }) => id).join(",")}}`;
  const waiting = await harness.sql("select status from dead_letter where event_id = any(?::uuid[])", [ids]);
  expect(waiting).toEqual(newerEvents.map(() => ({ status: "WAITING" })));
  expect(await harness.sql("select id from event where business_id = ?", [caller.businessId])).toEqual([{ id: validEvent.id }]);
});

test("the payments consumer of the webhooks service dead-letters a message with the status WAITING if only a newer version supports the message's payment status", async () => {
  const event = aPaymentEvent({ ...aBusinessCaller(), status: 99 as PaymentStatus });
  await harness.publish(event);
  expect(await harness.sql("select status from dead_letter where event_id = ?", [event.id])).toEqual([{ status: "WAITING" }]);
  expect(await harness.sql("select id from event where id = ?", [event.id])).toEqual([]);
});
