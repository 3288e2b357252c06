import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readOperations } from "./operations.ts";
import { createdResources, extraFields, sharedResources } from "./resources.ts";

const document = JSON.parse(readFileSync(new URL("../../../docs/api/openapi.json", import.meta.url), "utf8"));
const operations = readOperations(document);
const businessOperations = operations.filter(
  ({ isKeyless, path }) => !isKeyless && !/^\/api\/v1\/(admin|businesses)(\/|$)/.test(path),
);
const listed = new Set<string>([...createdResources, ...sharedResources]);

test("chaos/src/tenants/resources.ts lists a resource for each id that a path parameter, filter or body field of the API accepts", () => {
  const missing = businessOperations.flatMap(({ name, places }) =>
    places
      .filter(({ resource }) => !listed.has(resource))
      .map((place) => `${name}: ${place.in} ${place.name} ("${place.resource}")`),
  );
  expect(
    missing,
    "add each resource to chaos/src/tenants/resources.ts and create its value in chaos/src/tenants/tenant.ts",
  ).toEqual([]);
});

test("chaos/src/tenants/resources.ts lists only resources and operations that occur in the OpenAPI document", () => {
  const used = new Set(operations.flatMap(({ places }) => places.map(({ resource }) => resource)));
  expect([...listed].filter((resource) => !used.has(resource))).toEqual([]);
  const operationNames = new Set(operations.map(({ name }) => name));
  expect(Object.keys(extraFields).filter((name) => !operationNames.has(name))).toEqual([]);
});

test("readOperations finds a sample value for each required body field of a business operation, except fields that identify a resource", () => {
  const unknown = businessOperations.flatMap(({ name, unknownFields }) => unknownFields.map((field) => `${name}: ${field}`));
  expect(unknown, "add an example to the field's schema in services/gateway/src").toEqual([]);
});
