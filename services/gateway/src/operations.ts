import type { RpcFunction } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from "fastify";
import { type Static, type TObject, type TProperties, type TSchema, Type } from "typebox";
import type { BulkheadCall } from "./bulkheads/bulkhead-channel.ts";
import { callOf } from "./call.ts";
import { type BodyRule, bodyOf } from "./form/body.ts";
import { clearable } from "./form/field.ts";
import { pageParameters } from "./form/query.ts";
import type { App } from "./gateway.ts";
import { pageHeaders } from "./page-headers.ts";
import { Problem } from "./problem.ts";
import { requestOf, sourceOf } from "./rpc-request.ts";

/** One operation of the API: a form, one RPC, a renderer. */
interface Operation<M, F, Shown = M> {
  readonly tags: readonly string[];
  readonly rpc: RpcFunction<never, M>;
  /** The RPC's name, unless another operation has it. */
  readonly operationId?: string;
  readonly summary: string;
  readonly description?: string;
  readonly answer: TSchema;
  /** JSON, or a text of JSON, which goes out as it is. */
  readonly render: (message: Shown, request: FastifyRequest, reply: FastifyReply) => unknown;
  readonly config?: FastifyContextConfig;
  /** As OpenAPI says it, where it is not a key of the scope. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  /** For what waits for more than a service. */
  readonly timeoutMs?: number;
  /** What the RPC calls a field otherwise. */
  readonly rpcNames?: Readonly<Record<string, string>>;
  /** Where the fields alone do not make the request. */
  readonly ask?: (fields: F, asking: Asking<M>) => Promise<Omit<M, "$typeName" | "$unknown">>;
}

interface Asking<M> {
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
/** A schema that says which fields there are and which are always there. */
type Shape = TSchema & { readonly properties: TProperties; readonly required?: readonly string[] };

export function read<M>(app: App, path: string, operation: Operation<M, Id>): void {
  route(app, "GET", path, 200, operation, {});
}

/** A page of what the filters let through, all of which may be left out but the `required` ones. */
export function list<M, P extends TProperties>(
  app: App,
  path: string,
  operation: Operation<M, Filters<P>, ItemOf<M>> & { filters?: P; required?: TProperties },
): void {
  const { filters, required, render, answer } = operation;
  const querystring = Type.Object({ ...pageParameters(), ...required, ...each(filters ?? {}, Type.Optional) });
  const items = operation.rpc.method.output.fields.find(({ fieldKind }) => fieldKind === "list");
  if (!items) throw new TypeError(`${operation.rpc.method.name} does not answer a list`);
  const renderPage: Operation<M, Filters<P>>["render"] = (page, request, reply) => {
    const found = (page as Record<string, unknown>)[items.localName] as ItemOf<M>[];
    pageHeaders(request, reply, page as unknown as { total: number; totalIsCapped?: boolean }, found.length);
    const rendered = found.map((item) => render(item, request, reply));
    return typeof rendered[0] === "string" ? `[${rendered.join()}]` : rendered;
  };
  route(app, "GET", path, 200, { ...operation, answer: Type.Array(answer), render: renderPage }, { querystring });
}

/** A POST that makes something, whose address is, unless given, that of its routes and its id. */
export function create<M, P extends TProperties>(
  app: App,
  path: string,
  operation: Operation<M, Fields<P>> & {
    body: P;
    otherNames?: BodyRule["otherNames"];
    /** 202: it is still being made. */
    status?: 201 | 202;
    location?: (made: M, request: FastifyRequest) => string;
  },
): void {
  const { body, otherNames, status = 201, location = (made) => `${app.prefix}/${(made as Id).id}` } = operation;
  const render: Operation<M, Fields<P>>["render"] = (made, request, reply) => {
    reply.header("location", location(made, request));
    return operation.render(made, request, reply);
  };
  route(app, "POST", path, status, { ...operation, render }, { body: postBody(body, otherNames) });
}

/** A POST that does something with what is there. */
export function act<M, P extends TProperties>(app: App, path: string, operation: Operation<M, Fields<P>> & { body?: P }): void {
  route(app, "POST", path, 200, operation, { body: postBody(operation.body ?? {}) });
}

/**
 * A change of the named fields. Null clears those that the answer can be without. What the whole
 * resource shows besides is refused as something that cannot be changed.
 */
export function change<M, P extends TProperties>(
  app: App,
  method: "PUT" | "PATCH",
  path: string,
  operation: Operation<M, Changes<P>> & {
    body: P;
    answer: Shape;
    otherNames?: BodyRule["otherNames"];
    /** The resource, where the answer to a change shows less. */
    whole?: Shape;
  },
): void {
  const { answer, whole = answer, otherNames } = operation;
  const isOptional = (name: string) => Object.hasOwn(answer.properties, name) && !answer.required?.includes(name);
  const body = each(operation.body, (schema, name) => Type.Optional(isOptional(name) ? clearable(schema) : schema));
  const immutable = Object.keys(whole.properties).filter((name) => !Object.hasOwn(body, name));
  route(app, method, path, 200, operation, { body: bodyOf(body, { immutable, ...(otherNames && { otherNames }) }) });
}

export function remove<M>(app: App, path: string, operation: Omit<Operation<M, Id>, "answer" | "render">): void {
  const answer = Type.Null({ description: "Deleted." });
  route(app, "DELETE", path, 204, { ...operation, answer, render: () => undefined }, {});
}

/** A POST that requires no field acts without a body. */
function postBody<P extends TProperties>(properties: P, otherNames: BodyRule["otherNames"] = {}): TObject {
  return bodyOf(properties, { optional: Type.Object(properties).required === undefined, otherNames });
}

function each(schemas: TProperties, make: (schema: TSchema, name: string) => TSchema): TProperties {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, make(schema, name)]));
}

/** An id in a path. One that is no UUID names nothing, like any unknown one. */
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
  form: { querystring?: TObject; body?: TObject },
): void {
  const { rpc, render, timeoutMs, config, tags, summary, description, answer, rpcNames = {}, ask } = operation;
  const { input, localName } = rpc.method;
  const ids = [...`${app.prefix}${path}`.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
  const names = [...ids, ...Object.keys((form.querystring ?? form.body)?.properties ?? {})];
  if (!ask) for (const name of names) sourceOf(input, rpcNames[name] ?? name);
  app.route({
    method,
    url: path,
    ...(config && { config }),
    schema: {
      tags,
      operationId: operation.operationId ?? localName,
      summary,
      ...(description && { description }),
      ...(operation.security && { security: operation.security }),
      ...(ids.length > 0 && {
        params: Type.Object(Object.fromEntries(ids.map((name) => [name, Type.String({ format: "uuid" })]))),
      }),
      ...form,
      querystring: form.querystring ?? Type.Object({}),
      response: { [status]: answer },
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const params = request.params as Record<string, string>;
      const named = Object.fromEntries(ids.map((name) => [name, pathId(params[name] ?? "")]));
      // Only what a form has checked: a DELETE has none, and may come with a body.
      const given = form.querystring ? request.query : form.body && request.body;
      const fields = { ...(given as object), ...named };
      const call = callOf(request, reply, timeoutMs);
      const send = (given: object) => rpc(requestOf(input, given, rpcNames) as never, call);
      const message = await (ask ? ask(fields as F, { send, call, request }) : send(fields));
      const rendered = await render(message as M, request, reply);
      if (typeof rendered === "string") reply.type("application/json; charset=utf-8");
      return reply.code(status).send(rendered);
    },
  });
}
