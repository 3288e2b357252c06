/** Adds OpenAPI 3.1 `links`, which describe the operations that accept the id of a response. */
import { jsonOf, type Link, type Operation, type Schema } from "./openapi-schemas.ts";

export interface LinkTarget {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/**
 * Name of the field or filter with which other operations accept the id of the created resource.
 */
const idFieldOf: Readonly<Record<string, string>> = {
  createPerson: "client_id",
  createBusiness: "business_id",
};

/**
 * Adds links to the responses of operations that create or list resources. A link leads to each
 * operation that accepts the id in its path, in a field or in a filter. Operations on one resource
 * have no links, because their request already contains the id.
 */
export function linkOperations(operations: readonly LinkTarget[]): void {
  for (const { method, path, operation } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const schema = status.startsWith("2") ? jsonOf(response) : undefined;
      const links = schema && linksFrom(method, path, operation, schema, operations);
      if (links?.length) response.links = Object.fromEntries(links.map((link) => [link.operationId, link]));
    }
  }
}

function linksFrom(
  method: string,
  path: string,
  { operationId = "" }: Operation,
  schema: Schema,
  operations: readonly LinkTarget[],
): Link[] {
  if (operationId === "replayWebhookEndpoint") {
    const parameters = { id: "$request.path.id", replay_id: "$response.body#/id" };
    return [{ operationId: "getWebhookReplay", description: "Returns the progress of the replay.", parameters }];
  }
  const isList = schema.type === "array";
  const resourceSchema = isList ? schema.items : schema;
  const createsOrLists = method === "post" || isList;
  if (!createsOrLists || path.includes("{") || !resourceSchema?.properties?.["id"]) return [];
  const id = isList ? "$response.body#/0/id" : "$response.body#/id";
  const source = isList ? "first item of the page" : "created resource";
  return operations.flatMap(({ path: target, operation }): Link[] => {
    const link = { operationId: operation.operationId ?? "", description: `Uses the id of the ${source}.` };
    const [targetPath = "", ...others] = target.split("/{");
    if (targetPath !== "" && others.length === 1 && others[0]?.startsWith("id}") && isUnder(path, targetPath, isList)) {
      return [{ ...link, parameters: { id } }];
    }
    const name = idFieldOf[operationId];
    if (name === undefined) return [];
    if (operation.parameters?.some((parameter) => parameter.in === "query" && parameter.name === name)) {
      return [{ ...link, parameters: { [name]: id } }];
    }
    const acceptsId = jsonOf(operation.requestBody)?.properties?.[name] && others.length === 0;
    return acceptsId ? [{ ...link, requestBody: { [name]: id } }] : [];
  });
}

/**
 * Returns whether `path` creates or lists the resources at `targetPath`. For example, a person is
 * created at `/clients/person` and read at `/clients/{id}`.
 */
const isUnder = (path: string, targetPath: string, isList: boolean) =>
  path === targetPath || (!isList && path.startsWith(`${targetPath}/`));
