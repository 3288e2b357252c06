import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { DeliveryStatus } from "@amana/contracts/webhooks/v1/event_pb";
import { WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { WebhookReplayStatus } from "@amana/contracts/webhooks/v1/webhook_replay_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, eventually, forAllTenants, withIdempotencyKey } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aPaymentEvent } from "../../test/a-payment-event.ts";
import { addOldEvents, type Harness, startHarness, startReceiver } from "../../test/harness.ts";
import { deleteOldReplays } from "../jobs/delete-old-replays.ts";
import { runReplays } from "../jobs/run-replays.ts";
import { advanceReplay } from "../replay/advance-replay.ts";

let harness: Harness;
/** A harness whose service runs no delivery worker. */
let idleHarness: Harness;
beforeAll(async () => {
  harness = await startHarness();
  idleHarness = await startHarness({ deliver: false });
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await idleHarness[Symbol.asyncDispose]();
});

const { RUNNING, DONE } = WebhookReplayStatus;
const { PENDING, SUCCEEDED, FAILED, SKIPPED } = DeliveryStatus;
const hourMs = 3_600_000;
const hoursAgo = (hours: number) => BigInt(Date.now() - hours * hourMs);
const sinceMs = hoursAgo(100);

/** Creates a business with one endpoint. */
async function anEndpoint(service: Harness, url = "http://127.0.0.1/hook") {
  const caller = aBusinessCaller();
  const { id } = await service.endpoints.createWebhookEndpoint({ url }, { caller });
  return {
    caller,
    id,
    replay: (filter: object = {}) => service.endpoints.replayWebhookEndpoint({ id, sinceMs, ...filter }, { caller }),
    read: (replayId: string) => service.endpoints.getWebhookReplay({ id, replayId }, { caller }),
    disable: () => service.endpoints.updateWebhookEndpoint({ id, status: WebhookEndpointStatus.DISABLED }, { caller }),
    dueCount: async () => {
      const [row] = await service.sql<{ n: number }>(
        "select count(*)::int as n from delivery where endpoint_id = ? and status = 'PENDING' and greatest(next_attempt_at, leased_until) <= now()",
        [id],
      );
      return row?.n ?? 0;
    },
  };
}

describe("replay filter", () => {
  let endpoint: Awaited<ReturnType<typeof anEndpoint>>;
  beforeAll(async () => {
    endpoint = await anEndpoint(idleHarness);
    const { caller, id } = endpoint;
    await addOldEvents(idleHarness, { caller, id, count: 4, hoursAgo: 10, status: "SKIPPED" });
    await addOldEvents(idleHarness, { caller, id, count: 3, hoursAgo: 8, status: "FAILED", type: "PAYMENT_COMPLETED" });
    await addOldEvents(idleHarness, { caller, id, count: 2, hoursAgo: 6, status: "SUCCEEDED" });
    await addOldEvents(idleHarness, { caller, id, count: 1, hoursAgo: 4, status: "PENDING", nextAttemptInHours: 1 });
    await addOldEvents(idleHarness, { caller, id, count: 5, hoursAgo: 4, status: "PENDING" });
    await addOldEvents(idleHarness, { caller, id, count: 6, hoursAgo: 31 * 24, status: "SKIPPED" });
    const otherEndpoint = await idleHarness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/other" }, { caller });
    await addOldEvents(idleHarness, { caller, id: otherEndpoint.id, count: 7, hoursAgo: 8, status: "FAILED" });
  });

  test.each<[string, object, number]>([
    ["skipped and failed deliveries by default", {}, 7],
    ["deliveries with the given statuses", { statuses: [SUCCEEDED, FAILED] }, 5],
    ["pending deliveries whose next attempt is in the future, and no due deliveries", { statuses: [PENDING] }, 1],
    ["deliveries of the given types", { types: ["PAYMENT_COMPLETED", "WEBHOOK_TEST"] }, 3],
    ["deliveries of events at or after the time `since`", { sinceMs: hoursAgo(9) }, 3],
    ["deliveries of events before the time `until`", { untilMs: hoursAgo(9) }, 4],
    ["no deliveries of events that are older than 30 days", { sinceMs: 0n }, 7],
    ["no deliveries if no event has a requested type", { types: ["KYC_COMPLETED"] }, 0],
    ["deliveries up to the present if `until` is in the future", { untilMs: hoursAgo(-10), statuses: [SKIPPED] }, 4],
  ])("replayWebhookEndpoint counts %s", async (_, filter, matched) => {
    const replay = await endpoint.replay(filter);
    expect(replay).toMatchObject({ status: RUNNING, matched, sent: 0 });
    await idleHarness.sql("delete from webhook_replay where id = ?", [replay.id]);
  });

  test.each<[string, object]>([
    ["ends before it begins", { sinceMs: hoursAgo(2), untilMs: hoursAgo(3) }],
    ["begins in the future", { sinceMs: hoursAgo(-1) }],
  ])("replayWebhookEndpoint rejects a time range that %s", async (_, filter) => {
    await expect(endpoint.replay(filter)).rejects.toMatchObject({ kind: "invalid", code: "replay_range_empty" });
  });
});

test("replayWebhookEndpoint without `until` includes events up to the database's current time, even if the process's clock is behind", async () => {
  const endpoint = await anEndpoint(idleHarness);
  await addOldEvents(idleHarness, { ...endpoint, count: 3, hoursAgo: 1, status: "SKIPPED" });
  idleHarness.clock.nowMs = Date.now() - 2 * hourMs;
  try {
    expect(await endpoint.replay()).toMatchObject({ matched: 3 });
  } finally {
    idleHarness.clock.nowMs = undefined;
  }
});

test("a replay sends its endpoint's skipped and failed deliveries again with the same bytes, and sends nothing to another endpoint", async () => {
  await using receiver = await startReceiver((response, number) => response.writeHead(number > 8 ? 204 : 500).end());
  await using otherReceiver = await startReceiver();
  const endpoint = await anEndpoint(harness, receiver.url);
  const { caller, id } = endpoint;
  const failed = aPaymentEvent(caller);
  await harness.publish(failed);
  await harness.waitUntilIdle();
  await harness.endpoints.createWebhookEndpoint({ url: otherReceiver.url }, { caller });
  await endpoint.disable();
  const skipped = aPaymentEvent({ ...caller, type: PaymentEventType.PAYMENT_COMPLETED });
  await harness.publish(skipped);
  await harness.waitUntilIdle();
  await harness.endpoints.updateWebhookEndpoint({ id, status: WebhookEndpointStatus.ACTIVE }, { caller });
  expect([receiver.requests.length, otherReceiver.requests.length]).toEqual([8, 1]);

  const replay = await endpoint.replay();
  expect(replay).toMatchObject({ status: RUNNING, matched: 2, sent: 0 });
  await using _job = runReplays(harness.context, 20);
  await eventually(async () => expect(await endpoint.read(replay.id)).toMatchObject({ status: DONE, matched: 2, sent: 2 }));
  await harness.waitUntilIdle();

  const repeatedRequests = receiver.requests.slice(8);
  expect(repeatedRequests.map(({ headers }) => headers["webhook-id"]).toSorted()).toEqual([failed.id, skipped.id].toSorted());
  expect(repeatedRequests.find(({ headers }) => headers["webhook-id"] === failed.id)?.body).toEqual(receiver.requests[0]?.body);
  expect(otherReceiver.requests).toHaveLength(1);
  expect(await endpoint.replay()).toMatchObject({ matched: 0 });
});

test("replayWebhookEndpoint accepts one of ten concurrent requests for an endpoint, and accepts another request after the replay is DONE", async () => {
  const endpoint = await anEndpoint(idleHarness);
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => endpoint.replay()));
  const refusals = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
  expect(refusals).toHaveLength(9);
  for (const refusal of refusals) expect(refusal).toMatchObject({ kind: "conflict", code: "replay_in_progress" });
  const { id } = await idleHarness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/2" }, endpoint);
  await idleHarness.endpoints.replayWebhookEndpoint({ id, sinceMs }, endpoint);
  {
    await using _job = runReplays(idleHarness.context, 20);
    await eventually(() => endpoint.replay());
  }
});

test("replayWebhookEndpoint returns the stored response for a repeated Idempotency-Key, even after the replay is DONE", async () => {
  const { id, caller } = await anEndpoint(idleHarness);
  const first = await idleHarness.endpoints.replayWebhookEndpoint({ id, sinceMs }, withIdempotencyKey(caller, "again"));
  await idleHarness.sql("update webhook_replay set status = 'DONE', next_step_at = null where id = ?", [first.id]);
  expect(await idleHarness.endpoints.replayWebhookEndpoint({ id, sinceMs }, withIdempotencyKey(caller, "again"))).toEqual(first);
  expect(await idleHarness.sql("select 1 from webhook_replay where endpoint_id = ?", [id])).toHaveLength(1);
});

test("replayWebhookEndpoint rejects a DISABLED endpoint, and returns the same error not_found for an unknown id, a malformed id and another business's id", async () => {
  const endpoint = await anEndpoint(idleHarness);
  const foreignEndpoint = await anEndpoint(idleHarness);
  const replay = await endpoint.replay();
  const foreignReplay = await foreignEndpoint.replay();
  const { caller } = endpoint;
  const startReplay = (id: string) => idleHarness.endpoints.replayWebhookEndpoint({ id, sinceMs }, { caller });
  const read = (id: string, replayId: string) => idleHarness.endpoints.getWebhookReplay({ id, replayId }, { caller });
  expect(await read(endpoint.id, replay.id)).toEqual(replay);

  const callGroups: (() => Promise<unknown>)[][] = [
    [foreignEndpoint.id, uuidv7(), "x"].map((id) => () => startReplay(id)),
    [foreignReplay.id, uuidv7(), "x"].map((id) => () => read(endpoint.id, id)),
    [foreignEndpoint.id, uuidv7(), "x"].map((id) => () => read(id, replay.id)),
    [() => read(foreignEndpoint.id, foreignReplay.id)],
  ];
  for (const calls of callGroups) {
    const refusals = await Promise.all(calls.map((call) => call().catch((error: unknown) => error)));
    for (const refusal of refusals) expect(refusal).toEqual(refusals[0]);
    expect(refusals[0]).toMatchObject({ kind: "not_found", code: "not_found" });
  }
  await endpoint.disable();
  await expect(endpoint.replay()).rejects.toMatchObject({ kind: "conflict", code: "webhook_endpoint_disabled" });
});

test("a replay with 12000 matching deliveries restarts only 16 deliveries if no restarted delivery is completed", async () => {
  const endpoint = await anEndpoint(idleHarness);
  await addOldEvents(idleHarness, { ...endpoint, count: 12_000, hoursAgo: 20, status: "SKIPPED" });
  const replay = await endpoint.replay();
  expect(replay.matched).toBeLessThan(12_000);
  await using _job = runReplays(idleHarness.context, 20);
  await eventually(async () => {
    const { matched, sent } = await endpoint.read(replay.id);
    expect(matched).toBe(12_000);
    expect(sent).toBeGreaterThan(0);
  });
  await eventually(async () =>
    expect(
      (await idleHarness.sql("select 1 from webhook_replay where id = ? and leased_until is null and sent > 0", [replay.id]))
        .length,
    ).toBe(1),
  );
  const { sent, status } = await endpoint.read(replay.id);
  expect([status, await endpoint.dueCount()]).toEqual([RUNNING, sent]);
  expect(sent).toBe(16);
});

test("two replicas send each of a replay's 4000 deliveries once, and send a new event before the replay is DONE", async () => {
  const count = 4_000;
  await using receiver = await startReceiver();
  const endpoint = await anEndpoint(harness, receiver.url);
  await addOldEvents(harness, { ...endpoint, count, hoursAgo: 20, status: "SKIPPED" });
  const replay = await endpoint.replay();
  await using _one = runReplays(harness.context, 20);
  await using _other = runReplays(harness.context, 20);
  await eventually(() => expect(receiver.requests.length).toBeGreaterThan(300));
  const newEvent = aPaymentEvent(endpoint.caller);
  await harness.publish(newEvent);
  const positionOfNewEvent = () => receiver.requests.findIndex(({ headers }) => headers["webhook-id"] === newEvent.id);
  let dueMax = 0;
  await eventually(async () => {
    dueMax = Math.max(dueMax, await endpoint.dueCount());
    expect(await endpoint.read(replay.id)).toMatchObject({ status: DONE, matched: count, sent: count });
  }, 60_000);
  await harness.waitUntilIdle();
  expect(positionOfNewEvent()).toBeGreaterThan(0);
  expect(positionOfNewEvent()).toBeLessThan(count - 500);
  expect(dueMax).toBeLessThan(600);
  expect(receiver.requests).toHaveLength(count + 1);
  expect(new Set(receiver.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(count + 1);
}, 90_000);

test("advanceReplay restarts no deliveries if its process has lost the replay's lease", async () => {
  const endpoint = await anEndpoint(idleHarness);
  await addOldEvents(idleHarness, { ...endpoint, count: 10, hoursAgo: 20, status: "SKIPPED" });
  const replay = await endpoint.replay();
  await advanceReplay(idleHarness.context, replay.id, { renew: async () => false, token: "lost", release() {} });
  expect(await endpoint.read(replay.id)).toEqual(replay);
  expect(await endpoint.dueCount()).toBe(0);
});

test("a running replay becomes DONE if its endpoint is disabled or deleted, and getWebhookReplay returns not_found for the deleted endpoint", async () => {
  const disabled = await anEndpoint(idleHarness);
  const deleted = await anEndpoint(idleHarness);
  for (const endpoint of [disabled, deleted])
    await addOldEvents(idleHarness, { ...endpoint, count: 3_000, hoursAgo: 20, status: "SKIPPED" });
  const [ended, removed] = [await disabled.replay(), await deleted.replay()];
  await using _job = runReplays(idleHarness.context, 20);
  for (const [endpoint, { id }] of [
    [disabled, ended],
    [deleted, removed],
  ] as const) {
    await eventually(async () => expect((await endpoint.read(id)).sent).toBeGreaterThan(0));
  }
  await disabled.disable();
  await idleHarness.endpoints.deleteWebhookEndpoint({ id: deleted.id }, deleted);

  await eventually(async () => expect(await disabled.read(ended.id)).toMatchObject({ status: DONE, matched: 3_000 }));
  expect((await disabled.read(ended.id)).sent).toBeLessThan(600);
  await expect(deleted.read(removed.id)).rejects.toMatchObject({ kind: "not_found", code: "not_found" });
  await eventually(async () => {
    const rows = await idleHarness.sql<{ sent: number }>("select status, sent from webhook_replay where id = ?", [removed.id]);
    expect(rows).toEqual([{ status: "DONE", sent: expect.any(Number) }]);
    expect(rows[0]?.sent).toBeLessThan(600);
  });
});

test("deleteOldReplays deletes a DONE replay 30 days after the replay's creation, and deletes no replay in progress", async () => {
  const endpoints = [await anEndpoint(idleHarness), await anEndpoint(idleHarness), await anEndpoint(idleHarness)];
  const [young, old, running] = await Promise.all(endpoints.map(({ replay }) => replay()));
  await idleHarness.sql("update webhook_replay set status = 'DONE', next_step_at = null where id in (?, ?)", [
    young?.id,
    old?.id,
  ]);
  await idleHarness.sql("update webhook_replay set created_at = now() - interval '31 days' where id in (?, ?)", [
    old?.id,
    running?.id,
  ]);
  expect(await forAllTenants(deleteOldReplays)(idleHarness)).toBe(1);
  const remainingReplays = await idleHarness.sql<{ id: string }>("select id from webhook_replay where id in (?, ?, ?)", [
    young?.id,
    old?.id,
    running?.id,
  ]);
  expect(remainingReplays.map(({ id }) => id).toSorted()).toEqual([young?.id, running?.id].toSorted());
});
