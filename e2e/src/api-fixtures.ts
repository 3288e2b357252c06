import { randomUUID } from "node:crypto";
import { type ApiCaller, apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { Client } from "pg";
import { expect } from "vitest";
import { onboardingStatuses, readOnboarding, saveDetails, someAccount, someBeneficiary } from "./clients-harness.ts";
import { aClient, actOnLink, anApplication, clearFaults, setFault } from "./kyc-harness.ts";
import { anOrder, aPaidPayment, callSandbox, type TestBusiness, type TestSystem, validCard } from "./test-system.ts";

const api = "/api/v1";

/** Creates the resources that a test request needs. Each method returns an id or a path. */
export class ApiFixtures {
  readonly business: TestBusiness;
  readonly #system: TestSystem["system"];
  /** Calls the API with the key of the business. POST requests have an Idempotency-Key. */
  readonly call: ApiCaller;
  /** Calls the API with the admin key. POST requests have an Idempotency-Key. */
  readonly operator: ApiCaller;

  constructor({ system }: TestSystem, business: TestBusiness) {
    this.#system = system;
    this.business = business;
    this.call = this.callerOf(business.key);
    this.operator = this.callerOf(system.adminKey);
  }

  callerOf(key: string): ApiCaller {
    const send = apiCaller(this.#system.gatewayUrl, key);
    return (method, path, body) => send(method, path, body, method === "POST" ? { "idempotency-key": randomUUID() } : {});
  }

  readonly none = async () => "";

  readonly businessId = async () => this.business.id;

  readonly payment = async () => (await this.business.amana.payments.create(anOrder)).id;

  readonly paidPayment = async () => (await aPaidPayment(this.#system, this.business)).id;

  readonly paymentLink = () => this.#create(this.call, "/payment-links", { name: "Cours d'arabe", amount: "5000.00" });

  /** Pays at the sandbox without returning to the shop. Returns the path of the return URL. */
  readonly returnPath = async () => {
    const { processor_order_id } = await this.business.amana.payments.create(anOrder);
    const { redirect_url } = (await callSandbox(
      this.#system,
      "POST",
      `/sandbox/payments/${processor_order_id}/pay`,
      validCard,
    )) as {
      redirect_url: string;
    };
    const { pathname, search } = new URL(redirect_url);
    return `${pathname.slice(`${api}/`.length)}${search}`;
  };

  /** A refund with an unknown outcome that needs an operator's decision. */
  readonly undecidedRefund = async () => {
    const id = await this.paidPayment();
    await setFault(this.#system, "refund", "http_503");
    await this.call("POST", `${api}/payments/${id}/refund`, { amount: "1000.00" });
    await clearFaults(this.#system);
    return await eventually(async () => {
      await this.#sql("payments", "update refund set decision_due_at = now(), next_check_at = now() where payment_id = $1", [id]);
      const { body } = await this.operator("GET", `${api}/admin/refunds?needs_decision=true`);
      const refund = (body as unknown as Record<string, unknown>[]).find(({ payment_id }) => payment_id === id);
      expect(refund).toBeDefined();
      return String(refund?.["id"]);
    });
  };

  readonly application = async () => (await anApplication(this.business)).id;

  readonly applicationInReview = async () => {
    const { id, link } = await anApplication(this.business);
    await actOnLink(this.#system, link, "submit", { outcome: "needs_review" });
    await eventually(async () => expect((await this.business.amana.kycApplications.get(id)).verdict).toBe("NEEDS_REVIEW"));
    return id;
  };

  readonly client = () => aClient(this.business);

  readonly detailedClient = async () => {
    const id = await this.client();
    await saveDetails(this.business, id);
    return id;
  };

  /** A client whose onboarding is at PENDING_APPROVAL. */
  readonly verifiedClient = async () => {
    const id = await this.detailedClient();
    const { link } = await anApplication(this.business, { client_id: id });
    await actOnLink(this.#system, link, "submit", { outcome: "approved" });
    await eventually(async () => expect((await readOnboarding(this.business, id)).statuses).toEqual(onboardingStatuses.verified));
    return id;
  };

  readonly approvedClient = async () => {
    const id = await this.verifiedClient();
    await this.operator("POST", `${api}/clients/${id}/onboarding/approve`);
    return id;
  };

  readonly beneficiary = async () =>
    await this.#create(this.call, "/beneficiaries", { ...someBeneficiary, client_id: await this.client() });

  readonly account = async () =>
    await this.#create(this.call, "/accounts", { ...someAccount, client_id: await this.approvedClient() });

  readonly activeAccount = async () => {
    const id = await this.account();
    await this.call("POST", `${api}/accounts/${id}/activate`, {});
    return id;
  };

  readonly suspendedAccount = async () => {
    const id = await this.activeAccount();
    await this.call("POST", `${api}/accounts/${id}/suspend`, {});
    return id;
  };

  readonly endpoint = () => this.#create(this.call, "/webhook-endpoints", { url: this.business.receiver.url });

  readonly replay = async () => {
    const endpointId = await this.endpoint();
    const replay = await this.call("POST", `${api}/webhook-endpoints/${endpointId}/replay`, { since: new Date().toISOString() });
    return `${endpointId}/replays/${replay.body["id"]}`;
  };

  /** An event that the business's endpoint has received. */
  readonly event = async () => {
    const id = await this.paidPayment();
    await this.business.receiver.next("PAYMENT_COMPLETED", id, 90_000);
    const { items } = await this.business.amana.events.list({ limit: 1 }).page();
    return String(items[0]?.id);
  };

  readonly apiKey = () =>
    this.#create(this.operator, "/admin/api-keys", { business_id: this.business.id, name: `till ${randomUUID()}` });

  readonly operatorKey = () => this.#create(this.operator, "/admin/operator-keys", { name: "former" });

  readonly invitation = () => this.#create(this.operator, "/admin/invitations", { name: "Not invited" });

  readonly invitationToken = async () => {
    const { body } = await this.operator("POST", `${api}/admin/invitations`, { name: "Invited" });
    return String(body["invitation_token"]);
  };

  readonly otherBusiness = () => this.#create(this.operator, "/businesses", { name: "Old" });

  /** A dead-lettered message without a payload, so that its retry fails. */
  readonly deadLetter = async () => {
    const [letter] = await this.#sql(
      "webhooks",
      `insert into dead_letter (consumer, topic, key, event_id, event_type, payload, headers, status, reason)
       select 'webhooks', 'payments.v1', 'k', id, 'payments.v1.Unknown', '', jsonb_build_object('ce_id', id), 'PARKED', 'a test'
       from uuidv7() as id returning id`,
    );
    return String(letter?.["id"]);
  };

  async #create(call: ApiCaller, path: string, body: object): Promise<string> {
    const response = await call("POST", `${api}${path}`, body);
    if (response.status !== 201) throw new Error(`POST ${path} returned ${response.status}: ${response.text}`);
    return String(response.body["id"]);
  }

  async #sql(service: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    const database = new Client({ connectionString: this.#system.ownerDatabaseUrls[service] });
    await database.connect();
    try {
      return (await database.query(text, values)).rows;
    } finally {
      await database.end();
    }
  }
}
