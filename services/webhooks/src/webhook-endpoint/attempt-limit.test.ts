import { DeliveryStatus } from "@amana/contracts/webhooks/v1/event_pb";
import { WebhookReplayStatus } from "@amana/contracts/webhooks/v1/webhook_replay_pb";
import { aBusinessCaller, eventually, withIdempotencyKey } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aPaymentEvent } from "../../test/a-payment-event.ts";
import { addOldEvents, type Harness, startHarness, startReceiver } from "../../test/harness.ts";
import { runReplays } from "../jobs/run-replays.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ deliver: { attemptsPerDayMax: 3 } });
});
afterAll(() => harness[Symbol.asyncDispose]());

const limitReached = { kind: "conflict", code: "delivery_attempt_limit_reached", message: expect.stringContaining("3 or more") };

/**
 * Creates a business with an endpoint. Stores `attempts` attempts at the endpoint, which were made
 * `ago` before now.
 */
async function aBusiness(url: string, attempts = 0, ago = "1 hour") {
  const caller = aBusinessCaller();
  const { id } = await harness.endpoints.createWebhookEndpoint({ url }, { caller });
  const count = (number: number, since = "1 hour") =>
    harness.sql("insert into endpoint_health values (?, ?, now() - ?::interval, 7, ?, 0)", [
      caller.businessId,
      id,
      since,
      number,
    ]);
  if (attempts > 0) await count(attempts, ago);
  return { caller, id, count };
}

test("the webhooks service rejects redeliveries, replays and tests of a business that has reached its attempt limit, and still delivers the business's new events", async () => {
  await using receiver = await startReceiver();
  const { caller, id } = await aBusiness(receiver.url);
  const tested = await harness.endpoints.testWebhookEndpoint({ id }, withIdempotencyKey(caller, "before"));
  const events = [aPaymentEvent(caller), aPaymentEvent(caller)];
  await harness.publish(...events);
  const eventId = events[0]?.id ?? "";
  await harness.waitUntilIdle();
  await eventually(
    () => expect(harness.events.redeliverEvent({ eventId }, { caller })).rejects.toMatchObject(limitReached),
    30_000,
  );
  await expect(harness.endpoints.testWebhookEndpoint({ id }, { caller })).rejects.toMatchObject(limitReached);
  await expect(harness.endpoints.replayWebhookEndpoint({ id, sinceMs: 0n }, { caller })).rejects.toMatchObject(limitReached);
  expect(await harness.endpoints.testWebhookEndpoint({ id }, withIdempotencyKey(caller, "before"))).toEqual(tested);

  const later = aPaymentEvent(caller);
  await harness.publish(later);
  await harness.waitUntilIdle();
  const { deliveries } = await harness.events.listDeliveries({ eventId: later.id, limit: 1, offset: 0 }, { caller });
  expect(deliveries).toMatchObject([{ status: DeliveryStatus.SUCCEEDED }]);
}, 60_000);

test("testWebhookEndpoint does not count other businesses' attempts, or attempts older than 24 hours, towards the attempt limit", async () => {
  await using receiver = await startReceiver();
  await aBusiness(receiver.url, 3);
  const { caller, id } = await aBusiness(receiver.url, 3, "24 hours 1 minute");
  await harness.endpoints.testWebhookEndpoint({ id }, { caller });
});

test("a running replay pauses while the business is at its attempt limit, and continues afterwards", async () => {
  await using receiver = await startReceiver();
  const { caller, id, count } = await aBusiness(receiver.url);
  await addOldEvents(harness, { caller, id, count: 2, hoursAgo: 2, status: "SKIPPED" });
  const replay = await harness.endpoints.replayWebhookEndpoint({ id, sinceMs: 0n }, { caller });
  await count(3);
  await using _job = runReplays(harness.context, 20);
  const isPaused = "next_step_at > now() + interval '30 seconds'";
  await eventually(async () =>
    expect(await harness.sql(`select sent from webhook_replay where id = ? and ${isPaused}`, [replay.id])).toEqual([{ sent: 0 }]),
  );
  await harness.sql("update endpoint_health set since = since - interval '1 day' where endpoint_id = ?", [id]);
  await harness.sql("update webhook_replay set next_step_at = now() where id = ?", [replay.id]);
  await eventually(async () =>
    expect(await harness.endpoints.getWebhookReplay({ id, replayId: replay.id }, { caller })).toMatchObject({
      status: WebhookReplayStatus.DONE,
      sent: 2,
    }),
  );
});

test("the webhooks service sums the attempts of a business once for several tests, redeliveries and replays, and the attempts of an endpoint once for several reads of its health", async () => {
  await using summing = await startHarness({ deliver: false, attemptSumsMs: 600_000 });
  const caller = aBusinessCaller();
  const { id } = await summing.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1:9/" }, { caller });
  const event = aPaymentEvent(caller);
  await summing.publish(event);
  await summing.sql(
    `insert into endpoint_health
     select ?, ?, now() - interval '1 hour' - n * interval '1 minute', 7, 1, 0 from generate_series(1, 1000) n`,
    [caller.businessId, id],
  );
  const rowsRead = await countReadRows(summing);

  const sendTest = () => summing.endpoints.testWebhookEndpoint({ id }, { caller });
  await Promise.all([sendTest(), sendTest(), sendTest(), sendTest()]);
  await summing.events.redeliverEvent({ eventId: event.id }, { caller });
  const { id: replayId } = await summing.endpoints.replayWebhookEndpoint({ id, sinceMs: 0n }, { caller });
  await using _job = runReplays(summing.context, 20);
  await eventually(async () =>
    expect(await summing.endpoints.getWebhookReplay({ id, replayId }, { caller })).toMatchObject({
      status: WebhookReplayStatus.DONE,
    }),
  );
  expect(await rowsRead()).toBe(1000);

  const readEndpoint = () => summing.endpoints.getWebhookEndpoint({ id }, { caller });
  await Promise.all([readEndpoint(), readEndpoint(), readEndpoint()]);
  expect((await readEndpoint()).health).toMatchObject({ successRate24h: 1 });
  expect(await rowsRead()).toBe(1000);
});

/**
 * Counts the rows of `endpoint_health` that the service reads. PostgreSQL evaluates the policy for
 * each row. The statistics of PostgreSQL would not yet contain the last second of other sessions.
 * Returns a function that returns the number of rows read since its last call.
 */
async function countReadRows({ sql }: Harness): Promise<() => Promise<number>> {
  await sql("create sequence rows_read");
  await sql("grant usage on sequence rows_read to public");
  await sql("create policy rows_read on endpoint_health as restrictive for select using (nextval('rows_read') > 0)");
  const restart = async () => {
    const [row] = await sql<{ last: string }>("select last_value as last, setval('rows_read', 1) from rows_read");
    return Number(row?.last) - 1;
  };
  await restart();
  return restart;
}
