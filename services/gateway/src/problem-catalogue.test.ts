import { globSync } from "node:fs";
import { DomainError, type DomainErrorKind } from "@amana/rpc";
import { expect, test } from "vitest";
import { statusByKind } from "./errors.ts";
import { problemCatalogue, problemTitle } from "./problem-catalogue.ts";

const root = new URL("../../../", import.meta.url).pathname;

/** Codes of the refusals to post to an account. No operation of the API posts to an account. */
const postingCodes = new Set([
  ...["account_limit_exceeded", "account_not_active", "capture_too_large", "hold_not_open", "insufficient_funds"],
  ...["posting_not_found", "posting_not_reversible", "posting_reference_reused"],
]);

/**
 * Arguments with which the test calls the functions that create refusals. The array `["x"]` also
 * serves as a string.
 */
const possibleArguments = [["x"], 1n, new Date(0)];

/** Calls a function with each combination of arguments until the function accepts one. */
function callWithAny(create: (...parameters: unknown[]) => unknown): unknown {
  for (const firstArgument of possibleArguments) {
    for (const otherArguments of possibleArguments) {
      try {
        return create(firstArgument, otherArguments, otherArguments);
      } catch (error) {
        if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
      }
    }
  }
  throw new Error(`${create.name} accepts none of possibleArguments: add an argument of its type`);
}

/** Returns the refusals that the modules named *.errors.ts and refusals.ts create. */
async function createRefusals(): Promise<DomainError[]> {
  const modules = globSync("{services,packages}/*/src/**/{*.errors,refusals}.ts", { cwd: root });
  const created: unknown[] = [];
  for (const path of modules) {
    for (const create of Object.values<unknown>(await import(`${root}${path}`))) {
      if (typeof create === "function") created.push(callWithAny(create as (...parameters: unknown[]) => unknown));
    }
  }
  return created.filter((error) => error instanceof DomainError);
}

const entries = new Map<string, readonly unknown[]>(Object.entries(problemCatalogue));

/** Kinds and codes of the refusals that packages/rpc creates. */
const rpcRefusals: readonly (readonly [DomainErrorKind, string])[] = [
  ["forbidden", "business_key_required"],
  ["forbidden", "admin_required"],
  ["unavailable", "service_unavailable"],
  ["outcome_unknown", "outcome_unknown"],
];

test("the problem catalogue has an entry for each refusal of services and packages, with the status that the gateway returns", async () => {
  const created = (await createRefusals()).map(({ kind, code }) => [kind, code] as const);
  const published = [...created, ...rpcRefusals].filter(([, code]) => !postingCodes.has(code));
  expect(new Set(published.map(([, code]) => code)).size).toBeGreaterThan(60);
  const missingEntries = published.flatMap(([kind, code]) => {
    const entry = entries.get(code);
    return entry?.[2] === statusByKind[kind] ? [] : [{ code, kind, entry }];
  });
  expect(missingEntries, "add an entry to services/gateway/src/problem-catalogue.ts").toEqual([]);
});

test("problemTitle returns the words of a code that has no entry", () => {
  expect(problemTitle("some_new_code")).toBe("Some new code");
  expect(problemTitle("constructor")).toBe("Constructor");
});
