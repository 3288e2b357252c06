import { ListPaymentsRequestSchema } from "@amana/contracts/payments/v1/payment_service_pb";
import { businessOfRow, startListPlans, timeOfRow } from "@amana/service-host/testing";
import { expect, test } from "vitest";
import { database } from "../orm.ts";
import { paymentList } from "./payment.message.ts";

const fill = `insert into payment (id, business_id, amount_minor, currency, status, language, success_url, fail_url, order_ref,
    return_token, processor_order_number, created_at, updated_at)
  select uuidv7(at - now()), ${businessOfRow}, 100, 'DZD', case when i % 50 = 0 then 'PENDING' else 'PAID' end, 'FR', 'https://a.test',
    'https://a.test', 'order-' || i, i, lpad(i::text, 10, '0'), at, at
  from (select i, ${timeOfRow} as at from numbers) numbered`;

test("PostgreSQL uses an index on business_id for each filter of ListPayments", async () => {
  await using plans = await startListPlans("payments", database, ["payment"], fill);
  expect(await plans.badScans(paymentList, ListPaymentsRequestSchema)).toEqual([]);
});
