import { transaction } from "@amana/database";
import { aBusinessCaller, eventually, forAllTenants } from "@amana/testing";
import { expect, test } from "vitest";
import { startHarness } from "../../test/harness.ts";
import { findDifferences } from "./compare-consumed.ts";

test("findDifferences schedules a read of a payment that is EXPIRED in the database but PAID in the newest event that the webhooks service received", async () => {
  await using harness = await startHarness();
  const caller = aBusinessCaller();
  const { id, processorOrderId } = await harness.aPendingPayment(caller);
  await harness.sandbox.pay(processorOrderId);
  await harness.sql("update payment set status = 'EXPIRED', next_check_at = null, updated_at = now() - interval '2 days'");
  const consumedEvents = [{ eventId: id, id, businessId: caller.businessId, status: "PAID", details: "" }];
  const compare = forAllTenants(() => transaction(harness.context.orm, (em) => findDifferences(em, consumedEvents)));
  const differences = await compare();
  expect(differences).toMatchObject([{ id, here: "EXPIRED" }]);
  await using _job = harness.startFollowUps();
  await eventually(async () => expect(await harness.sql("select status from payment")).toEqual([{ status: "PAID" }]));
});
