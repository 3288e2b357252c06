import { readFileSync } from "node:fs";

/** The parts of the OpenAPI document that the generators use, with method names from names.json. */
export interface Api {
  readonly models: readonly Model[];
  readonly resources: readonly Resource[];
}
export interface Resource {
  /** Example: "webhookEndpoints". */
  readonly name: string;
  readonly methods: readonly Method[];
}
export interface Method {
  readonly name: string;
  readonly verb: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly summary: string;
  readonly pathParameters: readonly string[];
  /** Model of the body or, for a list, of the query. */
  readonly input: { readonly model: string; readonly required: boolean } | undefined;
  readonly kind: "call" | "list" | "redirect";
  /** Type of the response or, for a list, of its items. Undefined if there is no content. */
  readonly result: Type | undefined;
}
export interface Model {
  readonly name: string;
  readonly fields: readonly Field[];
}
export interface Field {
  readonly name: string;
  readonly type: Type;
  readonly required: boolean;
  readonly nullable: boolean;
  readonly description: string | undefined;
}
export type Type =
  | { readonly kind: "string" | "integer" | "number" | "boolean" | "json" | "map" }
  | { readonly kind: "enum"; readonly values: readonly string[] }
  | { readonly kind: "array"; readonly of: Type }
  | { readonly kind: "model"; readonly name: string };

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}
interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema; description?: string }[];
  readonly requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
  readonly responses: Readonly<Record<string, { content?: Record<string, { schema: Schema }> }>>;
}
interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const read = <T>(path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")) as T;
const document = read<Document>("../../docs/api/openapi.json");
const names = read<Record<string, string>>("../names.json");

const resolveSchema = (schema: Schema) =>
  schema.$ref === undefined ? schema : (document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});

export const capitalise = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
const toPascalCase = (name: string) => name.split(/[_-]/).map(capitalise).join("");

/** Collects the models of the document. Schemas of the same form share one model. */
class Models {
  readonly models: Model[] = [];
  readonly #nameOf = new Map<string, string>();

  /**
   * Returns the type of a schema. The type of an object is a model: an existing equal model, or
   * otherwise a new model. The name of a new model is the schema's name in the document, or
   * `fieldName`.
   */
  typeOf(schema: Schema, fieldName: string): { type: Type; nullable: boolean } {
    const target = resolveSchema(schema);
    const name = schema.$ref?.split("/").at(-1) ?? fieldName;
    if (target.anyOf) {
      const others = target.anyOf.filter(({ type }) => type !== "null");
      const isText = others.length > 1 || others[0]?.enum === undefined;
      const [firstSchema = {}] = others;
      const type: Type = isText && firstSchema.type === "string" ? { kind: "string" } : this.typeOf(firstSchema, name).type;
      return { type, nullable: others.length < target.anyOf.length };
    }
    return { type: this.#plainTypeOf(target, name), nullable: false };
  }

  #plainTypeOf(schema: Schema, name: string): Type {
    if (schema.enum) return { kind: "enum", values: schema.enum };
    if (schema.type === "array") return { kind: "array", of: this.typeOf(schema.items ?? {}, name).type };
    if (Object.keys(schema.properties ?? {}).length > 0) return { kind: "model", name: this.#modelOf(schema, name) };
    if (schema.type === "object") return { kind: "map" };
    const kinds = ["string", "integer", "number", "boolean"] as const;
    return { kind: kinds.find((kind) => kind === schema.type) ?? "json" };
  }

  #modelOf({ properties = {}, required = [] }: Schema, name: string): string {
    const form = JSON.stringify([properties, required], (key, value) =>
      ["description", "examples"].includes(key) ? undefined : value,
    );
    const existingName = this.#nameOf.get(form);
    if (existingName !== undefined) return existingName;
    if (this.models.some((model) => model.name === name)) throw new Error(`Two different schemas have the name ${name}`);
    this.#nameOf.set(form, name);
    const model = { name, fields: [] as Field[] };
    this.models.push(model);
    for (const [field, schema] of Object.entries(properties)) {
      const { type, nullable } = this.typeOf(schema, name + toPascalCase(field));
      model.fields.push({ name: field, type, nullable, required: required.includes(field), description: schema.description });
    }
    return name;
  }
}

const successResponse = ({ responses }: Operation) => Object.entries(responses).find(([status]) => Number(status) < 400) ?? [];
const resultSchema = (operation: Operation) => successResponse(operation)[1]?.content?.["application/json"]?.schema;

/** Returns whether the response is a stream, such as JSON lines. Such operations get no method. */
const isStreamed = (operation: Operation) => {
  const { content } = successResponse(operation)[1] ?? {};
  return content !== undefined && content["application/json"] === undefined;
};

/** Reads the document. Throws if an operation has no name, or if a name has no operation. */
export function readApi(): Api {
  const operations = Object.entries(document.paths)
    .flatMap(([path, verbs]) =>
      Object.entries(verbs).map(([verb, operation]) => ({ path, verb: verb.toUpperCase() as Method["verb"], operation })),
    )
    .filter(({ operation }) => !isStreamed(operation));
  const ids = operations.map(({ operation }) => operation.operationId);
  const unnamed = ids.filter((id) => names[id] === undefined);
  const obsolete = Object.keys(names).filter((id) => !ids.includes(id));
  if (unnamed.length + obsolete.length > 0)
    throw new Error(
      `sdks/names.json has no name for the operations [${unnamed}], and has names for unknown operations [${obsolete}]`,
    );

  const models = new Models();
  const resources = new Map<string, Method[]>();
  for (const { path, verb, operation } of operations) {
    const [resource = "", name = ""] = names[operation.operationId]?.split(".") ?? [];
    const methods = resources.get(resource) ?? [];
    resources.set(resource, [...methods, methodOf(models, { name, path, verb, operation })]);
  }
  const sorted = [...resources].sort(([a], [b]) => (a < b ? -1 : 1));
  return { models: models.models, resources: sorted.map(([name, methods]) => ({ name, methods })) };
}

function methodOf(models: Models, details: { name: string; path: string; verb: Method["verb"]; operation: Operation }): Method {
  const { name, path, verb, operation } = details;
  const id = capitalise(operation.operationId);
  const parameters = operation.parameters ?? [];
  const query = parameters.filter((parameter) => parameter.in === "query");
  const body = operation.requestBody?.content["application/json"]?.schema;
  const [status] = successResponse(operation);
  const schema = resultSchema(operation);
  const isList = verb === "GET" && schema?.type === "array";
  const result = schema && models.typeOf(schema, `${id}Result`).type;
  return {
    name,
    verb,
    path,
    summary: operation.summary ?? "",
    pathParameters: parameters.filter((parameter) => parameter.in === "path").map((parameter) => parameter.name),
    input: isList ? inputOf(models, asSchema(query), `${id}Query`, false) : inputOf(models, body, `${id}Body`, isRequired(body)),
    kind: isList ? "list" : status === "303" ? "redirect" : "call",
    result: isList && result?.kind === "array" ? result.of : result,
  };
}

const isRequired = (schema: Schema | undefined) => (schema ? (resolveSchema(schema).required ?? []) : []).length > 0;

function inputOf(models: Models, schema: Schema | undefined, name: string, required: boolean): Method["input"] {
  // The method has no parameter for a body without properties.
  if (!schema || Object.keys(resolveSchema(schema).properties ?? {}).length === 0) return undefined;
  const { type } = models.typeOf(schema, name);
  if (type.kind !== "model") throw new Error(`${name} is not an object`);
  return { model: type.name, required };
}

function asSchema(parameters: NonNullable<Operation["parameters"]>): Schema {
  const entries = parameters.map(({ name, schema, description }) => [name, { ...schema, ...(description && { description }) }]);
  return { type: "object", properties: Object.fromEntries(entries) as Record<string, Schema> };
}
