import { readFileSync } from "node:fs";
import { violationsOf } from "@amana/testing/style-rules";
import { expect, test } from "vitest";
import { tags } from "./openapi-tags.ts";
import { problemCatalogue } from "./problem-catalogue.ts";

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
}

const url = new URL("../../../docs/api/openapi.json", import.meta.url);
const document = JSON.parse(readFileSync(url, "utf8")) as {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.values(item).map((operation) => ({ path, ...operation })),
);

const tagOrder = [
  ...["Payments", "Payment links", "Refunds", "KYC", "Clients", "Onboarding", "Beneficiaries", "Accounts"],
  ...["Webhooks", "Events", "Business", "Operators"],
];

const verbs = [
  ...["Activate", "Approve", "Cancel", "Check", "Close", "Create", "Decline", "Delete", "Drop", "Get", "Issue", "List"],
  ...["Open", "Reactivate", "Redeliver", "Refresh", "Refund", "Register", "Replay", "Resolve", "Retry", "Return"],
  ...["Review", "Revoke", "Send", "Suspend", "Update"],
];

/** Returns the summaries and descriptions in a JSON value, each with its path. */
function textsOf(value: unknown, path = ""): { path: string; text: string }[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => {
    const isText = (key === "description" || key === "summary") && typeof child === "string";
    return isText ? [{ path: `${path}/${key}`, text: child }] : textsOf(child, `${path}/${key}`);
  });
}

const problemTexts = Object.entries(problemCatalogue).flatMap(([code, [title, advice]]) => [
  { path: `${code} title`, text: title },
  { path: `${code} advice`, text: advice },
]);

test("the tags of the OpenAPI document are in the expected order and have descriptions", () => {
  expect(Object.keys(tags)).toEqual(tagOrder);
  expect(document.tags.map(({ name }) => name)).toEqual(tagOrder);
  expect(document.tags.filter(({ description }) => !description.endsWith("."))).toEqual([]);
});

test("the OpenAPI document gives each operation one tag, and lists the operations in the order of the tags", () => {
  expect(operations.filter((operation) => operation.tags.length !== 1)).toEqual([]);
  const tagsInOrder = operations.map((operation) => operation.tags[0] ?? "");
  expect(tagsInOrder).toEqual(tagsInOrder.toSorted((a, b) => tagOrder.indexOf(a) - tagOrder.indexOf(b)));
  expect([...new Set(tagsInOrder)]).toEqual(tagOrder);
});

test("the OpenAPI document lists the return routes as the last operations of their tag", () => {
  for (const tag of tagOrder) {
    const returns = operations.filter((operation) => operation.tags[0] === tag).map(({ path }) => path.includes("/return/"));
    expect(returns, tag).toEqual(returns.toSorted((a, b) => Number(a) - Number(b)));
  }
});

test("the OpenAPI document gives the tag Operators to the operations that only operators can call", () => {
  const admin = operations.filter(({ path }) => /^\/api\/v1\/(admin|businesses)\b/.test(path));
  expect(admin.length).toBeGreaterThan(15);
  expect(admin.filter((operation) => operation.tags[0] !== "Operators")).toEqual([]);
});

test.each(operations)("the OpenAPI summary of $operationId is a verb phrase of at most six words", ({ summary }) => {
  const [verb = "", ...others] = summary.split(" ");
  expect(verbs).toContain(verb);
  expect(others.length).toBeGreaterThan(0);
  // Ignores text in parentheses, which distinguishes two operations with the same purpose.
  expect(summary.replace(/ \([^)]*\)$/, "").split(" ").length).toBeLessThanOrEqual(6);
  expect(summary).not.toMatch(/[.!?]$/);
});

test("the OpenAPI document describes each operation in complete sentences", () => {
  expect(operations.filter(({ description = "" }) => !/^[A-Z].{20,}\.$/.test(description))).toEqual([]);
});

test("the OpenAPI document gives different summaries to the operations of one tag", () => {
  const keys = operations.map(({ tags: [tag], summary }) => `${tag}: ${summary}`);
  expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
});

test("descriptions in the OpenAPI document end with a period", () => {
  const descriptions = textsOf(document).filter(({ path }) => path.endsWith("/description"));
  expect(descriptions.filter(({ text }) => !text.endsWith("."))).toEqual([]);
});

test("the problem catalogue gives each problem a title without a final period, and advice with a final period", () => {
  expect(problemTexts.filter(({ path, text }) => text.endsWith(".") !== path.endsWith("advice"))).toEqual([]);
});

test("texts in the OpenAPI document and in the problem catalogue use plain words", () => {
  const texts = [...textsOf(document), ...problemTexts];
  expect(texts.length).toBeGreaterThan(500);
  const violations = texts.flatMap(({ path, text }) =>
    // Uses the rules for comments, because they also reject openings such as "How".
    violationsOf(text, "comment").map(({ found, prefer }) => `${path}: "${text}" has "${found}"; use: ${prefer}`),
  );
  expect(violations).toEqual([]);
});
