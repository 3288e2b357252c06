import { ListPaymentsRequestSchema } from "@amana/contracts/payments/v1/payment_service_pb";
import { businessOfRow, skews, startListPlans, timeOfRow } from "@amana/service-host/testing";
import { expect, test } from "vitest";
import { database } from "../orm.ts";
import { paymentList } from "./payment.message.ts";

/**
 * Returns SQL that inserts the rows. Rows that meet the SQL condition `isSample` have the sample
 * values.
 */
const fill = (isSample = "false") => `insert into payment (id, business_id, amount_minor, currency, status, language,
    success_url, fail_url, order_ref, return_token, processor_order_number, created_at, updated_at)
  select uuidv7(at - now()), ${businessOfRow}, 100, 'DZD', case when i % 50 = 0 or ${isSample} then 'PENDING' else 'PAID' end, 'FR',
    'https://a.test', 'https://a.test', case when ${isSample} then 'sample' else 'order-' || i end, i, lpad(i::text, 10, '0'), at, at
  from (select i, ${timeOfRow} as at from numbers) numbered`;

test("PostgreSQL uses an index on business_id for each filter of ListPayments", async () => {
  await using plans = await startListPlans("payments", database, ["payment"], fill());
  expect(await plans.badScans(paymentList, ListPaymentsRequestSchema)).toEqual([]);
});

test.each(Object.entries(skews))(
  "PostgreSQL reads few rows for a list of payments with one filter if all rows of %s have the same status and order_ref",
  async (_, isSample) => {
    await using plans = await startListPlans("payments", database, ["payment"], fill(isSample));
    expect(await plans.longReads(paymentList, ListPaymentsRequestSchema, ["customerEmail"])).toEqual([]);
  },
);
