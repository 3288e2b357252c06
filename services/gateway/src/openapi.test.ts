import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createConfig, lint } from "@redocly/openapi-core";
import { expect, test } from "vitest";

const path = join(import.meta.dirname, "..", "..", "..", "docs", "api", "openapi.json");
const rules = {
  // Return routes have only a redirect as a success response.
  "operation-2xx-response": "off",
  // The path segment "return" is never an id.
  "no-ambiguous-paths": "off",
  // The document has no license field, because Amana is not published under a license.
  "info-license": "off",
  "operation-4xx-response": "error",
  "operation-operationId-unique": "error",
  "no-invalid-schema-examples": "error",
  "no-invalid-media-type-examples": "error",
  "no-required-schema-properties-undefined": "error",
  "operation-parameters-unique": "error",
  "tag-description": "off",
} as const;

test("docs/api/openapi.json passes the OpenAPI linter", async () => {
  const config = await createConfig({ extends: ["recommended"], rules });
  const problems = await lint({ ref: path, config });
  expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([]);
}, 60_000);

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
}
interface Json {
  content?: { "application/json"?: { schema?: Schema } };
}
interface Link {
  operationId: string;
  parameters?: Record<string, string>;
  requestBody?: Record<string, string>;
}
interface Operation {
  operationId: string;
  parameters: { in: string; name: string }[];
  requestBody?: Json;
  responses: Record<string, Json & { links?: Record<string, Link> }>;
}

type Items = Record<string, Record<string, Operation>>;
const document = JSON.parse(readFileSync(path, "utf8")) as {
  paths: Items;
  webhooks: Items;
  components: { schemas: Record<string, Schema> };
};
const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
const links = operations.flatMap((from) =>
  Object.values(from.responses).flatMap((response) =>
    Object.values(response.links ?? {}).map((link) => ({ from, response, link })),
  ),
);
const resolveReference = (schema: Schema | undefined): Schema | undefined =>
  schema?.$ref ? document.components.schemas[schema.$ref.slice("#/components/schemas/".length)] : schema;
const schemaOf = (json: Json | undefined) => resolveReference(json?.content?.["application/json"]?.schema);
const pathParametersOf = ({ parameters }: Operation) =>
  parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);

test("the links in the OpenAPI document contain only parameters of the linked operation and values of the link's response", () => {
  for (const { from, response, link } of links) {
    const name = `${from.operationId} to ${link.operationId}`;
    const target = operations.find(({ operationId }) => operationId === link.operationId);
    if (!target) throw new Error(`${name}: the operation of the link does not exist`);
    const names = Object.keys(link.parameters ?? {});
    expect(
      target.parameters.map((parameter) => parameter.name),
      name,
    ).toEqual(expect.arrayContaining(names));
    expect(names, name).toEqual(expect.arrayContaining(pathParametersOf(target)));
    for (const field of Object.keys(link.requestBody ?? {}))
      expect(schemaOf(target.requestBody)?.properties, name).toHaveProperty(field);
    for (const value of Object.values({ ...link.parameters, ...link.requestBody })) {
      const [, source, path = ""] = /^\$(response\.body#|request\.path)[./](.+)$/.exec(value) ?? [];
      if (source === "request.path") expect(pathParametersOf(from), name).toContain(path);
      else {
        const schema = schemaOf(response);
        const [field = "", inItem] = path.split("/");
        const properties = inItem === undefined ? schema?.properties : resolveReference(schema?.items)?.properties;
        expect(properties, name).toHaveProperty(inItem ?? field);
      }
    }
  }
});

test("the OpenAPI document links to each operation that has an id in its path", () => {
  const targets = links.map(({ link }) => link.operationId);
  const withId = operations.filter((operation) => pathParametersOf(operation).length > 0).map(({ operationId }) => operationId);
  // The return URL comes from the card processor.
  const returns = ["returnFromProcessor", "returnFromProcessorByForm"];
  expect(withId.filter((id) => !targets.includes(id)).toSorted()).toEqual(returns);
});

test("the OpenAPI document has a named schema for each body with fields, and the same schema name for a resource in all operations", () => {
  const bodies = [...operations, ...Object.values(document.webhooks).flatMap((item) => Object.values(item))].flatMap(
    ({ operationId, requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].flatMap((json) => {
        const schema = json?.content?.["application/json"]?.schema;
        return schema ? [{ operationId, schema: schema.items ?? schema }] : [];
      }),
  );
  expect(bodies.filter(({ schema }) => Object.keys(schema.properties ?? {}).length > 0)).toEqual([]);
  const operationsWithSchema = (name: string) =>
    bodies.filter(({ schema }) => schema.$ref === `#/components/schemas/${name}`).map(({ operationId }) => operationId);
  expect(operationsWithSchema("Payment")).toEqual([
    "createPayment",
    "listPayments",
    "getPayment",
    "refreshPayment",
    "refundPayment",
  ]);
  expect(operationsWithSchema("PaymentEvent")).toContain("on_payment_refunded");
});
