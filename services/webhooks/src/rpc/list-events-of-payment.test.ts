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

test("an operator sees what a business was told of one payment at the times given, and nothing of another", async () => {
  const { businessId, ...rest } = aBusinessCaller();
  const at = new Date(Date.now() - 60_000);
  const [ours, later] = [at, new Date(at.getTime() + 1_000)].map((time) =>
    aPaymentEvent({ businessId, occurredAt: time.toISOString() }),
  );
  if (!ours || !later) throw new Error("two events");
  await harness.publish(ours, later, aPaymentEvent({ businessId, occurredAt: at.toISOString() }));
  const caller = { ...rest, businessId };
  const { body } = await harness.events.getEvent({ id: ours.id }, { caller });
  const paymentId = String((JSON.parse(body) as { payment_id: string }).payment_id);
  const request = { businessId, paymentId, atMs: [BigInt(at.getTime()), 0n] };
  const { events, isCut } = await harness.events.listEventsOfPayment(request, { caller: adminCaller });
  expect(isCut).toBe(false);
  expect(events).toMatchObject([{ event: { id: ours.id, body, createdAtMs: BigInt(at.getTime()) }, deliveries: [] }]);
  const elsewhere = { ...request, businessId: aBusinessCaller().businessId };
  expect((await harness.events.listEventsOfPayment(elsewhere, { caller: adminCaller })).events).toEqual([]);
  await expect(harness.events.listEventsOfPayment(request, { caller })).rejects.toThrow();
});

/** Events of one payment at one time, each to so many endpoints, with so many attempts. */
async function addEvents(about: { businessId: string; paymentId: string; at: number }, [events, endpoints, attempts]: number[]) {
  const { businessId, paymentId, at } = about;
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

const aboutOne = () => ({ businessId: aBusinessCaller().businessId, paymentId: uuidv7(), at: Date.now() - 60_000 });
const read = ({ at, ...about }: ReturnType<typeof aboutOne>) =>
  harness.events.listEventsOfPayment({ ...about, atMs: [BigInt(at)] }, { caller: adminCaller });

test("of very many events the first are shown, and that there are more", async () => {
  const one = aboutOne();
  await addEvents(one, [20, 0, 0]);
  expect(await read(one)).toMatchObject({ isCut: false, events: { length: 20 } });
  await addEvents(one, [1, 0, 0]);
  expect(await read(one)).toMatchObject({ isCut: true, events: { length: 20 } });
});

test("of very many attempts of a delivery the newest are shown, and that there are more", async () => {
  const [whole, cut] = [aboutOne(), aboutOne()];
  await addEvents(whole, [1, 1, 50]);
  await addEvents(cut, [1, 1, 51]);
  const shown = async (one: typeof whole) => {
    const { isCut, events } = await read(one);
    return { isCut, attempts: events[0]?.deliveries[0]?.attempts.map(({ durationMs }) => durationMs) };
  };
  expect(await shown(whole)).toEqual({ isCut: false, attempts: Array.from({ length: 50 }, (_, i) => i + 1) });
  expect(await shown(cut)).toEqual({ isCut: true, attempts: Array.from({ length: 50 }, (_, i) => i + 2) });
});

test("the most attempts that there can be fit into an answer", async () => {
  const one = aboutOne();
  await addEvents(one, [20, 20, 50]);
  const answer = await read(one);
  const attempts = answer.events.flatMap(({ deliveries }) => deliveries.flatMap((delivery) => delivery.attempts));
  expect(attempts).toHaveLength(20_000);
  expect(toBinary(ListEventsOfPaymentResponseSchema, answer).length).toBeLessThan(4 * 1024 * 1024);
});

test("more times than are looked at are told as a cut", async () => {
  const { at, ...about } = aboutOne();
  const atMs = (count: number) => Array.from({ length: count }, (_, i) => BigInt(at + i));
  const cutOf = async (count: number) =>
    (await harness.events.listEventsOfPayment({ ...about, atMs: atMs(count) }, { caller: adminCaller })).isCut;
  expect([await cutOf(500), await cutOf(501)]).toEqual([false, true]);
});
