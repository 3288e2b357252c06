import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { problemAdvice, problemTitle } from "./problem-catalogue.ts";

const root = new URL("../../../", import.meta.url).pathname;

const refusal =
  /\b(?:notFound|conflict|invalid|refusedUpstream|forbidden|upstreamError|unavailable|outcomeUnknown)\(\s*"([a-z_]+)"/g;
/** Refusals of RPCs that only the platform calls; no route passes them on. */
const internalCodes = new Set(["platform_required", "topic_not_consumed", "message_not_authentic"]);

test("every code that a service or package refuses with has a page", () => {
  const sources = globSync("{services,packages}/*/src/**/*.ts", {
    cwd: root,
    exclude: (name) => /\.test\.ts$|node_modules/.test(name),
  });
  const refusals = sources.flatMap((path) => [...readFileSync(`${root}${path}`, "utf8").matchAll(refusal)]);
  const codes = new Set(refusals.map(([, code]) => code as string));
  expect(codes.size).toBeGreaterThan(60);
  expect([...codes].filter((code) => !internalCodes.has(code) && !problemAdvice(code))).toEqual([]);
});

test("a code without a page still has a title", () => {
  expect(problemTitle("some_new_code")).toBe("Some new code");
  expect(problemTitle("constructor")).toBe("Constructor");
});
