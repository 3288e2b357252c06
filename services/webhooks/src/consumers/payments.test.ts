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

test("a payment event is stored with the body of its attempts", async () => {
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

test("the body of a change that happened at the card processor has the origin PROCESSOR", async () => {
  const event = aPaymentEvent({ origin: "PROCESSOR" });
  await harness.publish(event);
  const [row] = await harness.sql<{ body: string }>("select body from event where id = ?", [event.id]);
  expect(row?.body).toContain('"refunded_amount":"5000.00","origin":"PROCESSOR"}');
});

test("each endpoint of the business that subscribes to the type gets one delivery", async () => {
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

test("a repeated message, in the same batch or a later one, creates no second delivery", async () => {
  const caller = aBusinessCaller();
  await harness.endpoints.createWebhookEndpoint({ url }, { caller });
  const event = aPaymentEvent(caller);
  await harness.publish(event, event);
  await harness.publish(event);
  expect(await deliveriesOf(event.id)).toHaveLength(1);
});

test("events of one payment that arrive in the wrong order are stored once, each with its delivery", async () => {
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

test("a delivery for an endpoint that is DISABLED is recorded as skipped", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.endpoints.createWebhookEndpoint({ url }, { caller });
  await harness.endpoints.updateWebhookEndpoint({ id, status: WebhookEndpointStatus.DISABLED }, { caller });
  const event = aPaymentEvent(caller);
  await harness.publish(event);
  expect(await deliveriesOf(event.id)).toEqual([{ endpoint_id: id, status: "SKIPPED" }]);
});

test("webhooks stores messages of payments.v1 without a valid event as dead letters with the reason, and applies the others", async () => {
  const caller = aBusinessCaller();
  const good = Array.from({ length: 7 }, () => aPaymentEvent(caller));
  const broken = [
    { ...aPaymentEvent(caller), payload: Buffer.from("not a message") },
    { ...aPaymentEvent(caller), payload: new Uint8Array() },
    aPaymentEvent({ ...caller, type: PaymentEventType.UNSPECIFIED }),
    aPaymentEvent({ businessId: "not a uuid" }),
    aPaymentEvent({ ...caller, occurredAt: "yesterday" }),
  ];
  await harness.publish(...good.flatMap((message, i) => [message, broken[i]].filter((item) => item !== undefined)));
  const letters = await harness.sql<{ event_id: string; reason: string }>("select event_id, reason from dead_letter");
  expect(letters.map((row) => row.event_id).sort()).toEqual(broken.map(({ id }) => id).sort());
  for (const { reason } of letters) expect(reason).not.toBe("");
  const events = await harness.sql<{ id: string }>("select id from event where business_id = ?", [caller.businessId]);
  expect(events.map(({ id }) => id).sort()).toEqual(good.map(({ id }) => id).sort());
});

test("an event of an unknown type waits for a newer version, and other events are applied", async () => {
  const caller = aBusinessCaller();
  const later = Array.from({ length: 4 }, () => aPaymentEvent({ ...caller, type: 99 as PaymentEventType }));
  const good = aPaymentEvent(caller);
  await harness.publish(...later, good);
  const ids = `{${later.map(({ id }) => id).join(",")}}`;
  const waiting = await harness.sql("select status from dead_letter where event_id = any(?::uuid[])", [ids]);
  expect(waiting).toEqual(later.map(() => ({ status: "WAITING" })));
  expect(await harness.sql("select id from event where business_id = ?", [caller.businessId])).toEqual([{ id: good.id }]);
});

test("a payment event with a status of a newer version waits for that version, and its body is not stored", async () => {
  const event = aPaymentEvent({ ...aBusinessCaller(), status: 99 as PaymentStatus });
  await harness.publish(event);
  expect(await harness.sql("select status from dead_letter where event_id = ?", [event.id])).toEqual([{ status: "WAITING" }]);
  expect(await harness.sql("select id from event where id = ?", [event.id])).toEqual([]);
});
