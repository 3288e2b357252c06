import { expect, test } from "vitest";
import { linksProgram } from "../src/links/links.ts";
import { runProgram } from "../src/run-program.ts";

test("a form starts one payment and links keep their limits while buyers compete, links change and processes are killed", async () => {
  const report = await runProgram(linksProgram, { seed: 3, seconds: 20 });
  expect(report.violations).toEqual([]);
  for (const counter of [
    "payments paid",
    "slots read",
    "businesses disabled",
    "replicas killed (-9)",
    "checked: a form starts one payment at most",
    "checked: a form sent after the business was disabled starts no payment",
  ])
    expect(report.counted(counter), counter).toBeGreaterThan(0);
});
