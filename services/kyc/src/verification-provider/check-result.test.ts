import { expect, test } from "vitest";
import { addClockResult } from "./check-result.ts";

test.each([
  ["undefined", undefined, "warning"],
  ["an invalid date", new Date("undefined"), "warning"],
  ["the same time", new Date(1_000_000), "ok"],
  ["a time ten minutes earlier", new Date(400_000), "failure"],
])("addClockResult adds one result if the vendor's time is %s", (_time, date, expected) => {
  const results: unknown[][] = [];
  addClockResult(date, 1_000_000, (...result) => results.push(result));
  expect(results.map(([name, result]) => ({ name, result }))).toEqual([{ name: "reachable", result: expected }]);
  expect(JSON.stringify(results)).not.toContain("NaN");
});
