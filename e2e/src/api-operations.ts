import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { someDetails } from "@amana/dev-env/demo/a-person";
import type { ApiCaller, ApiResponse } from "@amana/dev-env/demo/api";
import { ApiFixtures } from "./api-fixtures.ts";
import { someAccount, someBeneficiary } from "./clients-harness.ts";
import { anOrder, aPerson, type TestBusiness, type TestSystem } from "./test-system.ts";

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

/** Ids of all operations in the OpenAPI document, in its order. */
export const operationIds: readonly string[] = Object.values(
  (JSON.parse(readFileSync(new URL("../../docs/api/openapi.json", import.meta.url), "utf8")) as OpenApi).paths,
).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));

type Fixture = { [K in keyof ApiFixtures]: ApiFixtures[K] extends () => Promise<string> ? K : never }[keyof ApiFixtures];

interface OperationRequest {
  /** Method and path, without the prefix /api/v1/. {id} is replaced by the result of `needs`. */
  readonly request: `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} ${string}`;
  /** The fixture that is created before the request. */
  readonly needs?: Fixture;
  /** {id} is replaced by the result of `needs`, {random} by a UUID, {receiver} by a webhook URL. */
  readonly body?: object;
  /**
   * The caller. The default is the business. `invited` calls with the invitation token that `needs`
   * returns.
   */
  readonly by?: "operator" | "invited";
}

/** A successful request for each operation, except `retryDeadLetter`, which returns status 409. */
const requests: Readonly<Record<string, OperationRequest>> = {
  createPayment: { request: "POST payments", body: anOrder },
  listPayments: { request: "GET payments" },
  getPayment: { request: "GET payments/{id}", needs: "payment" },
  getStatement: { request: "GET payments/statement?from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z" },
  getPaymentReceipt: { request: "GET payments/{id}/receipt", needs: "paidPayment" },
  refreshPayment: { request: "POST payments/{id}/refresh", needs: "payment" },
  returnFromProcessor: { request: "GET {id}", needs: "returnPath" },
  returnFromProcessorByForm: { request: "POST {id}", needs: "returnPath" },
  refundPayment: { request: "POST payments/{id}/refund", needs: "paidPayment", body: {} },
  createPaymentLink: { request: "POST payment-links", body: { name: "Cours d'arabe", amount: "5000.00" } },
  listPaymentLinks: { request: "GET payment-links" },
  getPaymentLink: { request: "GET payment-links/{id}", needs: "paymentLink" },
  updatePaymentLink: { request: "PATCH payment-links/{id}", needs: "paymentLink", body: { status: "INACTIVE" } },
  createKycApplication: { request: "POST kyc/applications", body: {} },
  listKycApplications: { request: "GET kyc/applications" },
  getKycApplication: { request: "GET kyc/applications/{id}", needs: "application" },
  cancelKycApplication: { request: "POST kyc/applications/{id}/cancel", needs: "application" },
  createPerson: { request: "POST clients/person", body: { ...aPerson, email: "{random}@example.dz" } },
  listClients: { request: "GET clients" },
  getClient: { request: "GET clients/{id}", needs: "client" },
  getPerson: { request: "GET clients/person/{id}", needs: "client" },
  updatePerson: { request: "PUT clients/person/{id}", needs: "client", body: { city: "Oran" } },
  createOnboardingDetails: { request: "POST clients/{id}/onboarding/details", needs: "client", body: someDetails },
  getOnboardingDetails: { request: "GET clients/{id}/onboarding/details", needs: "detailedClient" },
  updateOnboardingDetails: {
    request: "PATCH clients/{id}/onboarding/details",
    needs: "detailedClient",
    body: { expected_monthly_incoming_volume: "LESS_THAN1000" },
  },
  getOnboardingStatus: { request: "GET clients/{id}/onboarding/status", needs: "client" },
  createBeneficiary: { request: "POST beneficiaries", needs: "client", body: { ...someBeneficiary, client_id: "{id}" } },
  listBeneficiaries: { request: "GET beneficiaries" },
  getBeneficiary: { request: "GET beneficiaries/{id}", needs: "beneficiary" },
  updateBeneficiary: { request: "PUT beneficiaries/{id}", needs: "beneficiary", body: { name: "Karima Haddad" } },
  openAccount: { request: "POST accounts", needs: "approvedClient", body: { ...someAccount, client_id: "{id}" } },
  listAccounts: { request: "GET accounts" },
  getAccount: { request: "GET accounts/{id}", needs: "account" },
  updateAccount: { request: "PATCH accounts/{id}", needs: "account", body: { account_name: "Renamed" } },
  activateAccount: { request: "POST accounts/{id}/activate", needs: "account", body: {} },
  suspendAccount: { request: "POST accounts/{id}/suspend", needs: "activeAccount", body: {} },
  reactivateAccount: { request: "POST accounts/{id}/reactivate", needs: "suspendedAccount", body: {} },
  closeAccount: { request: "POST accounts/{id}/close", needs: "activeAccount", body: {} },
  createWebhookEndpoint: { request: "POST webhook-endpoints", body: { url: "{receiver}" } },
  listWebhookEndpoints: { request: "GET webhook-endpoints" },
  getWebhookEndpoint: { request: "GET webhook-endpoints/{id}", needs: "endpoint" },
  updateWebhookEndpoint: { request: "PATCH webhook-endpoints/{id}", needs: "endpoint", body: { rotate_secret: true } },
  deleteWebhookEndpoint: { request: "DELETE webhook-endpoints/{id}", needs: "endpoint" },
  testWebhookEndpoint: { request: "POST webhook-endpoints/{id}/test", needs: "endpoint" },
  checkWebhookEndpoint: { request: "POST webhook-endpoints/{id}/check", needs: "endpoint" },
  replayWebhookEndpoint: {
    request: "POST webhook-endpoints/{id}/replay",
    needs: "endpoint",
    body: { since: "2026-01-01T00:00:00Z" },
  },
  getWebhookReplay: { request: "GET webhook-endpoints/{id}", needs: "replay" },
  listEvents: { request: "GET events" },
  getEvent: { request: "GET events/{id}", needs: "event" },
  listDeliveries: { request: "GET events/{id}/deliveries", needs: "event" },
  redeliverEvent: { request: "POST events/{id}/redeliver", needs: "event" },
  onboardBusiness: {
    request: "POST onboarding/businesses",
    needs: "invitationToken",
    body: { name: "Invited", contact_email: "a@example.dz" },
    by: "invited",
  },
  getOwnBusiness: { request: "GET me" },
  updateOwnBusiness: { request: "PATCH me", body: { name: "Renamed" } },
  listOwnApiKeys: { request: "GET me/api-keys" },
  createOwnApiKey: { request: "POST me/api-keys", body: { name: "own" } },
  revokeOwnApiKey: { request: "POST me/api-keys/{id}/revoke", needs: "apiKey" },
  createBusiness: { request: "POST businesses", body: { name: "Created" }, by: "operator" },
  listBusinesses: { request: "GET businesses", by: "operator" },
  getBusiness: { request: "GET businesses/{id}", needs: "businessId", by: "operator" },
  updateBusiness: { request: "PATCH businesses/{id}", needs: "otherBusiness", body: { name: "New" }, by: "operator" },
  reviewKycApplication: {
    request: "POST kyc/applications/{id}/review",
    needs: "applicationInReview",
    body: { outcome: "APPROVED", note: "examined" },
    by: "operator",
  },
  approveOnboarding: { request: "POST clients/{id}/onboarding/approve", needs: "verifiedClient", by: "operator" },
  declineOnboarding: { request: "POST clients/{id}/onboarding/decline", needs: "verifiedClient", body: {}, by: "operator" },
  createApiKey: {
    request: "POST admin/api-keys",
    needs: "businessId",
    body: { business_id: "{id}", name: "till {random}" },
    by: "operator",
  },
  listApiKeys: { request: "GET admin/api-keys?business_id={id}", needs: "businessId", by: "operator" },
  revokeApiKey: { request: "POST admin/api-keys/{id}/revoke", needs: "apiKey", by: "operator" },
  createOperatorKey: { request: "POST admin/operator-keys", body: { name: "amina" }, by: "operator" },
  listOperatorKeys: { request: "GET admin/operator-keys", by: "operator" },
  revokeOperatorKey: { request: "POST admin/operator-keys/{id}/revoke", needs: "operatorKey", by: "operator" },
  createInvitation: { request: "POST admin/invitations", body: { name: "Invited" }, by: "operator" },
  listInvitations: { request: "GET admin/invitations", by: "operator" },
  revokeInvitation: { request: "POST admin/invitations/{id}/revoke", needs: "invitation", by: "operator" },
  listRefunds: { request: "GET admin/refunds", by: "operator" },
  resolveRefund: {
    request: "POST admin/refunds/{id}/resolve",
    needs: "undecidedRefund",
    body: { outcome: "REJECTED", note: "requested" },
    by: "operator",
  },
  getPaymentTimeline: { request: "GET admin/payments/{id}/timeline", needs: "paidPayment", by: "operator" },
  listChangedPayments: { request: "GET admin/payments", by: "operator" },
  listAuditEvents: { request: "GET admin/audit-events", by: "operator" },
  listDeadLetters: { request: "GET admin/dead-letters", by: "operator" },
  getDeadLetter: { request: "GET admin/dead-letters/{id}", needs: "deadLetter", by: "operator" },
  retryDeadLetter: { request: "POST admin/dead-letters/{id}/retry", needs: "deadLetter", by: "operator" },
  dropDeadLetter: { request: "POST admin/dead-letters/{id}/drop", needs: "deadLetter", body: { note: "odd" }, by: "operator" },
};

/**
 * Creates the resources that the operation's request needs. Returns a function that sends the
 * request. Throws if `requests` has no request for the operation.
 */
export async function prepareOperation(
  system: TestSystem,
  business: TestBusiness,
  operationId: string,
): Promise<() => Promise<ApiResponse>> {
  const operation = requests[operationId];
  if (!operation) throw new Error(`Add a request for ${operationId} to e2e/src/api-operations.ts`);
  const { request, needs = "none", body, by } = operation;
  const fixtures = new ApiFixtures(system, business);
  const id = await fixtures[needs]();
  const fill = (text: string) =>
    text.replaceAll("{id}", id).replaceAll("{random}", randomUUID()).replaceAll("{receiver}", business.receiver.url);
  const [method = "", path = ""] = fill(request).split(/ (.*)/);
  const filledBody = body && (JSON.parse(fill(JSON.stringify(body))) as object);
  const call = by === "operator" ? fixtures.operator : by === "invited" ? fixtures.callerOf(id) : fixtures.call;
  return () => call(method as Parameters<ApiCaller>[0], `/api/v1/${path}`, filledBody);
}
