/** Where the id in an answer can be used: `links` of OpenAPI 3.1, by which tools walk the API. */

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Content {
  readonly [mediaType: string]: { readonly schema?: Schema };
}

export interface LinkedOperation {
  operationId?: string;
  parameters?: { in: string; name?: string }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content; links?: Record<string, Link> }>;
}

interface Link {
  operationId: string;
  description: string;
  parameters?: Record<string, string>;
  requestBody?: Record<string, string>;
}

export interface Addressed {
  readonly method: string;
  readonly path: string;
  readonly operation: LinkedOperation;
}

/** Whose id is meant where a field or a filter is called so. */
const madeBy: Readonly<Record<string, string>> = {
  createPerson: "client_id",
  createBusiness: "business_id",
};

const jsonOf = (content: Content | undefined) => content?.["application/json"]?.schema;

/**
 * Adds links to the answers of what makes or lists things: to each operation whose path goes on
 * with the id, and to those that take the id by name. What is done with one thing names it in its
 * path, so whoever has its answer has the id already.
 */
export function linkOperations(operations: readonly Addressed[]): void {
  for (const { method, path, operation } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const answer = status.startsWith("2") ? jsonOf(response.content) : undefined;
      const links = answer && linksFrom(method, path, operation, answer, operations);
      if (links?.length) response.links = Object.fromEntries(links.map((link) => [link.operationId, link]));
    }
  }
}

function linksFrom(
  method: string,
  path: string,
  { operationId = "" }: LinkedOperation,
  answer: Schema,
  operations: readonly Addressed[],
): Link[] {
  if (operationId === "replayWebhookEndpoint") {
    const parameters = { id: "$request.path.id", replay_id: "$response.body#/id" };
    return [{ operationId: "getWebhookReplay", description: "Returns the progress of the replay.", parameters }];
  }
  const isList = answer.type === "array";
  const holder = isList ? answer.items : answer;
  const makesOrLists = method === "post" || isList;
  if (!makesOrLists || path.includes("{") || !holder?.properties?.["id"]) return [];
  const id = isList ? "$response.body#/0/id" : "$response.body#/id";
  const source = isList ? "first item of the page" : "created resource";
  return operations.flatMap(({ path: target, operation }): Link[] => {
    const link = { operationId: operation.operationId ?? "", description: `Uses the id of the ${source}.` };
    const [base = "", ...others] = target.split("/{");
    if (base !== "" && others.length === 1 && others[0]?.startsWith("id}") && isUnder(path, base, isList)) {
      return [{ ...link, parameters: { id } }];
    }
    const name = madeBy[operationId];
    if (name === undefined) return [];
    if (operation.parameters?.some((parameter) => parameter.in === "query" && parameter.name === name)) {
      return [{ ...link, parameters: { [name]: id } }];
    }
    const takesIt = jsonOf(operation.requestBody?.content)?.properties?.[name] && others.length === 0;
    return takesIt ? [{ ...link, requestBody: { [name]: id } }] : [];
  });
}

/** A person is made at /clients/person, and is one of /clients. */
const isUnder = (path: string, base: string, isList: boolean) => path === base || (!isList && path.startsWith(`${base}/`));
