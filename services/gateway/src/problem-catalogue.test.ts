import { globSync, readFileSync } from "node:fs";
import type { DomainErrorKind } from "@amana/rpc";
import { expect, test } from "vitest";
import { statusOf } from "./errors.ts";
import { problemAdvice, problemTitle } from "./problem-catalogue.ts";

const root = new URL("../../../", import.meta.url).pathname;

const refusal =
  /\b(notFound|conflict|invalid|refusedUpstream|forbidden|upstreamError|unavailable|outcomeUnknown)\(\s*"([a-z_]+)"/g;
/** Refusals of RPCs that only the platform calls; no route passes them on. */
const internalCodes = new Set(["platform_required", "topic_not_consumed", "message_not_authentic"]);
/** Refusals of postings to an account, which no operation makes. */
const postingCodes = new Set([
  ...["account_limit_exceeded", "account_not_active", "capture_too_large", "hold_not_open", "insufficient_funds"],
  ...["posting_not_found", "posting_not_reversible", "posting_reference_reused"],
]);

test("every code that a service or package refuses with has a page, which tells the status it comes with", () => {
  const sources = globSync("{services,packages}/*/src/**/*.ts", {
    cwd: root,
    exclude: (name) => /\.test\.ts$|node_modules/.test(name),
  });
  const refusals = sources.flatMap((path) => [...readFileSync(`${root}${path}`, "utf8").matchAll(refusal)]);
  const told = refusals.filter(([, , code = ""]) => !internalCodes.has(code) && !postingCodes.has(code));
  expect(new Set(told.map(([, , code]) => code)).size).toBeGreaterThan(60);
  const wrong = told.flatMap(([, factory = "", code = ""]) => {
    const kind = factory.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as DomainErrorKind;
    const page = problemAdvice(code);
    return page?.[2] === statusOf[kind] ? [] : [{ code, kind, page }];
  });
  expect(wrong).toEqual([]);
});

test("a code without a page still has a title", () => {
  expect(problemTitle("some_new_code")).toBe("Some new code");
  expect(problemTitle("constructor")).toBe("Constructor");
});
