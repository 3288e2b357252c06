import { expect, test } from "vitest";
import { measureReads } from "../src/reads/reads.ts";

test("the benchmark `reads` measures the gateway and two bare servers, which return the same body", async () => {
  const rows = await measureReads({ rounds: 1, seconds: 1 });
  expect(rows.map(({ server }) => server)).toEqual(["bare-fastify-pg", "bare-fastify-mikroorm", "amana gateway"]);
});
