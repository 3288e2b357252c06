import { keepPartitions } from "@amana/database";
import { createLogger, uuidv7 } from "@amana/runtime";
import { aBusinessCaller, forAllTenants } from "@amana/testing";
import { expect, test } from "vitest";
import { aPaymentEvent } from "../../test/a-payment-event.ts";
import { type Harness, startHarness } from "../../test/harness.ts";
import * as jobs from "./delete-old-deliveries.ts";

const deleteOldDeliveries = forAllTenants(jobs.deleteOldDeliveries);

const dayMs = 24 * 60 * 60 * 1000;

/** Runs the hourly retention jobs until they have deleted everything that is too old. */
async function runJobs(harness: Harness): Promise<void> {
  while ((await deleteOldDeliveries(harness.context)) > 0);
  while ((await keepPartitions({ orm: harness.orm, logger: createLogger("test", "silent") })) > 0);
}

async function publishAged(harness: Harness, caller: { businessId: string }, ...days: number[]) {
  const events = days.map((age) => {
    const occurredMs = Date.now() - age * dayMs;
    return aPaymentEvent({ ...caller, id: uuidv7(occurredMs), occurredAt: new Date(occurredMs).toISOString() });
  });
  await harness.publish(...events);
  return events;
}

test("the hourly jobs of the webhooks service delete an event older than 30 days, with its deliveries and attempts, if none of the deliveries is pending", async () => {
  await using harness = await startHarness({ deliver: false });
  const caller = aBusinessCaller();
  await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/" }, { caller });
  const [, young] = await publishAged(harness, caller, 30.1, 29.9);
  await harness.sql("update delivery set id = uuidv7(e.created_at - now()) from event e where e.id = event_id");
  await harness.sql(
    "insert into delivery_attempt (delivery_id, business_id, at, duration_ms) select id, business_id, now(), 1 from delivery",
  );
  const pendingDeliveries = await harness.sql("select id from delivery");
  await runJobs(harness);
  expect(await harness.sql("select id from event"), "a pending delivery keeps its event").toHaveLength(2);
  expect(await harness.sql("select id from delivery")).toEqual(pendingDeliveries);

  await harness.sql("update delivery set status = 'SUCCEEDED', next_attempt_at = null");
  await runJobs(harness);
  expect(await harness.sql("select id from event")).toEqual([{ id: young?.id }]);
  expect(await harness.sql("select event_id from delivery")).toEqual([{ event_id: young?.id }]);
  expect(await harness.sql("select d.event_id from delivery_attempt a left join delivery d on d.id = a.delivery_id")).toEqual([
    { event_id: young?.id },
  ]);
});

test("listEvents counts only events of the last 30 days, before and after the hourly jobs run", async () => {
  await using harness = await startHarness({ deliver: false });
  const caller = aBusinessCaller();
  const total = async () => (await harness.events.listEvents({ limit: 1 }, { caller })).total;
  await publishAged(harness, caller, 31, 30.5, 30.01, 29.9, 1, 0);
  expect(await total()).toBe(3);
  await runJobs(harness);
  expect(await harness.sql("select id from event")).toHaveLength(3);
  expect(await total()).toBe(3);
});

test("the hourly jobs of the webhooks service delete a delivery that is still pending after 31 days, and then drop its event's partition", async () => {
  await using harness = await startHarness({ deliver: false });
  const caller = aBusinessCaller();
  const { id } = await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/" }, { caller });
  const [stuck, late] = await publishAged(harness, caller, 33, 32);
  await harness.sql("update delivery set created_at = now() - interval '31 days 1 hour' where event_id = ?", [stuck?.id]);
  await runJobs(harness);
  // A delivery can be younger than its event, for example after a retry of its message.
  expect(await harness.sql("select event_id, endpoint_id from delivery")).toEqual([{ event_id: late?.id, endpoint_id: id }]);
  expect(await harness.sql("select id from event")).toEqual([{ id: late?.id }]);
});

test("the hourly jobs of the webhooks service drop events older than 30 days, even if a running replay includes these events", async () => {
  await using harness = await startHarness({ deliver: false });
  const caller = aBusinessCaller();
  const { id } = await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/" }, { caller });
  await publishAged(harness, caller, 31);
  await harness.sql("update delivery set status = 'FAILED', next_attempt_at = null");
  const replay = await harness.endpoints.replayWebhookEndpoint({ id, sinceMs: 0n }, { caller });
  await harness.sql("update webhook_replay set since = now() - interval '40 days' where id = ?", [replay.id]);
  await runJobs(harness);
  expect(await harness.sql("select id from event")).toEqual([]);
});
