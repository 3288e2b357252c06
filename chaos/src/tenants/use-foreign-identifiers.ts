import { randomUUID } from "node:crypto";
import type { ApiResponse } from "@amana/dev-env/demo/api";
import type { System } from "@amana/dev-env/system";
import { request } from "undici";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import { type Document, type Operation, type Place, readOperations } from "./operations.ts";
import { chosenByBusiness, extraFields, sharedResources } from "./resources.ts";
import { createTenant, createUnknownIdentifier, type Tenant } from "./tenant.ts";

/** The identifier at each place of a request. */
type IdentifiersByPlace = ReadonlyMap<Place, string | number>;

/**
 * Sends requests of one business (the stranger) with identifiers of another business (the owner),
 * at every place of every operation in the OpenAPI document. The responses must be the same as for
 * identifiers that do not exist.
 */
export async function useForeignIdentifiers(system: System, random: Random, report: Report): Promise<void> {
  const document = (await (await request(`${system.gatewayUrl}/openapi.json`)).body.json()) as Document;
  const mark = () => `zq${random.integer(1e9, 2e9).toString(36)}`;
  const [owner, stranger] = await Promise.all([createTenant(system, mark()), createTenant(system, mark())]);
  // Reads twice, because the first read may update resources with data of external systems.
  await readAll(document, owner);
  const textsBefore = await readAll(document, owner);

  // GET operations run first. Later creations store the owner's values in the stranger's resources,
  // and a read of such a resource would look like a leak. DELETE operations run last, because the
  // other operations need the stranger's resources.
  const phase = ({ method }: Operation) => (method === "GET" ? 0 : method === "DELETE" ? 2 : 1);
  const operations = readOperations(document).sort((a, b) => phase(a) - phase(b));
  for (const operation of operations) {
    report.count("operations");
    if (operation.isKeyless) report.count("operations that need no key");
    else await sendForeignIdentifiers(operation, owner, stranger, report);
  }
  const textsAfter = await readAll(document, owner);
  for (const [address, text] of textsBefore) {
    report.check(
      "resources of the owner are unchanged",
      textsAfter.get(address) === text,
      () => `${address}\n${text}\n${textsAfter.get(address)}`,
    );
  }
  for (const operation of operations.filter(({ takesIdempotencyKey, isKeyless }) => takesIdempotencyKey && !isKeyless)) {
    if (operation.creates) await checkIdempotencyKey(operation, owner, stranger, report);
  }
}

async function sendForeignIdentifiers(operation: Operation, owner: Tenant, stranger: Tenant, report: Report): Promise<void> {
  const { name, places, unknownFields } = operation;
  if ((await call(operation, stranger, fillPlaces(operation, {}))).body["code"] === "admin_required") {
    return await checkOperatorOperation(operation, owner, stranger, report);
  }
  const isForOperators = /^\/api\/v1\/(admin|businesses)(\/|$)/.test(operation.path);
  report.check("an operation on a path for operators rejects the key of a business", !isForOperators, () => name);
  for (const field of unknownFields) report.violation(`${name}: ${field} has no example value; add an example to its schema`);

  for (const place of places.filter(({ resource }) => !sharedResources.has(resource))) {
    const ownerValue = owner.identifiers[place.resource];
    if (ownerValue === undefined) {
      report.violation(
        `${name}: ${place.in} ${place.name} has the resource "${place.resource}"; add it to chaos/src/tenants/resources.ts`,
      );
      continue;
    }
    await sendForeignIdentifier(operation, place, ownerValue, owner, stranger, report);
  }
  if (operation.isList) await checkUnfilteredList(operation, owner, stranger, report);
}

async function sendForeignIdentifier(
  operation: Operation,
  place: Place,
  ownerValue: string | number,
  owner: Tenant,
  stranger: Tenant,
  report: Report,
): Promise<void> {
  report.count("places tested");
  const ownValues = fillPlaces(operation, stranger.identifiers, [place]);
  const unknownValue = createUnknownIdentifier(place.resource, ownerValue);
  const response = await call(operation, stranger, new Map(ownValues).set(place, ownerValue));
  const unknownResponse = await call(operation, stranger, new Map(ownValues).set(place, unknownValue));
  const description = `${operation.name} with another business's ${place.name} in the ${place.in}`;
  const [actual, expected] = [
    comparedPartsOf(response, operation, ownerValue),
    comparedPartsOf(unknownResponse, operation, unknownValue),
  ];
  report.check(
    "a resource of another business gets the same response as an unknown resource",
    actual === expected,
    () => `${description}\n  actual   ${actual}\n  expected ${expected}`,
  );
  checkNoLeak(response, owner, description, [ownerValue], report);

  // Checks that a business's request for its own resource succeeds. Otherwise the comparison would
  // prove nothing.
  if (chosenByBusiness.has(place.resource) || place.in === "query") {
    const ownerList = operation.isList
      ? await call(operation, owner, fillPlaces(operation, owner.identifiers, [place]))
      : undefined;
    if (ownerList) {
      const total = Number(ownerList.headers["x-total-count"]);
      report.check(
        "the owner finds its resource with this filter",
        ownerList.status === 200 && total > 0,
        () => `${description}: ${ownerList.status}`,
      );
    }
    return;
  }
  const ownResponse = await call(operation, stranger, fillPlaces(operation, stranger.identifiers, [place]));
  const isFound = ownResponse.status < 500 && ownResponse.status !== 404 && ownResponse.status !== 422;
  report.check(
    "a business finds its own resource",
    isFound,
    () => `${description}: the business's own resource returned ${ownResponse.status} ${ownResponse.text}`,
  );
  report.check(
    "a resource of another business returns 404",
    response.status === 404,
    () => `${description}: ${response.status} ${response.text}`,
  );
}

async function checkUnfilteredList(operation: Operation, owner: Tenant, stranger: Tenant, report: Report): Promise<void> {
  report.count("lists");
  const values = fillPlaces(operation, stranger.identifiers);
  checkNoLeak(await call(operation, stranger, values, "limit=100"), owner, `${operation.name}, unfiltered`, [], report);
}

async function checkOperatorOperation(operation: Operation, owner: Tenant, stranger: Tenant, report: Report): Promise<void> {
  report.count("operations of operators");
  const response = await call(operation, stranger, fillPlaces(operation, owner.identifiers));
  const unknownResponse = await call(operation, stranger, fillPlaces(operation, {}));
  const isRejected =
    response.status === 403 && comparedPartsOf(response, operation) === comparedPartsOf(unknownResponse, operation);
  report.check(
    "operator operations reject the key of a business",
    isRejected,
    () => `${operation.name}: ${response.status} ${response.text}`,
  );
}

/** Checks that an Idempotency-Key of one business counts as a new key for another business. */
async function checkIdempotencyKey(operation: Operation, owner: Tenant, stranger: Tenant, report: Report): Promise<void> {
  const headers = { "idempotency-key": randomUUID() };
  const ownerResponse = await call(operation, owner, fillRequired(operation, owner.identifiers), "", headers);
  const ownResponse = await call(operation, stranger, fillRequired(operation, stranger.identifiers), "", headers);
  const description = `${operation.name} with another business's Idempotency-Key`;
  const isNew =
    ownResponse.headers["idempotent-replayed"] === undefined && !String(ownResponse.body["code"]).startsWith("idempotency_");
  report.check(
    "an Idempotency-Key belongs to one business",
    isNew,
    () => `${description}: ${ownerResponse.status}, then ${ownResponse.status} ${ownResponse.text}`,
  );
  checkNoLeak(ownResponse, owner, description, [], report);
}

/**
 * Checks that the response contains no id and no text of the owner, except values that the request
 * contained.
 */
function checkNoLeak(
  response: ApiResponse,
  owner: Tenant,
  description: string,
  sent: readonly (string | number)[],
  report: Report,
): void {
  const leaked = [owner.mark, ...Object.values(owner.identifiers)]
    .filter((name) => typeof name === "string" && !sent.includes(name))
    .filter((name) => !sent.some((value) => String(value).includes(String(name))))
    .filter((name) => `${response.text}${JSON.stringify(response.headers)}`.includes(String(name)));
  report.check(
    "no response contains data of another business",
    leaked.length === 0,
    () => `${description} contains ${leaked.join(", ")}: ${response.text}`,
  );
}

/**
 * Returns values for all places in the path, for the required places, and for `additionalPlaces`.
 */
function fillPlaces(
  operation: Operation,
  identifiers: Tenant["identifiers"],
  additionalPlaces: readonly Place[] = [],
): Map<Place, string | number> {
  const placesToFill = operation.places.filter(
    (place) => place.in === "path" || additionalPlaces.includes(place) || isRequiredPlace(operation, place),
  );
  return new Map(placesToFill.map((place) => [place, identifiers[place.resource] ?? randomUUID()]));
}

/** Returns values for the required places. Each e-mail address is new. */
function fillRequired(operation: Operation, identifiers: Tenant["identifiers"]): IdentifiersByPlace {
  const values = fillPlaces(operation, identifiers);
  for (const [place] of values) if (place.resource.endsWith("email")) values.set(place, `${randomUUID()}@example.dz`);
  return values;
}

const isRequiredPlace = ({ creates }: Operation, { in: where, resource }: Place) =>
  creates &&
  where === "body" &&
  (resource === "client_id" || resource === "business_id" || resource === "email" || resource === "country_code");

async function call(
  operation: Operation,
  tenant: Tenant,
  values: IdentifiersByPlace,
  query = "",
  headers: Record<string, string> = {},
) {
  const search = new URLSearchParams(query);
  let { path } = operation;
  const body: Record<string, unknown> = { ...operation.body, ...extraFields[operation.name] };
  for (const [place, value] of values) {
    if (place.in === "path") path = path.replace(`{${place.name}}`, String(value));
    else if (place.in === "query") search.set(place.name, String(value));
    else body[place.name] = place.resource === "country_code" ? "DZA" : value;
  }
  const address = search.size > 0 ? `${path}?${search}` : path;
  return await tenant.business.call(operation.method, address, operation.body && body, headers);
}

const comparedHeaders = ["content-type", "x-total-count", "link", "allow", "retry-after", "location"];

/** Returns the parts of a response that must not depend on the owner of an identifier. */
function comparedPartsOf({ status, headers, text }: ApiResponse, { isList }: Operation, sent?: string | number): string {
  const headerText = comparedHeaders
    .map((name) => `${name}: ${name === "location" ? Boolean(headers[name]) : headers[name]}`)
    .join(", ");
  // Omits a created or changed resource, because it belongs to the stranger and differs each time.
  const body = status < 300 && !isList ? "" : text.replaceAll(/"(request_id|instance)":"[^"]*"/g, "");
  const compared = `${status} ${body} ${headerText}`;
  if (sent === undefined) return compared;
  const [plain, encoded] = typeof sent === "number" ? [`=${sent}`, `=${sent}`] : [sent, encodeURIComponent(sent)];
  return compared.replaceAll(encoded, "…").replaceAll(plain, "…");
}

/** Reads all resources of the owner, without fields that change over time. */
async function readAll(document: Document, owner: Tenant): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const operation of readOperations(document)) {
    if (operation.method !== "GET" || operation.isKeyless) continue;
    const { status, text } = await call(operation, owner, fillPlaces(operation, owner.identifiers));
    if (status === 200)
      texts.set(operation.name, text.replaceAll(/"(synced_at|updated_at|last_used_at)":"[^"]*"|"health":{[^}]*}/g, ""));
  }
  return texts;
}
