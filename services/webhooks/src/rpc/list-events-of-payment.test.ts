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
  const { events } = await harness.events.listEventsOfPayment(request, { caller: adminCaller });
  expect(events).toMatchObject([{ event: { id: ours.id, body, createdAtMs: BigInt(at.getTime()) }, deliveries: [] }]);
  const elsewhere = { ...request, businessId: aBusinessCaller().businessId };
  expect((await harness.events.listEventsOfPayment(elsewhere, { caller: adminCaller })).events).toEqual([]);
  await expect(harness.events.listEventsOfPayment(request, { caller })).rejects.toThrow();
});
