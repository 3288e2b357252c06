import type { RpcFunction } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from "fastify";
import { type Static, type TObject, type TProperties, type TSchema, Type } from "typebox";
import type { BulkheadCall } from "./bulkheads/bulkhead-channel.ts";
import { callOf } from "./call.ts";
import { type BodyRule, bodyOf } from "./form/body.ts";
import { clearable } from "./form/field.ts";
import { paginationParameters } from "./form/query.ts";
import type { App } from "./gateway.ts";
import type { Tag } from "./openapi-tags.ts";
import { setPaginationHeaders } from "./pagination-headers.ts";
import { Problem } from "./problem.ts";
import { fieldMappingOf, toRpcRequest } from "./rpc-request.ts";

/** An operation of the API: the accepted fields, one RPC and a renderer. */
interface Operation<M, F, Rendered = M> {
  readonly tag: Tag;
  readonly rpc: RpcFunction<never, M>;
  /** The default is the name of the RPC. Required when another operation uses the same RPC. */
  readonly operationId?: string;
  readonly summary: string;
  readonly description: string;
  /** Schema of the response body. For a list, the schema of an item. */
  readonly response: TSchema;
  /** Media type of a file that the operation can return instead of JSON. */
  readonly alternativeType?: string;
  /** Returns a JSON value, or JSON text or bytes, which are sent unchanged. */
  readonly render: (message: Rendered, request: FastifyRequest, reply: FastifyReply) => unknown;
  readonly config?: FastifyContextConfig;
  /** OpenAPI security requirements, if they differ from the requirements of the document. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  /** Timeout of the RPC, for operations that wait for an external system. */
  readonly timeoutMs?: number;
  /**
   * Field names in the RPC request, by public name. Contains only the fields whose RPC name differs
   * from the public name.
   */
  readonly rpcNames?: Readonly<Record<string, string>>;
  /** Replaces the default execution, which sends the fields unchanged in one RPC. */
  readonly execute?: (fields: F, execution: Execution<M>) => Promise<Omit<M, "$typeName" | "$unknown">>;
}

interface Execution<M> {
  /** Calls the operation's RPC with the fields of its request. */
  readonly send: (fields: object) => Promise<M>;
  readonly call: BulkheadCall;
  readonly request: FastifyRequest;
}

interface Id {
  readonly id: string;
}
type Fields<P extends TProperties> = Id & Static<TObject<P>>;
type Filters<P extends TProperties> = Id & { limit: number; offset: number } & Partial<Static<TObject<P>>>;
type Changes<P extends TProperties> = Id & { [K in keyof Static<TObject<P>>]?: Static<TObject<P>>[K] | null };
type ItemOf<M> = { [K in Exclude<keyof M, "$unknown">]: M[K] extends (infer T)[] ? T : never }[Exclude<keyof M, "$unknown">];
/** Object schema with its properties and the names of its required properties. */
type ObjectSchema = TSchema & { readonly properties: TProperties; readonly required?: readonly string[] };

/** Adds a GET of one resource. `query` contains its optional query parameters. */
export function addReadRoute<M, P extends TProperties>(
  app: App,
  path: string,
  operation: Operation<M, Id & Partial<Static<TObject<P>>>> & { query?: P },
): void {
  const { query } = operation;
  route(app, "GET", path, 200, operation, query ? { querystring: Type.Object(mapSchemas(query, Type.Optional)) } : {});
}

/** Adds a GET of a page of resources. `filters` are optional, `requiredFilters` are not. */
export function addListRoute<M, P extends TProperties>(
  app: App,
  path: string,
  operation: Operation<M, Filters<P>, ItemOf<M>> & { filters?: P; requiredFilters?: TProperties },
): void {
  const { filters, requiredFilters, render, response } = operation;
  const querystring = Type.Object({
    ...paginationParameters(),
    ...requiredFilters,
    ...mapSchemas(filters ?? {}, Type.Optional),
  });
  const itemsField = operation.rpc.method.output.fields.find(({ fieldKind }) => fieldKind === "list");
  if (!itemsField) throw new TypeError(`the response of ${operation.rpc.method.name} has no list`);
  const renderPage: Operation<M, Filters<P>>["render"] = (page, request, reply) => {
    const rows = (page as Record<string, unknown>)[itemsField.localName] as ItemOf<M>[];
    setPaginationHeaders(request, reply, page as unknown as { total: number; totalIsCapped?: boolean }, rows.length);
    const rendered = rows.map((item) => render(item, request, reply));
    return typeof rendered[0] === "string" ? `[${rendered.join()}]` : rendered;
  };
  route(app, "GET", path, 200, { ...operation, response: Type.Array(response), render: renderPage }, { querystring });
}

/**
 * Adds a POST that creates a resource. The default of `location` is the routes' prefix followed by
 * the id.
 */
export function addCreateRoute<M, P extends TProperties>(
  app: App,
  path: string,
  operation: Operation<M, Fields<P>> & {
    body: P;
    aliases?: BodyRule["aliases"];
    /** 202 when the creation continues after the response. */
    status?: 201 | 202;
    location?: (created: M, request: FastifyRequest) => string;
  },
): void {
  const { body, aliases, status = 201, location = (created) => `${app.prefix}/${(created as Id).id}` } = operation;
  const render: Operation<M, Fields<P>>["render"] = (created, request, reply) => {
    reply.header("location", location(created, request));
    return operation.render(created, request, reply);
  };
  route(app, "POST", path, status, { ...operation, render }, { body: postBody(body, aliases) });
}

/** Adds a POST that acts on an existing resource. */
export function addActionRoute<M, P extends TProperties>(
  app: App,
  path: string,
  operation: Operation<M, Fields<P>> & { body?: P },
): void {
  route(app, "POST", path, 200, operation, { body: postBody(operation.body ?? {}) });
}

/**
 * Adds a PUT or PATCH that changes the fields in the body. Null clears the fields that are optional
 * in the response. Fields of `resource` that are not in `body` are rejected as immutable.
 */
export function addChangeRoute<M, P extends TProperties>(
  app: App,
  method: "PUT" | "PATCH",
  path: string,
  operation: Operation<M, Changes<P>> & {
    body: P;
    response: ObjectSchema;
    aliases?: BodyRule["aliases"];
    /** Schema of the resource, when the response has fewer fields. */
    resource?: ObjectSchema;
  },
): void {
  const { response, resource = response, aliases } = operation;
  const isOptional = (name: string) => Object.hasOwn(response.properties, name) && !response.required?.includes(name);
  const body = mapSchemas(operation.body, (schema, name) => Type.Optional(isOptional(name) ? clearable(schema) : schema));
  const immutable = Object.keys(resource.properties).filter((name) => !Object.hasOwn(body, name));
  route(app, method, path, 200, operation, { body: bodyOf(body, { immutable, aliases }) });
}

/** Adds a DELETE of one resource. */
export function addDeleteRoute<M>(app: App, path: string, operation: Omit<Operation<M, Id>, "response" | "render">): void {
  const response = Type.Null({ description: "Deleted." });
  route(app, "DELETE", path, 204, { ...operation, response, render: () => undefined }, {});
}

/** Returns the schema of a POST body. The body is optional when no field is required. */
function postBody(properties: TProperties, aliases?: BodyRule["aliases"]): TObject {
  return bodyOf(properties, { optional: Type.Object(properties).required === undefined, aliases });
}

function mapSchemas(schemas: TProperties, mapSchema: (schema: TSchema, name: string) => TSchema): TProperties {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, mapSchema(schema, name)]));
}

/** Returns the description of a response that is JSON or a file. */
const withAlternative = (schema: TSchema, type: string) => ({
  description: "Default Response",
  content: { "application/json": { schema }, [type]: { schema: Type.String({ format: "binary" }) } },
});

/**
 * Returns an id of the path in lower case. Throws `not_found` if the text is not a UUID, as for an
 * unknown id.
 */
function pathId(id: string): string {
  if (!isUuid(id)) throw Problem.of("not_found");
  return id.toLowerCase();
}

function route<M, F>(
  app: App,
  method: string,
  path: string,
  status: number,
  operation: Operation<M, F>,
  input: { querystring?: TObject; body?: TObject },
): void {
  const { rpc, render, timeoutMs, config, tag, summary, description, response, rpcNames = {}, execute } = operation;
  const { input: rpcInput, localName } = rpc.method;
  const ids = [...`${app.prefix}${path}`.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
  const names = [...ids, ...Object.keys((input.querystring ?? input.body)?.properties ?? {})];
  // Throws at start when the RPC has no field for one of the names.
  if (!execute) for (const name of names) fieldMappingOf(rpcInput, rpcNames[name] ?? name);
  app.route({
    method,
    url: path,
    ...(config && { config }),
    schema: {
      tags: [tag],
      operationId: operation.operationId ?? localName,
      summary,
      description,
      ...(operation.security && { security: operation.security }),
      ...(ids.length > 0 && {
        params: Type.Object(Object.fromEntries(ids.map((name) => [name, Type.String({ format: "uuid" })]))),
      }),
      ...input,
      querystring: input.querystring ?? Type.Object({}),
      response: { [status]: operation.alternativeType ? withAlternative(response, operation.alternativeType) : response },
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const params = request.params as Record<string, string>;
      const pathIds = Object.fromEntries(ids.map((name) => [name, pathId(params[name] ?? "")]));
      // Ignores the body if the operation has no schema for it. Some HTTP libraries send a body
      // with a DELETE.
      const validatedInput = input.querystring ? request.query : input.body && request.body;
      const fields = { ...(validatedInput as object), ...pathIds };
      const call = callOf(request, reply, timeoutMs);
      const send = (rpcFields: object) => rpc(toRpcRequest(rpcInput, rpcFields, rpcNames) as never, call);
      const message = await (execute ? execute(fields as F, { send, call, request }) : send(fields));
      const rendered = await render(message as M, request, reply);
      if (typeof rendered === "string") reply.type("application/json; charset=utf-8");
      return reply.code(status).send(rendered);
    },
  });
}
