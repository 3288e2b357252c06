import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { expect, test } from "vitest";
import { aPaymentEvent } from "../../test/a-payment-event.ts";
import { startHarness } from "../../test/harness.ts";
import { deleteOldEvents } from "./delete-old-events.ts";

test("events older than 30 days go with their deliveries and attempts, and younger ones stay", async () => {
  await using harness = await startHarness({ deliver: false });
  const caller = aBusinessCaller();
  await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/" }, { caller });
  const dayMs = 24 * 60 * 60 * 1000;
  const [old, young] = [30.1, 29.9].map((days) => {
    const occurredMs = Date.now() - days * dayMs;
    return aPaymentEvent({ ...caller, id: uuidv7(occurredMs), occurredAt: new Date(occurredMs).toISOString() });
  }) as [ReturnType<typeof aPaymentEvent>, ReturnType<typeof aPaymentEvent>];
  await harness.publish(old, young);
  await harness.sql(
    "insert into delivery_attempt (delivery_id, business_id, at, duration_ms) select id, business_id, now(), 1 from delivery",
  );

  expect(await deleteOldEvents(harness)).toBe(1);
  expect(await deleteOldEvents(harness)).toBe(0);
  expect(await harness.sql("select id from event")).toEqual([{ id: young.id }]);
  expect(await harness.sql("select event_id from delivery")).toEqual([{ event_id: young.id }]);
  expect(await harness.sql("select d.event_id from delivery_attempt a left join delivery d on d.id = a.delivery_id")).toEqual([
    { event_id: young.id },
  ]);
});
