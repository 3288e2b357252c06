import { randomInt, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type ApiCaller, apiCaller } from "@amana/dev-env/demo/api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { saveDetails, someAccount, someBeneficiary } from "../../src/clients-harness.ts";
import { aClient } from "../../src/kyc-harness.ts";
import { sharedSystem } from "../../src/shared-system.ts";
import { aBusiness, aPaidPayment, type TestBusiness, type TestSystem } from "../../src/test-system.ts";
import { type DocumentedRequest, documentedOperations, drawRequests } from "./documented-request.ts";

const seed = randomInt(2 ** 31);
const requestsPerOperation = 8;

let testSystem: TestSystem;
let business: TestBusiness;
let operator: ApiCaller;
/** Operations whose successful POST was repeated by a test. */
const repeatedOperations = new Set<string>();
/** Id of an existing resource for each path prefix. */
let existingResources: [prefix: string, id: string][];

beforeAll(async () => {
  testSystem = sharedSystem();
  operator = apiCaller(testSystem.system.gatewayUrl, testSystem.system.adminKey);
});

/** Creates a business for one test, because requests refund, revoke and delete its resources. */
async function prepare(): Promise<void> {
  await business?.receiver[Symbol.asyncDispose]();
  business = await aBusiness(testSystem.system, "Banque");
  const createAndGetId = async (path: string, body: object, call = business.call) =>
    String((await call("POST", path, body)).body["id"]);
  const client = await aClient(business);
  await saveDetails(business, client);
  const anApiKey = { business_id: business.id, name: "to be revoked" };
  existingResources = [
    ["/api/v1/clients", client],
    ["/api/v1/accounts", await createAndGetId("/api/v1/accounts", { ...someAccount, client_id: client })],
    ["/api/v1/beneficiaries", await createAndGetId("/api/v1/beneficiaries", { ...someBeneficiary, client_id: client })],
    ["/api/v1/kyc/applications", await createAndGetId("/api/v1/kyc/applications", {})],
    ["/api/v1/payments", (await aPaidPayment(testSystem.system, business)).id],
    ["/api/v1/payment-links", await createAndGetId("/api/v1/payment-links", { name: "Cours d'arabe", amount: "5000.00" })],
    ["/api/v1/webhook-endpoints", business.endpointId],
    ["/api/v1/businesses", await createAndGetId("/api/v1/businesses", { name: "Another" }, operator)],
    ["/api/v1/me/api-keys", await createAndGetId("/api/v1/me/api-keys", { name: "to be revoked by itself" })],
    ["/api/v1/admin/api-keys", await createAndGetId("/api/v1/admin/api-keys", anApiKey, operator)],
    [
      "/api/v1/admin/operator-keys",
      await createAndGetId("/api/v1/admin/operator-keys", { name: `to be revoked, ${randomUUID()}` }, operator),
    ],
    ["/api/v1/admin/invitations", await createAndGetId("/api/v1/admin/invitations", { name: "To be revoked" }, operator)],
  ];
}
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
});

/** Order in which the methods are tested, so that no resource is deleted before it is used. */
const order = ["get", "post", "put", "patch", "delete"];

/** Returns a caller with a new invitation, because an invitation can register only one business. */
async function createInvitedCaller(): Promise<ApiCaller> {
  const { body } = await operator("POST", "/api/v1/admin/invitations", { name: "Another" });
  return apiCaller(testSystem.system.gatewayUrl, String(body["invitation_token"]));
}

/**
 * Rejections by rules that the OpenAPI document describes only in text. Such a rule concerns
 * several fields, or a field and the current day.
 */
const permittedRejections = [
  /^updateOwnBusiness validation_failed \/previous_key_ttl_seconds$/,
  /^create(OwnApiKey|ApiKey|Invitation) validation_failed \/expires_at$/,
  /^updateWebhookEndpoint validation_failed \/activate_in_seconds$/,
  /^replayWebhookEndpoint replay_range_empty /,
  /^(create|update)Beneficiary beneficiary_needs_iban_or_account_number /,
  /^(openAccount|updateAccount) account_limits_out_of_order /,
  /^(create|update)OnboardingDetails validation_failed( \/(account_purposes|account_purposes_input|other_\w+))+$/,
  /^createPerson client_underage /,
  /^createPaymentLink validation_failed \/(amount|amount_min|amount_max|expires_at)$/,
  /^updatePaymentLink validation_failed \/expires_at$/,
  /^getStatement validation_failed to$/,
];

/**
 * Replaces the ids of a request by ids of existing resources. Returns the changed request and a
 * caller that has access.
 */
async function adaptRequest({ id, path }: { id: string; path: string }, request: DocumentedRequest) {
  const existingId = existingResources.find(([prefix]) => path.startsWith(prefix))?.[1];
  const body = request.body && {
    ...request.body,
    ...("client_id" in request.body && { client_id: existingResources[0]?.[1] }),
    ...("business_id" in request.body && { business_id: business.id }),
    // Does not rotate the key, because the other requests need it.
    ...(id === "updateOwnBusiness" && { rotate_api_key: false }),
  };
  const needsOperator = /^\/api\/v1\/(businesses|admin)|\/(approve|decline|review)$/.test(path);
  const send = path.startsWith("/api/v1/onboarding/") ? await createInvitedCaller() : needsOperator ? operator : business.call;
  const url = existingId ? request.path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}(?=[/?])/, existingId) : request.path;
  return { send, url, body };
}

/** Returns fields that a rule about several fields requires in addition to `body`. */
function additionalFields(id: string, body: object): object {
  if (id === "createBeneficiary") return { account_number: someBeneficiary.account_number };
  if (id !== "createPaymentLink") return {};
  if ("amount_min" in body) return { amount_max: "6000.00" };
  return "amount_max" in body ? { amount_min: "50.00" } : { amount: "5000.00" };
}

test("the gateway accepts every example of the OpenAPI document", async () => {
  await prepare();
  const rejections: string[] = [];
  let count = 0;
  for (const operation of documentedOperations.toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method))) {
    if (operation.path.startsWith("/api/v1/payments/return/")) continue;
    for (const request of operation.examples) {
      const { send, url, body } = await adaptRequest(operation, request);
      const headers = request.method === "POST" ? { "idempotency-key": randomUUID(), ...request.headers } : request.headers;
      const response = await send(request.method, url, body && { ...additionalFields(operation.id, body), ...body }, headers);
      count += 1;
      if (response.status < 400 || response.status === 404 || response.status === 409) continue;
      rejections.push(`${operation.id} ${response.status} ${response.text}: ${JSON.stringify({ url, body })}`);
    }
  }
  expect(rejections).toEqual([]);
  expect(count).toBeGreaterThan(70);
});

test("the gateway accepts requests that match the OpenAPI document, unless a resource's state or a rule about several fields forbids them", async () => {
  await prepare();
  const rejections: string[] = [];
  const inOrder = documentedOperations.toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method));
  for (const operation of inOrder) {
    const { id, path, requests, required } = operation;
    // Skips the page to which the processor's form returns, because its response is not JSON.
    if (path.startsWith("/api/v1/payments/return/")) continue;
    const [first, ...others] = drawRequests(requests, { count: requestsPerOperation, seed });
    const requiredFields = Object.fromEntries(required.map((name) => [name, first?.body?.[name]]));
    const requiredOnly = first?.body && { ...additionalFields(id, requiredFields), ...requiredFields };
    for (const request of first ? [{ ...first, body: requiredOnly, headers: {} }, first, ...others] : []) {
      const { send, url, body } = await adaptRequest(operation, request);
      const { method, headers: drawnHeaders } = request;
      // Adds a unique part, because two random requests may have the same key.
      const key = `${drawnHeaders["idempotency-key"] ?? ""}${randomUUID()}`.slice(-255);
      const headers = method === "POST" ? { ...drawnHeaders, "idempotency-key": key } : drawnHeaders;
      const response = await send(method, url, body, headers);
      if (method === "POST" && response.status < 300) {
        const repeated = await send(method, url, body, headers);
        // The response to a repeated request contains no secrets, because secrets are not stored.
        const isEqual = Object.entries(repeated.body).every(([name, value]) => isDeepStrictEqual(value, response.body[name]));
        if (repeated.status !== response.status || !isEqual || repeated.headers["idempotent-replayed"] !== "true") {
          rejections.push(`${id} was executed again: ${repeated.status} ${repeated.text}`);
        }
        repeatedOperations.add(id);
      }
      if (response.status < 400 || response.status === 404 || response.status === 409) continue;
      const { code, errors = [] } = response.body as { code: string; errors?: { pointer?: string; parameter?: string }[] };
      const rejection = [id, code, ...errors.map(({ pointer, parameter }) => pointer ?? parameter)].join(" ");
      if (!permittedRejections.some((rule) => rule.test(rejection)))
        rejections.push(`${rejection}: ${JSON.stringify({ url, body })}`);
    }
  }
  expect(rejections, `with the seed ${seed}`).toEqual([]);
});

/**
 * Operations that need a state that random requests do not create. Other tests repeat these
 * operations.
 */
const operationsWithPriorState = [
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

test("the test with random requests repeats each POST operation, except operations that need a resource in a special state", () => {
  const posts = documentedOperations.filter(
    ({ method, path }) => method === "post" && !path.startsWith("/api/v1/payments/return/"),
  );
  expect(
    posts
      .map(({ id }) => id)
      .filter((id) => !repeatedOperations.has(id))
      .toSorted(),
  ).toEqual(operationsWithPriorState);
});
