import { forTenant, uuidv7 } from "@amana/runtime";
import { eventually, forAllTenants } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";
import { startCountingAttempts } from "./count-attempts.ts";
import { deleteOldHealth, durationClassOf, readAttemptsOfDay } from "./endpoint-health.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ deliver: false });
});
afterAll(() => harness[Symbol.asyncDispose]());

const anEndpoint = () => ({ business_id: uuidv7(), endpoint_id: uuidv7() });
const dayOf = ({ business_id, endpoint_id }: ReturnType<typeof anEndpoint>) =>
  forTenant(business_id, () => readAttemptsOfDay(harness.orm.em, business_id, endpoint_id));
const aCounter = () => startCountingAttempts(harness.orm, harness.context.logger);
const totals = async (endpoint: ReturnType<typeof anEndpoint>) =>
  (await dayOf(endpoint)).map(({ duration_class, succeeded, failed }) => [duration_class, succeeded, failed]);

test("concurrent attempt counters add up their counts for each duration class, and store the last counts when they stop", async () => {
  const [endpoint, otherEndpoint] = [anEndpoint(), anEndpoint()];
  {
    await using first = aCounter();
    await using second = aCounter();
    for (const counter of [first, second]) {
      for (let i = 0; i < 100; i++) counter.count(endpoint, 20, true);
      counter.count(endpoint, 10_000, false);
      counter.count(otherEndpoint, 0, true);
    }
  }
  expect(await totals(endpoint)).toEqual([
    [durationClassOf(20), 200, 0],
    [durationClassOf(10_000), 0, 2],
  ]);
  expect(await totals(otherEndpoint)).toEqual([[0, 2, 0]]);
});

test("the attempt counter writes counts to the database while the process runs", async () => {
  const endpoint = anEndpoint();
  await using counter = aCounter();
  counter.count(endpoint, 20, true);
  await eventually(async () => expect(await totals(endpoint)).toHaveLength(1));
});

test("readAttemptsOfDay returns the business's counts of the last hour and the last day, and deleteOldHealth deletes counts older than 25 hours", async () => {
  const endpoint = anEndpoint();
  const counts = ["2 minutes", "61 minutes", "1435 minutes", "1441 minutes", "1501 minutes"];
  for (const ago of counts) {
    await harness.sql("insert into endpoint_health values (?, ?, now() - ?::interval, 7, 1, 1)", [
      endpoint.business_id,
      endpoint.endpoint_id,
      ago,
    ]);
  }
  const day = [{ duration_class: 7, succeeded: 3, failed: 3, succeeded_1h: 1, failed_1h: 1 }];
  expect(await dayOf(endpoint)).toEqual(day);
  expect(await dayOf({ ...endpoint, business_id: uuidv7() })).toEqual([]);
  expect(await forAllTenants(deleteOldHealth)(harness)).toBe(1);
  expect(await forAllTenants(deleteOldHealth)(harness)).toBe(0);
  expect(await dayOf(endpoint)).toEqual(day);
});
