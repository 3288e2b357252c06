import { expect, test } from "vitest";
import { startHarness } from "../../test/harness.ts";
import { pageTokenForm, pageTokenOf, pageTokenSql } from "./page-token.ts";

test("PostgreSQL computes the same page token as pageTokenOf", async () => {
  await using harness = await startHarness();
  const { id } = await harness.aPendingPayment();
  const [row] = await harness.sql<{ token: string }>(`select ${pageTokenSql} as token from payment where id = ?`, [id]);
  expect(row?.token).toBe(pageTokenOf(await harness.readReturnToken(id)));
  expect(row?.token).toMatch(pageTokenForm);
});
