import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createConfig, lint } from "@redocly/openapi-core";
import { expect, test } from "vitest";

const path = join(import.meta.dirname, "..", "..", "..", "docs", "api", "openapi.json");
const rules = {
  // A return from the card form is answered with a redirect alone.
  "operation-2xx-response": "off",
  // No id is the word "return".
  "no-ambiguous-paths": "off",
  // The API is not for others to copy.
  "info-license": "off",
  "operation-4xx-response": "error",
  "operation-operationId-unique": "error",
  "no-invalid-schema-examples": "error",
  "no-invalid-media-type-examples": "error",
  "no-required-schema-properties-undefined": "error",
  "operation-parameters-unique": "error",
  "tag-description": "off",
} as const;

test("the document passes a linter of OpenAPI", async () => {
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
  Object.values(from.responses).flatMap((answer) => Object.values(answer.links ?? {}).map((link) => ({ from, answer, link }))),
);
const whole = (schema: Schema | undefined): Schema | undefined =>
  schema?.$ref ? document.components.schemas[schema.$ref.slice("#/components/schemas/".length)] : schema;
const schemaOf = (json: Json | undefined) => whole(json?.content?.["application/json"]?.schema);
const inPath = ({ parameters }: Operation) => parameters.filter((one) => one.in === "path").map(({ name }) => name);

test("a link fills in what its operation takes, from what the answer has", () => {
  for (const { from, answer, link } of links) {
    const name = `${from.operationId} to ${link.operationId}`;
    const target = operations.find(({ operationId }) => operationId === link.operationId);
    if (!target) throw new Error(`${name}: there is no such operation`);
    const given = Object.keys(link.parameters ?? {});
    expect(
      target.parameters.map((one) => one.name),
      name,
    ).toEqual(expect.arrayContaining(given));
    expect(given, name).toEqual(expect.arrayContaining(inPath(target)));
    for (const field of Object.keys(link.requestBody ?? {}))
      expect(schemaOf(target.requestBody)?.properties, name).toHaveProperty(field);
    for (const value of Object.values({ ...link.parameters, ...link.requestBody })) {
      const [, of, path = ""] = /^\$(response\.body#|request\.path)[./](.+)$/.exec(value) ?? [];
      if (of === "request.path") expect(inPath(from), name).toContain(path);
      else {
        const schema = schemaOf(answer);
        const [field = "", inItem] = path.split("/");
        const properties = inItem === undefined ? schema?.properties : whole(schema?.items)?.properties;
        expect(properties, name).toHaveProperty(inItem ?? field);
      }
    }
  }
});

test("what names a thing in its path is reached by a link", () => {
  const reached = links.map(({ link }) => link.operationId);
  const named = operations.filter((operation) => inPath(operation).length > 0).map(({ operationId }) => operationId);
  // The card holder's browser comes there with what the processor was given.
  const returns = ["returnFromProcessor", "returnFromProcessorByForm"];
  expect(named.filter((id) => !reached.includes(id)).toSorted()).toEqual(returns);
});

test("every body that has fields has a name, and a noun has one wherever it is met", () => {
  const bodies = [...operations, ...Object.values(document.webhooks).flatMap((item) => Object.values(item))].flatMap(
    ({ operationId, requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].flatMap((json) => {
        const schema = json?.content?.["application/json"]?.schema;
        return schema ? [{ operationId, schema: schema.items ?? schema }] : [];
      }),
  );
  expect(bodies.filter(({ schema }) => Object.keys(schema.properties ?? {}).length > 0)).toEqual([]);
  const named = (name: string) =>
    bodies.filter(({ schema }) => schema.$ref === `#/components/schemas/${name}`).map(({ operationId }) => operationId);
  expect(named("Payment")).toEqual(["createPayment", "listPayments", "getPayment", "refreshPayment", "refundPayment"]);
  expect(named("PaymentEvent")).toContain("on_payment_refunded");
});
