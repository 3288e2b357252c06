import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { alsoNeeded, commonNouns, madeNouns, unmadeNouns } from "./nouns.ts";
import { readOperations } from "./operations.ts";

const document = JSON.parse(readFileSync(new URL("../../../docs/api/openapi.json", import.meta.url), "utf8"));
const operations = readOperations(document);
const ofBusinesses = operations.filter(({ isKeyless, path }) => !isKeyless && !/^\/api\/v1\/(admin|businesses)(\/|$)/.test(path));
const listed = new Set<string>([...madeNouns, ...unmadeNouns, ...commonNouns]);

test("chaos/src/tenants/nouns.ts lists the noun of each path parameter, filter and field that names a resource", () => {
  const missing = ofBusinesses.flatMap(({ name, places }) =>
    places.filter(({ noun }) => !listed.has(noun)).map((place) => `${name}: ${place.in} ${place.name} ("${place.noun}")`),
  );
  expect(missing, "add each noun to chaos/src/tenants/nouns.ts and create its value in chaos/src/tenants/things.ts").toEqual([]);
});

test("chaos/src/tenants/nouns.ts lists no noun and no operation that the OpenAPI document lacks", () => {
  const used = new Set(operations.flatMap(({ places }) => places.map(({ noun }) => noun)));
  expect([...listed].filter((noun) => !used.has(noun))).toEqual([]);
  const known = new Set(operations.map(({ name }) => name));
  expect(Object.keys(alsoNeeded).filter((name) => !known.has(name))).toEqual([]);
});

test("the OpenAPI document has an example, an enum or a format for each required field of the operations that break tenants calls", () => {
  const unknown = ofBusinesses.flatMap(({ name, unknownFields }) => unknownFields.map((field) => `${name}: ${field}`));
  expect(unknown, "add an example to the field's schema in services/gateway/src").toEqual([]);
});
