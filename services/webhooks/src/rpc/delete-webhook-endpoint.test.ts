import { DeliveryStatus } from "@amana/contracts/webhooks/v1/event_pb";
import { createOrm } from "@amana/database";
import { allTenants, createLogger, forTenant, uuidv7 } from "@amana/runtime";
import { aBusinessCaller, eventually } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aPaymentEvent } from "../../test/a-payment-event.ts";
import { type Harness, startHarness } from "../../test/harness.ts";
import { database } from "../orm.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ deliver: false });
});
afterAll(() => harness[Symbol.asyncDispose]());

test("deleteWebhookEndpoint deletes the endpoint and its pending deliveries, but not its finished deliveries or other endpoints' deliveries", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/a" }, { caller });
  const otherEndpoint = await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/b" }, { caller });
  const [finished, pending] = [aPaymentEvent(caller), aPaymentEvent(caller)];
  await harness.publish(finished, pending);
  await harness.sql("update delivery set status = 'SUCCEEDED', next_attempt_at = null where event_id = ?", [finished.id]);

  await harness.endpoints.deleteWebhookEndpoint({ id }, { caller });
  await expect(harness.endpoints.getWebhookEndpoint({ id }, { caller })).rejects.toMatchObject({ kind: "not_found" });
  const deliveriesOf = async (eventId: string) =>
    (await harness.events.listDeliveries({ eventId, limit: 50, offset: 0 }, { caller })).deliveries;
  expect((await deliveriesOf(finished.id)).map(({ status }) => status)).toEqual([
    DeliveryStatus.SUCCEEDED,
    DeliveryStatus.SUCCEEDED,
  ]);
  expect((await deliveriesOf(pending.id)).map(({ endpointId }) => endpointId)).toEqual([otherEndpoint.id]);
});

test("deleteWebhookEndpoint deletes at most 1 000 pending deliveries, so that its transaction is short", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/many" }, { caller });
  await harness.sql(
    `insert into delivery (id, business_id, event_id, endpoint_id, status, next_attempt_at)
     select uuidv7(), ?, uuidv7(), ?, 'PENDING', now() from generate_series(1, 1006)`,
    [caller.businessId, id],
  );
  await harness.endpoints.deleteWebhookEndpoint({ id }, { caller });
  const rows = await harness.sql("select 1 from delivery where endpoint_id = ? and status = 'PENDING'", [id]);
  expect(rows).toHaveLength(6);
});

test("deleteWebhookEndpoint reads no replays and fewer than 3 000 deliveries of an endpoint that has 5 000 replays and 25 000 deliveries", async () => {
  await using ownHarness = await startHarness({ deliver: false });
  const { endpoints, sql } = ownHarness;
  const caller = aBusinessCaller();
  const { id } = await endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/history" }, { caller });
  await sql(
    `insert into webhook_replay
       (id, business_id, endpoint_id, status, since, until, types, statuses, reached_at, reached_id)
     select uuidv7(), ?, ?, 'DONE', now() - interval '1 hour', now(), '{}', '{FAILED}', now(), uuidv7()
     from generate_series(1, 5000)`,
    [caller.businessId, id],
  );
  // The pending deliveries are the last rows, so a scan of the table would first read all others.
  await sql(
    `insert into delivery (id, business_id, event_id, endpoint_id, status, next_attempt_at)
     select uuidv7(), ?, uuidv7(), ?, case when n > 20000 then 'PENDING' else 'SUCCEEDED' end, case when n > 20000 then now() end
     from generate_series(1, 25000) n`,
    [caller.businessId, id],
  );
  await sql("analyze webhook_replay, delivery");

  const before = await countRows(ownHarness);
  await endpoints.deleteWebhookEndpoint({ id }, { caller });
  const after = await eventually(async () => {
    const counts = await countRows(ownHarness);
    expect(counts.delivery.deleted).toBe(1_000);
    return counts;
  }, 20_000);
  expect(after.webhook_replay).toEqual(before.webhook_replay);
  expect(after.delivery.read - before.delivery.read).toBeLessThan(3_000);
}, 30_000);

/** Returns the numbers of rows that all statements together have read and deleted, by table. */
async function countRows({ sql, orm }: Harness) {
  // The service's connection otherwise reports its counts only after up to ten seconds.
  await forTenant(allTenants, () => orm.em.fork().execute("select pg_stat_force_next_flush()"));
  const rows = await sql<{ relname: string; read: number; deleted: number }>(
    `select relname, (seq_tup_read + idx_tup_fetch)::int as read, n_tup_del::int as deleted
     from pg_stat_user_tables where relname in ('webhook_replay', 'delivery')`,
  );
  const countsOf = (table: string) => {
    const { read = Number.NaN, deleted = Number.NaN } = rows.find(({ relname }) => relname === table) ?? {};
    return { read, deleted };
  };
  return { webhook_replay: countsOf("webhook_replay"), delivery: countsOf("delivery") };
}

test("deleteWebhookEndpoint returns the same error not_found for an unknown id, a malformed id, a deleted endpoint and another business's id", async () => {
  const caller = aBusinessCaller();
  const create = () => harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/" }, { caller });
  const [kept, deleted] = [await create(), await create()];
  const event = aPaymentEvent(caller);
  await harness.publish(event);
  await harness.endpoints.deleteWebhookEndpoint({ id: deleted.id }, { caller });
  const refusals = await Promise.all([
    harness.endpoints.deleteWebhookEndpoint({ id: kept.id }, { caller: aBusinessCaller() }).catch((error: unknown) => error),
    ...[uuidv7(), "nonsense", deleted.id].map((id) =>
      harness.endpoints.deleteWebhookEndpoint({ id }, { caller }).catch((error: unknown) => error),
    ),
  ]);
  for (const refusal of refusals) expect(refusal).toEqual(refusals[1]);
  expect(refusals[0]).toMatchObject({ kind: "not_found", code: "not_found" });
  const { deliveries } = await harness.events.listDeliveries({ eventId: event.id, limit: 50, offset: 0 }, { caller });
  expect(deliveries.map(({ endpointId }) => endpointId)).toEqual([kept.id]);
});

/**
 * Creates an endpoint with a pending delivery, and a transaction `recording`. The transaction can
 * take the same row locks as the statement that records attempt results, in either order, because
 * PostgreSQL does not define the order for that statement.
 */
async function createLockRace() {
  await using stack = new AsyncDisposableStack();
  const caller = aBusinessCaller();
  const { id } = await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/" }, { caller });
  await harness.publish(aPaymentEvent(caller));
  const orm = await createOrm({ ...database, url: harness.databaseUrl, poolMax: 1 }, createLogger("test", "silent"));
  stack.defer(() => orm.close());
  const recording = orm.em.fork();
  await recording.begin();
  // In a deadlock, makes this session fail first. If the deletion failed first, its retry would
  // hide the deadlock.
  await recording.execute("set local deadlock_timeout = '10ms'");
  const owned = stack.move();
  return {
    recording,
    lockEndpoint: () => recording.execute("update webhook_endpoint set slow = slow where id = ?", [id]),
    lockDelivery: () => recording.execute("update delivery set attempts = attempts where endpoint_id = ?", [id]),
    remove: () => harness.endpoints.deleteWebhookEndpoint({ id }, { caller }),
    isEndpointGone: async () => (await harness.sql("select 1 from webhook_endpoint where id = ?", [id])).length === 0,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const sessionsWaitingForLocks = async () =>
  (await harness.sql("select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")).length;

test("deleteWebhookEndpoint causes no deadlock with a session that locks the endpoint first and then the endpoint's delivery", async () => {
  await using race = await createLockRace();
  await race.lockEndpoint();
  const removal = race.remove();
  await eventually(async () => expect(await sessionsWaitingForLocks()).toBe(1));
  await race.lockDelivery();
  await race.recording.commit();
  await removal;
  expect(await race.isEndpointGone()).toBe(true);
});

test("deleteWebhookEndpoint causes no deadlock with a session that locks a delivery first and then the delivery's endpoint", async () => {
  await using race = await createLockRace();
  await race.lockDelivery();
  await race.remove();
  expect(await race.isEndpointGone()).toBe(true);
  await race.lockEndpoint();
  await race.recording.commit();
});
