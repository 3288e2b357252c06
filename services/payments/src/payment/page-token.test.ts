import { allTenants, forTenant } from "@amana/runtime";
import { expect, test } from "vitest";
import { startHarness } from "../../test/harness.ts";
import { idByPageTokenSql, pageTokenOf, pageTokenPattern, pageTokenSql } from "./page-token.ts";

test("PostgreSQL computes the same page token as pageTokenOf", async () => {
  await using harness = await startHarness();
  const { id } = await harness.aPendingPayment();
  const [row] = await harness.sql<{ token: string }>(`select ${pageTokenSql} as token from payment where id = ?`, [id]);
  expect(row?.token).toBe(pageTokenOf(await harness.readReturnToken(id)));
  expect(row?.token).toMatch(pageTokenPattern);
});

test("PostgreSQL uses the index on the page token for the SQL of idByPageTokenSql, even under row-level security", async () => {
  await using harness = await startHarness();
  const plan = await forTenant(allTenants, () =>
    harness.context.orm.em.fork().transactional(async (em) => {
      // On an empty table, the planner would prefer a sequential scan.
      await em.execute("set local enable_seqscan = off");
      return await em.execute(`explain ${idByPageTokenSql("?")}`, ["0".repeat(64)]);
    }),
  );
  expect(JSON.stringify(plan)).toContain("Index Scan using payment_page_token_key");
});
