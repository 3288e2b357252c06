import { ListEventsOfPaymentResponseSchema } from "@amana/contracts/webhooks/v1/event_service_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller } from "@amana/testing";
import { toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aPaymentEvent } from "../../test/a-payment-event.ts";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

test("listEventsOfPayment returns only the events that one payment has at the requested times, and accepts only operators", async () => {
  const { businessId, ...rest } = aBusinessCaller();
  const at = new Date(Date.now() - 60_000);
  const [atTime, later] = [at, new Date(at.getTime() + 1_000)].map((time) =>
    aPaymentEvent({ businessId, occurredAt: time.toISOString() }),
  );
  if (!atTime || !later) throw new Error("two events were expected");
  await harness.publish(atTime, later, aPaymentEvent({ businessId, occurredAt: at.toISOString() }));
  const caller = { ...rest, businessId };
  const { body } = await harness.events.getEvent({ id: atTime.id }, { caller });
  const paymentId = String((JSON.parse(body) as { payment_id: string }).payment_id);
  const request = { businessId, paymentId, atMs: [BigInt(at.getTime()), 0n] };
  const { events, isCut } = await harness.events.listEventsOfPayment(request, { caller: adminCaller });
  expect(isCut).toBe(false);
  expect(events).toMatchObject([{ event: { id: atTime.id, body, createdAtMs: BigInt(at.getTime()) }, deliveries: [] }]);
  const otherBusinessRequest = { ...request, businessId: aBusinessCaller().businessId };
  expect((await harness.events.listEventsOfPayment(otherBusinessRequest, { caller: adminCaller })).events).toEqual([]);
  await expect(harness.events.listEventsOfPayment(request, { caller })).rejects.toThrow();
});

/**
 * Inserts `events` events of a payment with the same time. Each event gets `endpoints` deliveries,
 * and each delivery gets `attempts` attempts.
 */
async function addEvents(
  payment: { businessId: string; paymentId: string; at: number },
  [events, endpoints, attempts]: number[],
) {
  const { businessId, paymentId, at } = payment;
  await harness.sql(
    `with e as (
       insert into event (id, business_id, type, body, created_at)
       select uuidv7(), ?, 'PAYMENT_REFUNDED', ?, ?::timestamptz from generate_series(1, ?::integer) returning id, business_id
     ), d as (
       insert into delivery (id, business_id, event_id, endpoint_id, status)
       select uuidv7(), business_id, id, uuidv7(), 'FAILED' from e, generate_series(1, ?::integer) returning id, business_id
     )
     insert into delivery_attempt (delivery_id, business_id, at, error, failure, duration_ms, response)
     select id, business_id, now(), repeat('e', 100), 'TLS', n, repeat('x', 1024) from d, generate_series(1, ?::integer) n`,
    [businessId, JSON.stringify({ payment_id: paymentId }), new Date(at).toISOString(), events, endpoints, attempts],
  );
}

const aPayment = () => ({ businessId: aBusinessCaller().businessId, paymentId: uuidv7(), at: Date.now() - 60_000 });
const read = ({ at, ...payment }: ReturnType<typeof aPayment>) =>
  harness.events.listEventsOfPayment({ ...payment, atMs: [BigInt(at)] }, { caller: adminCaller });

test("listEventsOfPayment returns at most 20 events, and sets `isCut` if the payment has more events", async () => {
  const payment = aPayment();
  await addEvents(payment, [20, 0, 0]);
  expect(await read(payment)).toMatchObject({ isCut: false, events: { length: 20 } });
  await addEvents(payment, [1, 0, 0]);
  expect(await read(payment)).toMatchObject({ isCut: true, events: { length: 20 } });
});

test("listEventsOfPayment returns only the newest 50 attempts of a delivery, and sets `isCut` if the delivery has more attempts", async () => {
  const [complete, cut] = [aPayment(), aPayment()];
  await addEvents(complete, [1, 1, 50]);
  await addEvents(cut, [1, 1, 51]);
  const readAttempts = async (payment: typeof complete) => {
    const { isCut, events } = await read(payment);
    return { isCut, attempts: events[0]?.deliveries[0]?.attempts.map(({ durationMs }) => durationMs) };
  };
  expect(await readAttempts(complete)).toEqual({ isCut: false, attempts: Array.from({ length: 50 }, (_, i) => i + 1) });
  expect(await readAttempts(cut)).toEqual({ isCut: true, attempts: Array.from({ length: 50 }, (_, i) => i + 2) });
});

test("listEventsOfPayment returns less than 4 MiB for 20 events that each have 20 deliveries with 50 attempts", async () => {
  const payment = aPayment();
  await addEvents(payment, [20, 20, 50]);
  const response = await read(payment);
  const attempts = response.events.flatMap(({ deliveries }) => deliveries.flatMap((delivery) => delivery.attempts));
  expect(attempts).toHaveLength(20_000);
  expect(toBinary(ListEventsOfPaymentResponseSchema, response).length).toBeLessThan(4 * 1024 * 1024);
});

test("listEventsOfPayment sets `isCut` if the request contains more than 500 times", async () => {
  const { at, ...payment } = aPayment();
  const atMs = (count: number) => Array.from({ length: count }, (_, i) => BigInt(at + i));
  const isTruncatedFor = async (count: number) =>
    (await harness.events.listEventsOfPayment({ ...payment, atMs: atMs(count) }, { caller: adminCaller })).isCut;
  expect([await isTruncatedFor(500), await isTruncatedFor(501)]).toEqual([false, true]);
});
