import { expect, test } from "vitest";
import { findProse } from "./find-prose.ts";

test("findProse returns comments, test titles and messages, and ignores comment marks inside of literals", () => {
  const source = [
    "/** Returns the",
    " * sum. */",
    'const address = "https://shop.example"; // a public address',
    "// First line,",
    "// second line.",
    'test.each([1])("adds %i", () => {',
    `  logger.warn({ id }, \`failed: \${"/* no comment */"} at\`);`,
    '  throw new SettingsError("PORT is missing");',
    "});",
  ].join("\n");
  expect(findProse("sum.test.ts", source)).toEqual([
    { kind: "comment", text: "Returns the sum.", line: 1 },
    { kind: "comment", text: "a public address", line: 3 },
    { kind: "comment", text: "First line, second line.", line: 4 },
    { kind: "test title", text: "adds %i", line: 6 },
    { kind: "message", text: "failed: … at", line: 7 },
    { kind: "message", text: "PORT is missing", line: 8 },
  ]);
});
