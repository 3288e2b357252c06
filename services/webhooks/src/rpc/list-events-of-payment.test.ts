import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller } from "@amana/testing";
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

test("of very many events the first are shown, and that there may be more", async () => {
  const { businessId } = aBusinessCaller();
  const [at, paymentId] = [Date.now() - 60_000, uuidv7()];
  const add = (count: number) =>
    harness.sql(
      `insert into event (id, business_id, type, body, created_at)
       select uuidv7(), ?, 'PAYMENT_REFUNDED', ?, ?::timestamptz from generate_series(1, ?::integer)`,
      [businessId, JSON.stringify({ payment_id: paymentId }), new Date(at).toISOString(), count],
    );
  const read = () => harness.events.listEventsOfPayment({ businessId, paymentId, atMs: [BigInt(at)] }, { caller: adminCaller });
  await add(99);
  expect(await read()).toMatchObject({ isCut: false, events: { length: 99 } });
  await add(2);
  expect(await read()).toMatchObject({ isCut: true, events: { length: 100 } });
});
