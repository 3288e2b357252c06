import { createOrm } from "@amana/database";
import { allTenants, createLogger, forTenant } from "@amana/runtime";
import { aBusinessCaller, eventually } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aPaymentEvent } from "../../test/a-payment-event.ts";
import { type Harness, startHarness } from "../../test/harness.ts";
import { database } from "../orm.ts";
import { type AttemptResult, createRecorder } from "./record-attempts.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ deliver: false });
});
afterAll(() => harness[Symbol.asyncDispose]());

interface LeasedRow {
  readonly id: string;
  readonly lease_token: string;
}

/**
 * Creates an event with two leased deliveries in the order of their ids, and a session that holds
 * the lock of the second delivery.
 */
async function createTwoDeliveries() {
  await using stack = new AsyncDisposableStack();
  const caller = aBusinessCaller();
  for (const path of ["a", "b"]) await harness.endpoints.createWebhookEndpoint({ url: `http://127.0.0.1/${path}` }, { caller });
  const event = aPaymentEvent(caller);
  await harness.publish(event);
  await harness.sql("update delivery set lease_token = gen_random_uuid() where event_id = ?", [event.id]);
  const deliveries = await harness.sql<LeasedRow>("select id, lease_token from delivery where event_id = ? order by id", [
    event.id,
  ]);
  const [first, second] = deliveries as [LeasedRow, LeasedRow];
  // Gives the first delivery an endpoint with a higher id, and moves its row behind the second row.
  // Without an explicit order, a redelivery would therefore lock the second delivery first.
  const { id } = await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/c" }, { caller });
  await harness.sql("update delivery set endpoint_id = ? where id = ?", [id, first.id]);
  const orm = await createOrm({ ...database, url: harness.databaseUrl, poolMax: 1 }, createLogger("test", "silent"));
  stack.defer(() => orm.close());
  const session = orm.em.fork();
  const lock = (id: string) =>
    forTenant(allTenants, () => session.execute("select id from delivery where id = ? for update skip locked", [id]));
  await forTenant(allTenants, () => session.begin());
  const end = async () => {
    if (session.isInTransaction()) await session.rollback();
  };
  stack.defer(end);
  expect(await lock(second.id)).toHaveLength(1);
  const owned = stack.move();
  return {
    caller,
    event,
    first,
    second,
    /** Returns whether another session holds the lock of the first delivery. */
    isFirstLocked: async () => (await lock(first.id)).length === 0,
    end,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type Pair = Awaited<ReturnType<typeof createTwoDeliveries>>;

const resultOf = ({ id, lease_token }: LeasedRow): AttemptResult => ({
  id,
  lease_token,
  status: "SUCCEEDED",
  retry_in_ms: null,
  gone: undefined,
  at: new Date().toISOString(),
  status_code: 200,
  error: null,
  failure: null,
  duration_ms: 1,
  slow: false,
  response: "",
});

const waitForLockedSession = () =>
  eventually(async () => {
    const sessions = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    expect(await harness.sql(sessions)).toHaveLength(1);
  });

describe("statements that lock two deliveries", () => {
  test.each([
    ["first", (pair: Pair) => [pair.first, pair.second]],
    ["second", (pair: Pair) => [pair.second, pair.first]],
  ])("the recorder of attempts locks the delivery with the lower id first if its result is the %s one", async (_, rowsOf) => {
    await using pair = await createTwoDeliveries();
    const recorded = forTenant(allTenants, () => createRecorder(harness.context)(rowsOf(pair).map(resultOf)));
    await waitForLockedSession();
    expect(await pair.isFirstLocked()).toBe(true);
    await pair.end();
    await recorded;
    const statuses = await harness.sql("select status from delivery where event_id = ?", [pair.event.id]);
    expect(statuses).toEqual([{ status: "SUCCEEDED" }, { status: "SUCCEEDED" }]);
  });

  test("redeliverEvent locks the delivery with the lower id first", async () => {
    await using pair = await createTwoDeliveries();
    const redelivered = harness.events.redeliverEvent({ eventId: pair.event.id }, { caller: pair.caller });
    await waitForLockedSession();
    expect(await pair.isFirstLocked()).toBe(true);
    await pair.end();
    expect((await redelivered).deliveries).toHaveLength(2);
  });
});
