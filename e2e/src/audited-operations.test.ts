import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { auditedOperations, unauditedOperations } from "./audited-operations.ts";

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}
const document = JSON.parse(readFileSync(new URL("../../docs/api/openapi.json", import.meta.url), "utf8")) as Document;
const changingOperations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { operationId }]) => (method === "get" ? [] : [{ path, operationId }])),
);

test("e2e/src/audited-operations.ts lists each API operation that changes data, and marks all operations of operators as audited", () => {
  const message = "list each operation once in e2e/src/audited-operations.ts and call it in e2e/test/system/audit.ts";
  const listed: string[] = [...auditedOperations, ...unauditedOperations];
  expect(listed.toSorted(), message).toEqual(changingOperations.map(({ operationId }) => operationId).toSorted());
  const operatorOperations = changingOperations.filter(({ path }) => /^\/api\/v1\/(businesses|admin)/.test(path));
  const audited = new Set<string>(auditedOperations);
  expect(
    operatorOperations.filter(({ operationId }) => !audited.has(operationId)),
    message,
  ).toEqual([]);
});
