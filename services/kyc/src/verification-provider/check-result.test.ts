import { expect, test } from "vitest";
import { clockProblems } from "./check-result.ts";

test.each([
  ["undefined", undefined, ["warning"]],
  ["an invalid date", new Date("undefined"), ["warning"]],
  ["the same time", new Date(1_000_000), []],
  ["a time ten minutes earlier", new Date(400_000), ["error"]],
])("clockProblems returns at most one problem if the vendor's time is %s", (_time, date, expected) => {
  const problems = clockProblems(date, 1_000_000);
  expect(problems.map(({ severity }) => severity)).toEqual(expected);
  expect(JSON.stringify(problems)).not.toContain("NaN");
});
