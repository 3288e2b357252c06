import { expect, test } from "vitest";
import { webhooks } from "../src/webhooks/webhooks.ts";

test("the benchmark of webhooks loses nothing, delivers nothing twice and fills its tables", async () => {
  const names = ["rates", "many-hanging"];
  const found = await webhooks({ names, events: "direct", seconds: 1, quick: true, rows: 500, held: 2 });
  for (const row of found.delays) expect(row).toMatchObject({ lost: 0, duplicated: 0 });
  expect(found.delays.length).toBeGreaterThan(0);
  for (const table of [found.bares, found.delays, found.costs, found.figures]) {
    for (const row of table) for (const value of Object.values(row)) expect(String(value)).not.toMatch(/^$|NaN|undefined/);
  }
});
