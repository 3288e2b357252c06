import { ListStatementLinesRequestSchema } from "@amana/contracts/payments/v1/statement_service_pb";
import { businessOfRow, startListPlans, timeOfRow } from "@amana/service-host/testing";
import { expect, test } from "vitest";
import { database } from "../orm.ts";
import { firstCursor, readLines } from "./statement-lines.ts";

const fill = `insert into payment (id, business_id, amount_minor, currency, status, language, success_url, fail_url,
    return_token, processor_order_number, created_at, updated_at)
  select uuidv7(at - now()), ${businessOfRow}, 100, 'DZD', 'PAID', 'FR', 'https://a.test', 'https://a.test',
    i, lpad(i::text, 10, '0'), at, at
  from (select i, ${timeOfRow} as at from numbers) numbered;
  insert into money_movement (business_id, at, payment_id, type, amount_minor)
  select business_id, updated_at, id, 'PAYMENT', amount_minor from payment`;

test("PostgreSQL uses an index on business_id when readLines reads a page of a statement", async () => {
  await using plans = await startListPlans("payments", database, ["payment", "money_movement"], fill);
  const pageCursor = firstCursor(new Date(Date.now() - 19 * 86_400_000), new Date(Date.now() - 18 * 86_400_000));
  const list = {
    page: async (...[em, owner]: Parameters<Parameters<typeof plans.badScans>[0]["page"]>) => {
      const rows = await readLines(em, String(owner), pageCursor);
      expect(rows).toHaveLength(288);
      return { rows, total: rows.length, totalIsCapped: false };
    },
  };
  expect(await plans.badScans(list, ListStatementLinesRequestSchema)).toEqual([]);
});
