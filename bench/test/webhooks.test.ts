import { expect, test } from "vitest";
import { measureWebhooks } from "../src/webhooks/webhooks.ts";

test("the benchmark `webhooks` delivers every event once and returns tables without empty cells", async () => {
  const names = ["rates", "many-hanging"];
  const result = await measureWebhooks({ names, events: "direct", seconds: 1, quick: true, rows: 500, held: 2 });
  for (const row of result.delays) expect(row).toMatchObject({ lost: 0, duplicated: 0 });
  expect(result.delays.length).toBeGreaterThan(0);
  for (const table of [result.bares, result.delays, result.costs, result.figures]) {
    for (const row of table) for (const value of Object.values(row)) expect(String(value)).not.toMatch(/^$|NaN|undefined/);
  }
});
