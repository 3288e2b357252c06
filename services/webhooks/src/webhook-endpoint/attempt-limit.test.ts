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
