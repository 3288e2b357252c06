import { randomUUID } from "node:crypto";
import type { Answer } from "@amana/dev-env/demo/api";
import type { System } from "@amana/dev-env/system";
import { request } from "undici";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import { alsoNeeded, chosenNouns, commonNouns, unmadeNouns } from "./nouns.ts";
import { type Document, type Operation, type Place, readOperations } from "./operations.ts";
import { makeTenant, nameOfNothing, type Tenant } from "./things.ts";

/** Names in a request: what fills which place. */
type Filling = ReadonlyMap<Place, string | number>;

/**
 * One business tries to reach another's things by every operation that the gateway describes, at
 * every place that can name one. What it gets must be what it gets for a name of nothing.
 */
export async function trespass(system: System, random: Random, report: Report): Promise<void> {
  const document = (await (await request(`${system.gatewayUrl}/openapi.json`)).body.json()) as Document;
  const mark = () => `zq${random.integer(1e9, 2e9).toString(36)}`;
  const [owner, stranger] = await Promise.all([makeTenant(system, mark()), makeTenant(system, mark())]);
  // A first read brings things up to date with the world outside.
  await readAll(document, owner);
  const before = await readAll(document, owner);

  // Reads first: afterwards the stranger has things that it called as the owner calls its own. What
  // an operation destroys of the stranger's own, the others still need.
  const turn = ({ method }: Operation) => (method === "GET" ? 0 : method === "DELETE" ? 2 : 1);
  const operations = readOperations(document).sort((a, b) => turn(a) - turn(b));
  for (const operation of operations) {
    report.count("operations");
    if (operation.isKeyless) report.count("operations that need no key");
    else await tryOperation(operation, owner, stranger, report);
  }
  const after = await readAll(document, owner);
  for (const [address, text] of before) {
    report.check(
      "nothing changed at the owner's",
      after.get(address) === text,
      () => `${address}\n${text}\n${after.get(address)}`,
    );
  }
  for (const operation of operations.filter(({ takesIdempotencyKey, isKeyless }) => takesIdempotencyKey && !isKeyless)) {
    if (operation.creates) await tryIdempotencyKey(operation, owner, stranger, report);
  }
}

async function tryOperation(operation: Operation, owner: Tenant, stranger: Tenant, report: Report): Promise<void> {
  const { name, places, unknownFields } = operation;
  if ((await call(operation, stranger, fill(operation, {}))).body["code"] === "admin_required") {
    return await tryAdminOperation(operation, owner, stranger, report);
  }
  const isForOperators = /^\/api\/v1\/(admin|businesses)(\/|$)/.test(operation.path);
  report.check("operators' addresses refuse a business's key", !isForOperators, () => name);
  for (const field of unknownFields) report.violation(`${name}: nothing is known to send as ${field}; give it an example`);

  for (const place of places.filter(({ noun }) => !commonNouns.has(noun))) {
    const theirs = owner.names[place.noun];
    if (unmadeNouns.has(place.noun)) {
      report.count("places that nothing can be made for yet");
      continue;
    }
    if (theirs === undefined) {
      report.violation(`${name}: ${place.in} ${place.name} has the noun "${place.noun}"; add it to chaos/src/tenants/nouns.ts`);
      continue;
    }
    await tryPlace(operation, place, theirs, owner, stranger, report);
  }
  if (operation.isList) await tryList(operation, owner, stranger, report);
}

async function tryPlace(
  operation: Operation,
  place: Place,
  theirs: string | number,
  owner: Tenant,
  stranger: Tenant,
  report: Report,
): Promise<void> {
  report.count("places tried");
  const own = fill(operation, stranger.names, [place]);
  const nothing = nameOfNothing(place.noun, theirs);
  const got = await call(operation, stranger, new Map(own).set(place, theirs));
  const forNothing = await call(operation, stranger, new Map(own).set(place, nothing));
  const what = `${operation.name} with another's ${place.name} in the ${place.in}`;
  const [seen, expected] = [shown(got, operation, theirs), shown(forNothing, operation, nothing)];
  report.check(
    "another's is as unknown as nothing",
    seen === expected,
    () => `${what}\n  got      ${seen}\n  expected ${expected}`,
  );
  checkSilence(got, owner, what, [theirs], report);

  // The same request about a thing of one's own fares better, or the comparison says nothing.
  if (chosenNouns.has(place.noun) || place.in === "query") {
    const found = operation.isList ? await call(operation, owner, fill(operation, owner.names, [place])) : undefined;
    if (found) {
      const total = Number(found.headers["x-total-count"]);
      report.check("the owner finds it by this filter", found.status === 200 && total > 0, () => `${what}: ${found.status}`);
    }
    return;
  }
  const mine = await call(operation, stranger, fill(operation, stranger.names, [place]));
  const judged = mine.status < 500 && mine.status !== 404 && mine.status !== 422;
  report.check("one's own is found", judged, () => `${what}: one's own got ${mine.status} ${mine.text}`);
  report.check("another's is 404", got.status === 404, () => `${what}: ${got.status} ${got.text}`);
}

async function tryList(operation: Operation, owner: Tenant, stranger: Tenant, report: Report): Promise<void> {
  report.count("lists");
  const filling = fill(operation, stranger.names);
  checkSilence(await call(operation, stranger, filling, "limit=100"), owner, `${operation.name}, unfiltered`, [], report);
}

async function tryAdminOperation(operation: Operation, owner: Tenant, stranger: Tenant, report: Report): Promise<void> {
  report.count("operations of operators");
  const got = await call(operation, stranger, fill(operation, owner.names));
  const forNothing = await call(operation, stranger, fill(operation, {}));
  const refused = got.status === 403 && shown(got, operation) === shown(forNothing, operation);
  report.check("operators' operations refuse a business's key", refused, () => `${operation.name}: ${got.status} ${got.text}`);
}

/** A key that another business used for the same request is a new one here. */
async function tryIdempotencyKey(operation: Operation, owner: Tenant, stranger: Tenant, report: Report): Promise<void> {
  const headers = { "idempotency-key": randomUUID() };
  const theirs = await call(operation, owner, fillRequired(operation, owner.names), "", headers);
  const mine = await call(operation, stranger, fillRequired(operation, stranger.names), "", headers);
  const what = `${operation.name} with another's Idempotency-Key`;
  const isNew = mine.headers["idempotent-replayed"] === undefined && !String(mine.body["code"]).startsWith("idempotency_");
  report.check(
    "an Idempotency-Key is one business's",
    isNew,
    () => `${what}: ${theirs.status}, then ${mine.status} ${mine.text}`,
  );
  checkSilence(mine, owner, what, [], report);
}

/** Neither an id nor a text of the owner's is in the answer, but for what was sent. */
function checkSilence(answer: Answer, owner: Tenant, what: string, sent: readonly (string | number)[], report: Report): void {
  const told = [owner.mark, ...Object.values(owner.names)]
    .filter((name) => typeof name === "string" && !sent.includes(name))
    .filter((name) => !sent.some((one) => String(one).includes(String(name))))
    .filter((name) => `${answer.text}${JSON.stringify(answer.headers)}`.includes(String(name)));
  report.check("no answer tells of another's", told.length === 0, () => `${what} tells of ${told.join(", ")}: ${answer.text}`);
}

/** Ids in paths and, of the rest, what the operation needs; and besides the places asked for. */
function fill(operation: Operation, names: Tenant["names"], also: readonly Place[] = []): Map<Place, string | number> {
  const needed = operation.places.filter((place) => place.in === "path" || also.includes(place) || isNeeded(operation, place));
  return new Map(needed.map((place) => [place, names[place.noun] ?? randomUUID()]));
}

/** With chosen names of its own, so that nothing is taken already. */
function fillRequired(operation: Operation, names: Tenant["names"]): Filling {
  const filling = fill(operation, names);
  for (const [place] of filling) if (place.noun.endsWith("email")) filling.set(place, `${randomUUID()}@example.dz`);
  return filling;
}

const isNeeded = ({ creates }: Operation, { in: where, noun }: Place) =>
  creates && where === "body" && (noun === "client_id" || noun === "business_id" || noun === "email" || noun === "country_code");

async function call(operation: Operation, by: Tenant, filling: Filling, query = "", headers: Record<string, string> = {}) {
  const search = new URLSearchParams(query);
  let { path } = operation;
  const body: Record<string, unknown> = { ...operation.body, ...alsoNeeded[operation.name] };
  for (const [place, name] of filling) {
    if (place.in === "path") path = path.replace(`{${place.name}}`, String(name));
    else if (place.in === "query") search.set(place.name, String(name));
    else body[place.name] = place.noun === "country_code" ? "DZA" : name;
  }
  const address = search.size > 0 ? `${path}?${search}` : path;
  return await by.business.call(operation.method, address, operation.body && body, headers);
}

const comparedHeaders = ["content-type", "x-total-count", "link", "allow", "retry-after", "location"];

/** What of an answer must not depend on whose the name is. */
function shown({ status, headers, text }: Answer, { isList }: Operation, sent?: string | number): string {
  const told = comparedHeaders
    .map((name) => `${name}: ${name === "location" ? Boolean(headers[name]) : headers[name]}`)
    .join(", ");
  // What was made or changed is the stranger's own, and new each time.
  const body = status < 300 && !isList ? "" : text.replaceAll(/"(request_id|instance)":"[^"]*"/g, "");
  const whole = `${status} ${body} ${told}`;
  if (sent === undefined) return whole;
  const [plain, encoded] = typeof sent === "number" ? [`=${sent}`, `=${sent}`] : [sent, encodeURIComponent(sent)];
  return whole.replaceAll(encoded, "…").replaceAll(plain, "…");
}

/** All that the owner can read, without what time alone changes. */
async function readAll(document: Document, owner: Tenant): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const operation of readOperations(document)) {
    if (operation.method !== "GET" || operation.isKeyless) continue;
    const { status, text } = await call(operation, owner, fill(operation, owner.names));
    if (status === 200)
      found.set(operation.name, text.replaceAll(/"(synced_at|updated_at|last_used_at)":"[^"]*"|"health":{[^}]*}/g, ""));
  }
  return found;
}
