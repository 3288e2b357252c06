interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

/** Something in a request that names a thing, or that a list is narrowed by. */
export interface Place {
  readonly in: "path" | "query" | "body";
  readonly name: string;
  /** What is looked up to fill it: the name, or for `id` in a path what stands before it there. */
  readonly noun: string;
}

export interface Operation {
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly isKeyless: boolean;
  readonly isList: boolean;
  readonly creates: boolean;
  readonly takesIdempotencyKey: boolean;
  readonly places: readonly Place[];
  /** The required fields of the body that name nothing, with a value the document itself gives. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** Required fields of the body that the document says too little about. */
  readonly unknownFields: readonly string[];
}

const pageParameters = new Set(["limit", "offset"]);
/**
 * Names of things, whoever gave them: an id, a token, or what may be unique within one business.
 */
const namesSomething = /(^|_)(ids?|token|email|ref|code)$/;

/**
 * Every operation that the document of the running gateway describes, with all places in it that
 * can name a thing.
 */
export function readOperations(document: Document): Operation[] {
  const resolve = (schema: Schema): Schema =>
    schema.$ref ? (document.components?.schemas?.[schema.$ref.split("/").at(-1) ?? ""] ?? schema) : schema;

  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const parameters = operation.parameters ?? [];
      const body = operation.requestBody?.content["application/json"]?.schema;
      const { properties = {}, required = [] } = body ? resolve(body) : {};
      const fields = Object.entries(properties).map(([name, schema]) => ({ name, schema: resolve(schema) }));
      const fieldPlaces = fields.filter(({ name, schema }) => !schema.enum && isName(name, schema));
      const plain = fields.filter(({ name }) => required.includes(name) && !fieldPlaces.some((place) => place.name === name));
      return {
        name: operation.operationId,
        method: method.toUpperCase() as Operation["method"],
        path,
        isKeyless: operation.security?.length === 0,
        isList: method === "get" && parameters.some(({ name }) => name === "limit"),
        creates: method === "post" && "201" in operation.responses,
        takesIdempotencyKey: parameters.some(({ name }) => name === "Idempotency-Key"),
        places: [
          ...parameters.filter((one) => one.in === "path").map(({ name }) => place("path", name, nounBefore(path, name))),
          ...parameters
            .filter((one) => one.in === "query" && narrows(one.name, resolve(one.schema)))
            .map(({ name }) => place("query", name)),
          ...fieldPlaces.map(({ name }) => place("body", name)),
        ],
        body: body && Object.fromEntries(plain.map(({ name, schema }) => [name, sampleOf(schema, resolve)])),
        unknownFields: plain.filter(({ schema }) => sampleOf(schema, resolve) === undefined).map(({ name }) => name),
      };
    }),
  );
}

const place = (where: Place["in"], name: string, noun = name): Place => ({ in: where, name, noun });

const isName = (name: string, { format }: Schema) => format === "uuid" || namesSomething.test(name);

/**
 * A filter whose value a business made up or was given; choices and times say nothing about
 * anybody.
 */
const narrows = (name: string, { type, format, enum: choices }: Schema) =>
  !pageParameters.has(name) && !choices && type !== "boolean" && format !== "date-time" && format !== "date";

const nounBefore = (path: string, name: string) =>
  name === "id" ? (path.split("/").at(path.split("/").indexOf("{id}") - 1) ?? "") : name;

function sampleOf(schema: Schema, resolve: (schema: Schema) => Schema): unknown {
  const [first] = schema.examples ?? schema.enum ?? [];
  if (first !== undefined) return first;
  if (schema.type === "boolean") return false;
  if (schema.type === "integer") return schema.minimum ?? 1;
  if (schema.type === "array" && schema.items) return [sampleOf(resolve(schema.items), resolve)];
  return schema.type === "string" && !schema.format ? "as agreed" : undefined;
}
