import { describe, expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { models } from "../src/models/models.ts";
import { isSpinThere } from "../src/models/search.ts";
import { variants } from "../src/models/variants.ts";

const isThere = await isSpinThere();
if (!isThere) {
  const message = "LEFT OUT: the models, because spin or gcc is missing. Debian: apt-get install spin gcc libc6-dev";
  if (process.env["CI"]) throw new Error(message);
  process.stderr.write(`\n${message}\n\n`);
}

describe.skipIf(!isThere)("models", () => {
  test("hold in every state, and in none without one of their rules", async () => {
    const report = await attempt(models, { seed: 1, seconds: 1 });
    expect(report.violations).toEqual([]);
    expect(report.counted("checked: models that hold")).toBe(2);
    expect(report.counted("checked: rules that are needed")).toBe(variants.length - 2);
    expect(report.counted("states of refund")).toBeGreaterThan(100_000);
  });
});
