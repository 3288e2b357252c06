import { ListStatementLinesRequestSchema } from "@amana/contracts/payments/v1/statement_service_pb";
import { allTenants, forTenant } from "@amana/runtime";
import { businessOfRow, startListPlans, timeOfRow } from "@amana/service-host/testing";
import { aBusinessCaller, eventually } from "@amana/testing";
import { expect, test } from "vitest";
import { startHarness } from "../../test/harness.ts";
import { database } from "../orm.ts";
import { firstCursor, linesPerPage, readLines } from "./statement-lines.ts";

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

test("readLines reads about two rows for each line of a page if one business has many lines and all other businesses have few lines", async () => {
  await using harness = await startHarness();
  const [large, small] = [aBusinessCaller().businessId, aBusinessCaller().businessId];
  await harness.sql(
    `with paid as (
       insert into payment (id, business_id, amount_minor, currency, status, language, success_url, fail_url, return_token,
         processor_order_number, created_at, updated_at)
       select uuidv7(), case when n <= 6000 then '${large}' when n <= 6010 then '${small}' else md5((n % 40)::text) end::uuid, 100,
         'DZD', 'PAID', 'FR', 'https://a.test', 'https://a.test', n, lpad(n::text, 10, '0'), now(), now() - n * interval '1 second'
       from generate_series(1, 9000) n returning *
     ) insert into money_movement (business_id, at, payment_id, type, amount_minor)
     select business_id, updated_at, id, 'PAYMENT', amount_minor from paid`,
  );
  const countReads = async () => {
    // Otherwise the connection of the service may publish its counts up to ten seconds later.
    await forTenant(allTenants, () => harness.context.orm.em.fork().execute("select pg_stat_force_next_flush()"));
    const [row] = await harness.sql<{ count: number }>(
      `select sum(seq_tup_read + idx_tup_fetch)::int as count from pg_stat_user_tables where relname in ('payment', 'money_movement')`,
    );
    return row?.count ?? 0;
  };
  const countReadsOfPage = async (businessId: string, lines: number) => {
    const before = await countReads();
    const cursor = firstCursor(new Date(Date.now() - 86_400_000), new Date());
    const rows = await forTenant(businessId, () => readLines(harness.context.orm.em, businessId, cursor));
    expect(rows).toHaveLength(lines);
    return await eventually(async () => {
      const reads = (await countReads()) - before;
      expect(reads).toBeGreaterThanOrEqual(2 * lines);
      return reads;
    });
  };
  // Publishes the counts of rows that the triggers of the insert have read.
  await harness.sql("select pg_stat_force_next_flush()");
  for (const statistics of ["no", "exact"]) {
    if (statistics === "exact") await harness.sql("analyze payment, money_movement");
    // PostgreSQL plans each of the first five executions on a connection for its values. Later
    // executions may use one plan for all values.
    for (let execution = 1; execution <= 7; execution++) {
      const reads = { large: await countReadsOfPage(large, linesPerPage), small: await countReadsOfPage(small, 10) };
      expect(reads.large, `${statistics} statistics, execution ${execution}`).toBeLessThan(2 * linesPerPage + 100);
      expect(reads.small, `${statistics} statistics, execution ${execution}`).toBeLessThan(2 * 10 + 100);
    }
  }
});
