import { readFileSync } from "node:fs";
import fc from "fast-check";

/** A JSON Schema with the keywords that the generator supports. */
interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly example?: unknown;
  readonly schema: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { required?: boolean; content: Readonly<Record<string, { schema: Schema }>> };
}

const document = JSON.parse(readFileSync(new URL("../../../docs/api/openapi.json", import.meta.url), "utf8"));
const resolveReference = (schema: Schema): Schema =>
  schema.$ref ? document.components.schemas[schema.$ref.replace("#/components/schemas/", "")] : schema;

export interface DocumentedRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** Schema of the characters that HTTP permits in a header. */
const ascii: Schema = { pattern: "^[!-~]*$" };

function generateRequests(
  method: DocumentedRequest["method"],
  path: string,
  operation: Operation,
): fc.Arbitrary<DocumentedRequest> {
  const createParameters = (place: Parameter["in"]) => {
    const parameters = operation.parameters.filter((parameter) => parameter.in === place);
    const schemaOf = ({ schema, example }: Parameter) => ({
      ...(place === "header" && ascii),
      ...(example !== undefined && { examples: [example] }),
      ...schema,
    });
    return generateRecord({
      properties: Object.fromEntries(parameters.map((parameter) => [parameter.name, schemaOf(parameter)])),
      required: parameters.filter(({ required }) => required).map(({ name }) => name),
    });
  };
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const body = schema ? generateValue(schema) : fc.constant(undefined);
  const requestBody = operation.requestBody?.required ? body : fc.option(body, { nil: undefined });
  return fc
    .record({
      ids: createParameters("path"),
      query: createParameters("query"),
      headers: createParameters("header"),
      body: requestBody,
    })
    .map((request) => {
      const filledPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(request.ids[name])));
      const query = new URLSearchParams(Object.entries(request.query).map(([name, value]) => [name, String(value)]));
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
      );
      return { method, path: `${filledPath}?${query}`, headers, body: request.body as DocumentedRequest["body"] };
    });
}

function generateValue(schema: Schema): fc.Arbitrary<unknown> {
  const { $ref, anyOf, type } = schema;
  if ($ref) return generateValue(resolveReference(schema));
  if (anyOf) return fc.oneof(...anyOf.map(generateValue));
  if ("const" in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (type === "null") return fc.constant(null);
  if (type === "boolean") return fc.boolean();
  if (type === "integer") return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 2 ** 31 - 1 });
  if (type === "array" && schema.items) {
    return fc.uniqueArray(generateValue(schema.items), { minLength: schema.minItems ?? 0, maxLength: 5 });
  }
  if (type === "object") return generateRecord(schema);
  if (type === "string") return generateText(schema);
  throw new TypeError(`the generator does not support the schema ${JSON.stringify(schema)}`);
}

function generateRecord({ properties, required }: Schema): fc.Arbitrary<Record<string, unknown>> {
  if (!properties) return fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }) as never;
  const values = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, generateValue(schema)]));
  return fc.record(values, { requiredKeys: [...(required ?? [])] }) as fc.Arbitrary<Record<string, unknown>>;
}

/** Returns the first example of a schema, or a generated value if the schema has no example. */
function findExample(schema: Schema): unknown {
  const { $ref, anyOf, examples = [], items, type } = schema;
  if ($ref) return findExample(resolveReference(schema));
  if (examples.length > 0) return examples[0];
  if (anyOf) return findExample(anyOf[0] as Schema);
  if (type === "array" && items?.examples) return items.examples;
  return fc.sample(generateValue(schema), { numRuns: 1, seed: 1 })[0];
}

/**
 * Returns the examples of a schema. If it has none, returns a list of its items' examples as the
 * only example, or the examples of its `anyOf` variants.
 */
function findExamples(schema: Schema): readonly unknown[] {
  const { $ref, anyOf, examples, items } = schema;
  if ($ref) return findExamples(resolveReference(schema));
  if (examples) return examples;
  if (items?.examples) return [items.examples];
  return anyOf?.flatMap(findExamples) ?? [];
}

/**
 * Returns a request for each example of a field, parameter or header. Each request contains only
 * this example and the required fields and parameters.
 */
function createExampleRequests(method: DocumentedRequest["method"], path: string, operation: Operation): DocumentedRequest[] {
  const parametersIn = (place: Parameter["in"]) => operation.parameters.filter((parameter) => parameter.in === place);
  const listExamples = ({ example, schema }: Parameter) => (example === undefined ? findExamples(schema) : [example]);
  const filledPath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(findExample(parametersIn("path").find((parameter) => parameter.name === name)?.schema ?? {}))),
  );
  const query = Object.fromEntries(
    parametersIn("query").flatMap(({ name, required, example, schema }) =>
      required ? [[name, example ?? findExample(schema)]] : [],
    ),
  );
  const bodySchema = resolveReference(operation.requestBody?.content["application/json"]?.schema ?? {});
  const fields = Object.entries(bodySchema.properties ?? {});
  const requiredFields = Object.fromEntries(
    fields.flatMap(([name, schema]) => (bodySchema.required?.includes(name) ? [[name, findExample(schema)]] : [])),
  );
  const request = (overrides: { body?: object; query?: object; headers?: Record<string, string> }): DocumentedRequest => {
    const search = Object.entries({ ...query, ...overrides.query }).map(([name, value]) => [name, String(value)]);
    const body = operation.requestBody ? { ...requiredFields, ...overrides.body } : undefined;
    return { method, path: `${filledPath}?${new URLSearchParams(search)}`, headers: overrides.headers ?? {}, body };
  };
  return [
    ...fields.flatMap(([name, schema]) => findExamples(schema).map((value) => request({ body: { [name]: value } }))),
    ...parametersIn("query").flatMap((parameter) =>
      listExamples(parameter).map((value) => request({ query: { [parameter.name]: value } })),
    ),
    ...parametersIn("header").flatMap((parameter) =>
      listExamples(parameter).map((value) => request({ headers: { [parameter.name.toLowerCase()]: String(value) } })),
    ),
  ];
}

/**
 * Generators for formats of JSON Schema. For other formats, values are taken from the examples.
 */
const formats: Readonly<Record<string, () => fc.Arbitrary<string>>> = {
  uuid: () => fc.uuid(),
  email: () => fc.emailAddress(),
  date: () =>
    fc.date({ min: new Date("1900-01-01"), max: new Date(), noInvalidDate: true }).map((day) => day.toISOString().slice(0, 10)),
  "date-time": () =>
    fc
      .record({
        at: fc.date({ min: new Date(0), noInvalidDate: true, max: new Date() }),
        zone: fc.constantFrom("Z", "+01:00", "-11:30"),
      })
      .map(({ at, zone }) => at.toISOString().replace("Z", zone)),
};
/**
 * Characters with one, two and four bytes in UTF-8, and characters that are special in HTML, SQL,
 * URLs or shells.
 */
const characters = [..."aZ09 .,-_/\\\"'&<>%+é字😀\n\t\u200f"];

function generateText({ format, pattern, examples = [], minLength = 0, maxLength = 10_000 }: Schema): fc.Arbitrary<string> {
  if (format && !formats[format]) return fc.constantFrom(...(examples as string[]));
  const regex = new RegExp(pattern ?? "", "u");
  const unit = fc.constantFrom(...characters);
  // Removes the lookaheads of an anchored pattern, because `fc.stringMatching` cannot generate from
  // them. The filter below applies the complete pattern.
  const texts =
    pattern?.startsWith("^") && pattern.endsWith("$")
      ? fc.stringMatching(new RegExp(pattern.replaceAll(/\(\?=.*?\)(?=\\d|0)/g, ""), "u"))
      : fc.oneof(
          fc.string({ unit, minLength, maxLength: Math.min(maxLength, 50) }),
          fc.string({ unit, minLength: maxLength, maxLength }),
        );
  return (format ? (formats[format] as () => fc.Arbitrary<string>)() : texts).filter(
    (text) => regex.test(text) && [...text].length >= minLength && [...text].length <= maxLength,
  );
}

/** Returns each operation of the OpenAPI document with a generator of permitted requests. */
export const documentedOperations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    id: operation.operationId,
    method,
    path,
    /** Required fields of the body. */
    required: resolveReference(operation.requestBody?.content["application/json"]?.schema ?? {}).required ?? [],
    requests: generateRequests(method.toUpperCase() as DocumentedRequest["method"], path, operation),
    examples: createExampleRequests(method.toUpperCase() as DocumentedRequest["method"], path, operation),
  })),
);

/** Draws random requests. Two calls with the same seed draw the same requests. */
export const drawRequests = (requests: fc.Arbitrary<DocumentedRequest>, { count, seed }: { count: number; seed: number }) =>
  fc.sample(requests, { numRuns: count, seed });
