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

/** A place in a request that identifies a resource or filters a list. */
export interface Place {
  readonly in: "path" | "query" | "body";
  readonly name: string;
  /** Name of the resource. For a place named `id`, it is the path segment before the place. */
  readonly resource: string;
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
  /** Required body fields that identify no resource, with values from the OpenAPI document. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** Required body fields for which the OpenAPI document offers no sample value. */
  readonly unknownFields: readonly string[];
}

const pageParameters = new Set(["limit", "offset"]);
/**
 * Names of fields that identify a resource. Their values are ids, tokens, or unique in a business.
 */
const identifierName = /(^|_)(ids?|token|email|ref|code)$/;

/** Returns all operations of the OpenAPI document, with the places that can identify a resource. */
export function readOperations(document: Document): Operation[] {
  const resolve = (schema: Schema): Schema =>
    schema.$ref ? (document.components?.schemas?.[schema.$ref.split("/").at(-1) ?? ""] ?? schema) : schema;

  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const parameters = operation.parameters ?? [];
      const body = operation.requestBody?.content["application/json"]?.schema;
      const { properties = {}, required = [] } = body ? resolve(body) : {};
      const fields = Object.entries(properties).map(([name, schema]) => ({ name, schema: resolve(schema) }));
      const fieldPlaces = fields.filter(({ name, schema }) => !schema.enum && isIdentifier(name, schema));
      const plainFields = fields.filter(
        ({ name }) => required.includes(name) && !fieldPlaces.some((place) => place.name === name),
      );
      return {
        name: operation.operationId,
        method: method.toUpperCase() as Operation["method"],
        path,
        isKeyless: operation.security?.length === 0,
        isList: method === "get" && parameters.some(({ name }) => name === "limit"),
        creates: method === "post" && "201" in operation.responses,
        takesIdempotencyKey: parameters.some(({ name }) => name === "Idempotency-Key"),
        places: [
          ...parameters
            .filter((parameter) => parameter.in === "path")
            .map(({ name }) => createPlace("path", name, findPathResource(path, name))),
          ...parameters
            .filter((parameter) => parameter.in === "query" && isFilter(parameter.name, resolve(parameter.schema)))
            .map(({ name }) => createPlace("query", name)),
          ...fieldPlaces.map(({ name }) => createPlace("body", name)),
        ],
        body: body && Object.fromEntries(plainFields.map(({ name, schema }) => [name, createSample(schema, resolve)])),
        unknownFields: plainFields.filter(({ schema }) => createSample(schema, resolve) === undefined).map(({ name }) => name),
      };
    }),
  );
}

const createPlace = (where: Place["in"], name: string, resource = name): Place => ({ in: where, name, resource });

const isIdentifier = (name: string, { format }: Schema) => format === "uuid" || identifierName.test(name);

/** Returns true if a parameter filters by values of a business, and not by an enum or a time. */
const isFilter = (name: string, { type, format, enum: choices }: Schema) =>
  !pageParameters.has(name) && !choices && type !== "boolean" && format !== "date-time" && format !== "date";

const findPathResource = (path: string, name: string) =>
  name === "id" ? (path.split("/").at(path.split("/").indexOf("{id}") - 1) ?? "") : name;

function createSample(schema: Schema, resolve: (schema: Schema) => Schema): unknown {
  const [first] = schema.examples ?? schema.enum ?? [];
  if (first !== undefined) return first;
  if (schema.type === "boolean") return false;
  if (schema.type === "integer") return schema.minimum ?? 1;
  if (schema.type === "array" && schema.items) return [createSample(resolve(schema.items), resolve)];
  return schema.type === "string" && !schema.format ? "as agreed" : undefined;
}
