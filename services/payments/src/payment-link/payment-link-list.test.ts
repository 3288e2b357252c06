import { ListPaymentLinksRequestSchema } from "@amana/contracts/payments/v1/payment_link_service_pb";
import { businessOfRow, startListPlans, timeOfRow } from "@amana/service-host/testing";
import { expect, test } from "vitest";
import { database } from "../orm.ts";
import { paymentLinkList } from "./payment-link.message.ts";

const fill = `insert into payment_link (id, business_id, token, name, amount_minor, currency, language, name_rule, email_rule, phone_rule,
    metadata, is_active, payments_paid, amount_paid_minor, amount_refunded_minor, created_at, updated_at)
  select uuidv7(at - now()), ${businessOfRow}, lpad(i::text, 22, '0'), 'Ticket ' || i, 5000, 'DZD', 'FR', 'HIDDEN', 'HIDDEN', 'HIDDEN',
    '{}', i % 7 = 0, 0, 0, 0, at, at
  from (select i, ${timeOfRow} as at from numbers) numbered`;

test("PostgreSQL uses an index on business_id for each filter of ListPaymentLinks", async () => {
  await using plans = await startListPlans("payments", database, ["payment_link"], fill);
  expect(await plans.badScans(paymentLinkList, ListPaymentLinksRequestSchema)).toEqual([]);
});
