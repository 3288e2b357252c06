import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { someDetails } from "@amana/dev-env/demo/a-person";
import { type Answer, type ApiCaller, apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { Client } from "pg";
import { expect } from "vitest";
import { onboardingStatuses, readOnboarding, saveDetails, someAccount, someBeneficiary } from "./clients-harness.ts";
import { aClient, actOnLink, anApplication, clearFaults, setFault } from "./kyc-harness.ts";
import { anOrder, aPaidPayment, aPerson, sandbox, type TestBusiness, type TestSystem, validCard } from "./test-system.ts";

/** Creates the data that a request of an operation needs. Returns a function that sends it. */
export type ApiOperation = () => Promise<() => Promise<Answer>>;

type Method = Parameters<ApiCaller>[0];

/** Ids of all operations in the OpenAPI document, in its order. */
export const operationIds: readonly string[] = Object.values(
  (JSON.parse(readFileSync(new URL("../../docs/api/openapi.json", import.meta.url), "utf8")) as OpenApi).paths,
).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

/**
 * Returns a successful request for each operation of the API, by operation id. POST requests
 * have an Idempotency-Key, like those of the client libraries. The retry of a dead letter returns
 * 409, because its message has no payload.
 */
export function apiOperations({ system }: TestSystem, business: TestBusiness): Readonly<Record<string, ApiOperation>> {
  const callerOf = (key: string): ApiCaller => {
    const send = apiCaller(system.gatewayUrl, key);
    return (method, path, body) => send(method, path, body, method === "POST" ? { "idempotency-key": randomUUID() } : {});
  };
  const operator = callerOf(system.adminKey);
  const call = callerOf(business.key);
  const { amana } = business;
  const api = "/api/v1";
  /** A request that needs no data. */
  const request =
    (by: ApiCaller, method: Method, path: string, body?: object): ApiOperation =>
    async () =>
    () =>
      by(method, `${api}${path}`, body);
  /** A request whose path and body contain the id that `prepare` returns. */
  const requestFor =
    (
      prepare: () => Promise<string>,
      by: ApiCaller,
      method: Method,
      path: (id: string) => string,
      body?: (id: string) => object,
    ): ApiOperation =>
    async () => {
      const id = await prepare();
      return () => by(method, `${api}${path(id)}`, body?.(id));
    };
  const created = async (by: ApiCaller, path: string, body: object) => {
    const { status, body: resource, text } = await by("POST", `${api}${path}`, body);
    if (status !== 201) throw new Error(`POST ${path} returned ${status}: ${text}`);
    return String(resource["id"]);
  };

  const client = () => aClient(business);
  const detailedClient = async () => {
    const id = await client();
    await saveDetails(business, id);
    return id;
  };
  const verifiedClient = async () => {
    const id = await detailedClient();
    const { link } = await anApplication(business, { client_id: id });
    await actOnLink(system, link, "submit", { outcome: "approved" });
    await eventually(async () => expect((await readOnboarding(business, id)).statuses).toEqual(onboardingStatuses.verified));
    return id;
  };
  const approvedClient = async () => {
    const id = await verifiedClient();
    await operator("POST", `${api}/clients/${id}/onboarding/approve`);
    return id;
  };
  const application = async () => (await anApplication(business)).id;
  const applicationInReview = async () => {
    const { id, link } = await anApplication(business);
    await actOnLink(system, link, "submit", { outcome: "needs_review" });
    await eventually(async () => expect((await amana.kycApplications.get(id)).verdict).toBe("NEEDS_REVIEW"));
    return id;
  };
  const payment = async () => (await amana.payments.create(anOrder)).id;
  const paidPayment = async () => (await aPaidPayment(system, business)).id;
  /** Pays at the sandbox without returning to the shop. Returns the path of the return URL. */
  const returnPath = async () => {
    const { processor_order_id } = await amana.payments.create(anOrder);
    const paid = (await sandbox(system, "POST", `/sandbox/payments/${processor_order_id}/pay`, validCard)) as {
      redirect_url: string;
    };
    const { pathname, search } = new URL(paid.redirect_url);
    return `${pathname.slice(api.length)}${search}`;
  };
  const undecidedRefund = async () => {
    const id = await paidPayment();
    await setFault(system, "refund", "http_503");
    await call("POST", `${api}/payments/${id}/refund`, { amount: "1000.00" });
    await clearFaults(system);
    return await eventually(async () => {
      await rows("payments", "update refund set decision_due_at = now(), next_check_at = now() where payment_id = $1", [id]);
      const { body } = await operator("GET", `${api}/admin/refunds?needs_decision=true`);
      const refund = (body as unknown as Record<string, unknown>[]).find(({ payment_id }) => payment_id === id);
      expect(refund).toBeDefined();
      return String(refund?.["id"]);
    });
  };
  const rows = async (service: string, text: string, values: unknown[] = []) => {
    const database = new Client({ connectionString: system.ownerDatabaseUrls[service] });
    await database.connect();
    try {
      return (await database.query(text, values)).rows as Record<string, unknown>[];
    } finally {
      await database.end();
    }
  };
  const deadLetter = async () => {
    const [letter] = await rows(
      "webhooks",
      `insert into dead_letter (consumer, topic, key, event_id, event_type, payload, headers, status, reason)
       select 'webhooks', 'payments.v1', 'k', id, 'payments.v1.Unknown', '', jsonb_build_object('ce_id', id), 'PARKED', 'a test'
       from uuidv7() as id returning id`,
    );
    return String(letter?.["id"]);
  };
  const account = async () => await created(call, "/accounts", { ...someAccount, client_id: await approvedClient() });
  const activeAccount = async () => {
    const id = await account();
    await call("POST", `${api}/accounts/${id}/activate`, {});
    return id;
  };
  const suspendedAccount = async () => {
    const id = await activeAccount();
    await call("POST", `${api}/accounts/${id}/suspend`, {});
    return id;
  };
  const beneficiary = async () => await created(call, "/beneficiaries", { ...someBeneficiary, client_id: await client() });
  const endpoint = () => created(call, "/webhook-endpoints", { url: business.receiver.url });
  const replay = async () => {
    const id = await endpoint();
    const { body } = await call("POST", `${api}/webhook-endpoints/${id}/replay`, { since: new Date().toISOString() });
    return `${id}/replays/${body["id"]}`;
  };
  const event = async () => {
    const id = await paidPayment();
    await business.receiver.next("PAYMENT_COMPLETED", id, 90_000);
    const [newest] = await amana.events
      .list({ limit: 1 })
      .page()
      .then(({ items }) => items);
    return String(newest?.id);
  };
  const key = () => created(operator, "/admin/api-keys", { business_id: business.id, name: `till ${randomUUID()}` });

  return {
    createPayment: request(call, "POST", "/payments", anOrder),
    listPayments: request(call, "GET", "/payments"),
    getPayment: requestFor(payment, call, "GET", (id) => `/payments/${id}`),
    refreshPayment: requestFor(payment, call, "POST", (id) => `/payments/${id}/refresh`),
    returnFromProcessor: requestFor(returnPath, call, "GET", (path) => path),
    returnFromProcessorByForm: requestFor(returnPath, call, "POST", (path) => path),
    refundPayment: requestFor(
      paidPayment,
      call,
      "POST",
      (id) => `/payments/${id}/refund`,
      () => ({}),
    ),
    createKycApplication: request(call, "POST", "/kyc/applications", {}),
    listKycApplications: request(call, "GET", "/kyc/applications"),
    getKycApplication: requestFor(application, call, "GET", (id) => `/kyc/applications/${id}`),
    cancelKycApplication: requestFor(application, call, "POST", (id) => `/kyc/applications/${id}/cancel`),
    reviewKycApplication: requestFor(
      applicationInReview,
      operator,
      "POST",
      (id) => `/kyc/applications/${id}/review`,
      () => ({ outcome: "APPROVED", note: "seen" }),
    ),
    createPerson: request(call, "POST", "/clients/person", { ...aPerson, email: `${randomUUID()}@example.dz` }),
    listClients: request(call, "GET", "/clients"),
    getClient: requestFor(client, call, "GET", (id) => `/clients/${id}`),
    getPerson: requestFor(client, call, "GET", (id) => `/clients/person/${id}`),
    updatePerson: requestFor(
      client,
      call,
      "PUT",
      (id) => `/clients/person/${id}`,
      () => ({ city: "Oran" }),
    ),
    createOnboardingDetails: requestFor(
      client,
      call,
      "POST",
      (id) => `/clients/${id}/onboarding/details`,
      () => someDetails,
    ),
    getOnboardingDetails: requestFor(detailedClient, call, "GET", (id) => `/clients/${id}/onboarding/details`),
    updateOnboardingDetails: requestFor(
      detailedClient,
      call,
      "PATCH",
      (id) => `/clients/${id}/onboarding/details`,
      () => ({ occupation: "DOCTOR" }),
    ),
    getOnboardingStatus: requestFor(client, call, "GET", (id) => `/clients/${id}/onboarding/status`),
    approveOnboarding: requestFor(verifiedClient, operator, "POST", (id) => `/clients/${id}/onboarding/approve`),
    declineOnboarding: requestFor(
      verifiedClient,
      operator,
      "POST",
      (id) => `/clients/${id}/onboarding/decline`,
      () => ({}),
    ),
    createBeneficiary: requestFor(
      client,
      call,
      "POST",
      () => "/beneficiaries",
      (id) => ({ ...someBeneficiary, client_id: id }),
    ),
    listBeneficiaries: request(call, "GET", "/beneficiaries"),
    getBeneficiary: requestFor(beneficiary, call, "GET", (id) => `/beneficiaries/${id}`),
    updateBeneficiary: requestFor(
      beneficiary,
      call,
      "PUT",
      (id) => `/beneficiaries/${id}`,
      () => ({ name: "Karima Haddad" }),
    ),
    openAccount: requestFor(
      approvedClient,
      call,
      "POST",
      () => "/accounts",
      (id) => ({ ...someAccount, client_id: id }),
    ),
    listAccounts: request(call, "GET", "/accounts"),
    getAccount: requestFor(account, call, "GET", (id) => `/accounts/${id}`),
    updateAccount: requestFor(
      account,
      call,
      "PATCH",
      (id) => `/accounts/${id}`,
      () => ({ account_name: "Renamed" }),
    ),
    activateAccount: requestFor(
      account,
      call,
      "POST",
      (id) => `/accounts/${id}/activate`,
      () => ({}),
    ),
    suspendAccount: requestFor(
      activeAccount,
      call,
      "POST",
      (id) => `/accounts/${id}/suspend`,
      () => ({}),
    ),
    reactivateAccount: requestFor(
      suspendedAccount,
      call,
      "POST",
      (id) => `/accounts/${id}/reactivate`,
      () => ({}),
    ),
    closeAccount: requestFor(
      activeAccount,
      call,
      "POST",
      (id) => `/accounts/${id}/close`,
      () => ({}),
    ),
    createWebhookEndpoint: request(call, "POST", "/webhook-endpoints", { url: business.receiver.url }),
    listWebhookEndpoints: request(call, "GET", "/webhook-endpoints"),
    getWebhookEndpoint: requestFor(endpoint, call, "GET", (id) => `/webhook-endpoints/${id}`),
    updateWebhookEndpoint: requestFor(
      endpoint,
      call,
      "PATCH",
      (id) => `/webhook-endpoints/${id}`,
      () => ({ rotate_secret: true }),
    ),
    deleteWebhookEndpoint: requestFor(endpoint, call, "DELETE", (id) => `/webhook-endpoints/${id}`),
    testWebhookEndpoint: requestFor(endpoint, call, "POST", (id) => `/webhook-endpoints/${id}/test`),
    checkWebhookEndpoint: requestFor(endpoint, call, "POST", (id) => `/webhook-endpoints/${id}/check`),
    replayWebhookEndpoint: requestFor(
      endpoint,
      call,
      "POST",
      (id) => `/webhook-endpoints/${id}/replay`,
      () => ({ since: "2026-01-01T00:00:00Z" }),
    ),
    getWebhookReplay: requestFor(replay, call, "GET", (path) => `/webhook-endpoints/${path}`),
    listEvents: request(call, "GET", "/events"),
    getEvent: requestFor(event, call, "GET", (id) => `/events/${id}`),
    listDeliveries: requestFor(event, call, "GET", (id) => `/events/${id}/deliveries`),
    redeliverEvent: requestFor(event, call, "POST", (id) => `/events/${id}/redeliver`),
    onboardBusiness: async () => {
      const { body } = await operator("POST", `${api}/admin/invitations`, { name: "Invited" });
      const withInvitation = callerOf(String(body["invitation_token"]));
      return () => withInvitation("POST", `${api}/onboarding/businesses`, { name: "Invited", contact_email: "a@example.dz" });
    },
    getOwnBusiness: request(call, "GET", "/me"),
    updateOwnBusiness: request(call, "PATCH", "/me", { name: "Renamed" }),
    listOwnApiKeys: request(call, "GET", "/me/api-keys"),
    createOwnApiKey: request(call, "POST", "/me/api-keys", { name: "own" }),
    revokeOwnApiKey: requestFor(key, call, "POST", (id) => `/me/api-keys/${id}/revoke`),
    createBusiness: request(operator, "POST", "/businesses", { name: "Created" }),
    listBusinesses: request(operator, "GET", "/businesses"),
    getBusiness: request(operator, "GET", `/businesses/${business.id}`),
    updateBusiness: requestFor(
      () => created(operator, "/businesses", { name: "Old" }),
      operator,
      "PATCH",
      (id) => `/businesses/${id}`,
      () => ({ name: "New" }),
    ),
    createApiKey: request(operator, "POST", "/admin/api-keys", { business_id: business.id, name: `till ${randomUUID()}` }),
    listApiKeys: request(operator, "GET", `/admin/api-keys?business_id=${business.id}`),
    revokeApiKey: requestFor(key, operator, "POST", (id) => `/admin/api-keys/${id}/revoke`),
    createOperatorKey: request(operator, "POST", "/admin/operator-keys", { name: "amina" }),
    listOperatorKeys: request(operator, "GET", "/admin/operator-keys"),
    revokeOperatorKey: requestFor(
      () => created(operator, "/admin/operator-keys", { name: "former" }),
      operator,
      "POST",
      (id) => `/admin/operator-keys/${id}/revoke`,
    ),
    createInvitation: request(operator, "POST", "/admin/invitations", { name: "Invited" }),
    listInvitations: request(operator, "GET", "/admin/invitations"),
    revokeInvitation: requestFor(
      () => created(operator, "/admin/invitations", { name: "Not invited" }),
      operator,
      "POST",
      (id) => `/admin/invitations/${id}/revoke`,
    ),
    listRefunds: request(operator, "GET", "/admin/refunds"),
    resolveRefund: requestFor(
      undecidedRefund,
      operator,
      "POST",
      (id) => `/admin/refunds/${id}/resolve`,
      () => ({ outcome: "REJECTED", note: "requested" }),
    ),
    getPaymentTimeline: requestFor(paidPayment, operator, "GET", (id) => `/admin/payments/${id}/timeline`),
    listChangedPayments: request(operator, "GET", "/admin/payments"),
    listAuditEvents: request(operator, "GET", "/admin/audit-events"),
    listDeadLetters: request(operator, "GET", "/admin/dead-letters"),
    getDeadLetter: requestFor(deadLetter, operator, "GET", (id) => `/admin/dead-letters/${id}`),
    retryDeadLetter: requestFor(deadLetter, operator, "POST", (id) => `/admin/dead-letters/${id}/retry`),
    dropDeadLetter: requestFor(
      deadLetter,
      operator,
      "POST",
      (id) => `/admin/dead-letters/${id}/drop`,
      () => ({ note: "odd" }),
    ),
  };
}
