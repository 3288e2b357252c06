import { randomInt, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type ApiCaller, apiCaller } from "@amana/dev-env/demo/api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { saveDetails, someAccount, someBeneficiary } from "../../src/clients-harness.ts";
import { aClient } from "../../src/kyc-harness.ts";
import { aBusiness, aPaidPayment, startTestSystem, type TestBusiness, type TestSystem } from "../../src/test-system.ts";
import { type DocumentedRequest, documentedOperations, drawn } from "./documented-request.ts";

const seed = randomInt(2 ** 31);
const requestsEach = 8;

let testSystem: TestSystem;
let business: TestBusiness;
let operator: ApiCaller;
/** Operations whose successful POST was repeated and returned the stored response. */
const repeated = new Set<string>();
/** Ids of existing resources, by the start of the path. */
let there: [prefix: string, id: string][];

beforeAll(async () => {
  testSystem = await startTestSystem("direct");
  operator = apiCaller(testSystem.system.gatewayUrl, testSystem.system.adminKey);
});

/** Creates a business for one test, because requests refund, revoke and delete its resources. */
async function prepare(): Promise<void> {
  await business?.receiver[Symbol.asyncDispose]();
  business = await aBusiness(testSystem.system, "Banque");
  const made = async (path: string, body: object, call = business.call) => String((await call("POST", path, body)).body["id"]);
  const client = await aClient(business);
  await saveDetails(business, client);
  const anApiKey = { business_id: business.id, name: "to be revoked" };
  there = [
    ["/api/v1/clients", client],
    ["/api/v1/accounts", await made("/api/v1/accounts", { ...someAccount, client_id: client })],
    ["/api/v1/beneficiaries", await made("/api/v1/beneficiaries", { ...someBeneficiary, client_id: client })],
    ["/api/v1/kyc/applications", await made("/api/v1/kyc/applications", {})],
    ["/api/v1/payments", (await aPaidPayment(testSystem.system, business)).id],
    ["/api/v1/webhook-endpoints", business.endpointId],
    ["/api/v1/businesses", await made("/api/v1/businesses", { name: "Another" }, operator)],
    ["/api/v1/me/api-keys", await made("/api/v1/me/api-keys", { name: "to be revoked by itself" })],
    ["/api/v1/admin/api-keys", await made("/api/v1/admin/api-keys", anApiKey, operator)],
    [
      "/api/v1/admin/operator-keys",
      await made("/api/v1/admin/operator-keys", { name: `to be revoked, ${randomUUID()}` }, operator),
    ],
    ["/api/v1/admin/invitations", await made("/api/v1/admin/invitations", { name: "To be revoked" }, operator)],
  ];
}
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
  await testSystem?.[Symbol.asyncDispose]();
});

/** Order of the methods: reads come before changes, and deletions last. */
const order = ["get", "post", "put", "patch", "delete"];

/** Each invitation can register one business. */
async function anInvited(): Promise<ApiCaller> {
  const { body } = await operator("POST", "/api/v1/admin/invitations", { name: "Another" });
  return apiCaller(testSystem.system.gatewayUrl, String(body["invitation_token"]));
}

/**
 * Rules that the document describes only in text: between fields, and between a field and the
 * current day.
 */
const betweenFields = [
  /^updateOwnBusiness validation_failed \/previous_key_ttl_seconds$/,
  /^create(OwnApiKey|ApiKey|Invitation) validation_failed \/expires_at$/,
  /^updateWebhookEndpoint validation_failed \/activate_in_seconds$/,
  /^replayWebhookEndpoint replay_range_empty /,
  /^(create|update)Beneficiary beneficiary_needs_iban_or_account_number /,
  /^(openAccount|updateAccount) account_limits_out_of_order /,
  /^(create|update)OnboardingDetails validation_failed( \/(account_purposes|account_purposes_input|other_\w+))+$/,
  /^createPerson client_underage /,
];

/** Adapts the request to this system: existing ids, and the key of a caller with access. */
async function here({ id, path }: { id: string; path: string }, request: DocumentedRequest) {
  const own = there.find(([prefix]) => path.startsWith(prefix))?.[1];
  const body = request.body && {
    ...request.body,
    ...("client_id" in request.body && { client_id: there[0]?.[1] }),
    ...("business_id" in request.body && { business_id: business.id }),
    // The other requests need the key.
    ...(id === "updateOwnBusiness" && { rotate_api_key: false }),
  };
  const isOperators = /^\/api\/v1\/(businesses|admin)|\/(approve|decline|review)$/.test(path);
  const send = path.startsWith("/api/v1/onboarding/") ? await anInvited() : isOperators ? operator : business.call;
  const url = own ? request.path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}(?=[/?])/, own) : request.path;
  return { send, url, body };
}

/** Fields that a rule requires together with one example. */
const companions: Readonly<Record<string, object>> = { createBeneficiary: { account_number: someBeneficiary.account_number } };

test("the gateway accepts every example of the OpenAPI document", async () => {
  await prepare();
  const refused: string[] = [];
  let count = 0;
  for (const operation of documentedOperations.toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method))) {
    if (operation.path.startsWith("/api/v1/payments/return/")) continue;
    for (const request of operation.examples) {
      const { send, url, body } = await here(operation, request);
      const headers = request.method === "POST" ? { "idempotency-key": randomUUID(), ...request.headers } : request.headers;
      const answer = await send(request.method, url, body && { ...companions[operation.id], ...body }, headers);
      count += 1;
      if (answer.status < 400 || answer.status === 404 || answer.status === 409) continue;
      refused.push(`${operation.id} ${answer.status} ${answer.text}: ${JSON.stringify({ url, body })}`);
    }
  }
  expect(refused).toEqual([]);
  expect(count).toBeGreaterThan(70);
});

test("the gateway rejects documented requests only for the state of a resource or a rule between fields", async () => {
  await prepare();
  const refused: string[] = [];
  const inOrder = documentedOperations.toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method));
  for (const operation of inOrder) {
    const { id, path, requests, required } = operation;
    // A page for browsers, which is not JSON.
    if (path.startsWith("/api/v1/payments/return/")) continue;
    const [first, ...others] = drawn(requests, { count: requestsEach, seed });
    const least = first?.body && Object.fromEntries(required.map((name) => [name, first.body?.[name]]));
    for (const request of first ? [{ ...first, body: least, headers: {} }, first, ...others] : []) {
      const { send, url, body } = await here(operation, request);
      const { method, headers: drawnHeaders } = request;
      // Two requests of an operation can be drawn with the same key.
      const key = `${drawnHeaders["idempotency-key"] ?? ""}${randomUUID()}`.slice(-255);
      const headers = method === "POST" ? { ...drawnHeaders, "idempotency-key": key } : drawnHeaders;
      const answer = await send(method, url, body, headers);
      if (method === "POST" && answer.status < 300) {
        const again = await send(method, url, body, headers);
        // Secrets are shown once and not stored.
        const stored = Object.entries(again.body).every(([name, value]) => isDeepStrictEqual(value, answer.body[name]));
        if (again.status !== answer.status || !stored || again.headers["idempotent-replayed"] !== "true") {
          refused.push(`${id} was done again: ${again.status} ${again.text}`);
        }
        repeated.add(id);
      }
      if (answer.status < 400 || answer.status === 404 || answer.status === 409) continue;
      const { code, errors = [] } = answer.body as { code: string; errors?: { pointer?: string; parameter?: string }[] };
      const refusal = [id, code, ...errors.map(({ pointer, parameter }) => pointer ?? parameter)].join(" ");
      if (!betweenFields.some((rule) => rule.test(refusal))) refused.push(`${refusal}: ${JSON.stringify({ url, body })}`);
    }
  }
  expect(refused, `with the seed ${seed}`).toEqual([]);
});

/**
 * Operations that need a prior state, which random requests do not reach. Other tests repeat them.
 */
const needMore = [
  "activateAccount",
  "approveOnboarding",
  "createOnboardingDetails",
  "declineOnboarding",
  "dropDeadLetter",
  "reactivateAccount",
  "redeliverEvent",
  "resolveRefund",
  "retryDeadLetter",
  "reviewKycApplication",
  "suspendAccount",
];

test("every successful POST of the document is executed once for an Idempotency-Key", () => {
  const posts = documentedOperations.filter(
    ({ method, path }) => method === "post" && !path.startsWith("/api/v1/payments/return/"),
  );
  expect(
    posts
      .map(({ id }) => id)
      .filter((id) => !repeated.has(id))
      .toSorted(),
  ).toEqual(needMore);
});
