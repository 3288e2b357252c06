import { aBusinessCaller } from "@amana/testing";
import { expect, test } from "vitest";
import { aPaymentEvent } from "../test/a-payment-event.ts";
import { startHarness } from "../test/harness.ts";
import { repair } from "./repair.ts";

const stuckDeliveries = `select 1 from delivery where ${repair.stuckRows.find(({ table }) => table === "delivery")?.where}`;

test.each([
  ["without a lease that is due for 6 minutes", "6 minutes", "null", 1],
  ["without a lease that is due for 4 minutes", "4 minutes", "null", 0],
  ["that has a lease and is due for 31 minutes", "31 minutes", "now() + interval '20 seconds'", 1],
  ["that has a lease and is due for 29 minutes", "29 minutes", "now() + interval '20 seconds'", 0],
])("the stuck rows of webhooks contain a delivery only if it is overdue: a delivery %s", async (_, due, leasedUntil, count) => {
  await using harness = await startHarness({ deliver: false });
  const caller = aBusinessCaller();
  await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1:9/" }, { caller });
  await harness.publish(aPaymentEvent(caller));
  await harness.sql(`update delivery set next_attempt_at = now() - interval '${due}', leased_until = ${leasedUntil}`);
  expect(await harness.sql(stuckDeliveries)).toHaveLength(count);
});
