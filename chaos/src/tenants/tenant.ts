import { randomUUID } from "node:crypto";
import { apiCaller } from "@amana/dev-env/demo/api";
import type { System } from "@amana/dev-env/system";
import { aBusiness, aPaidPayment, aPerson, type TestBusiness } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { Client } from "pg";
import type { CreatedResource } from "./resources.ts";

/** A business with one resource of each kind. */
export interface Tenant {
  readonly business: TestBusiness;
  /** Unique text that all free texts of this business contain. */
  readonly mark: string;
  /** For each kind of resource, the identifier of a resource of this business. */
  readonly identifiers: Readonly<Record<string, string | number>>;
}

export async function createTenant(system: System, mark: string): Promise<Tenant> {
  const business = await aBusiness(system, mark);
  const operator = apiCaller(system.gatewayUrl, system.adminKey);
  const expectCreated = async (response: ReturnType<TestBusiness["call"]>, resource: string) => {
    const { status, body, text } = await response;
    if (status !== 201 && status !== 202) throw new Error(`${resource} could not be created: ${status} ${text}`);
    return body as Record<string, string>;
  };
  const email = `${mark}@example.dz`;
  const client = await expectCreated(
    business.call("POST", "/api/v1/clients/person", { ...aPerson, last_name: mark, email, external_client_code: mark }),
    "a client",
  );
  const { id: clientId = "" } = client;
  await expectCreated(
    business.call("POST", `/api/v1/clients/${clientId}/onboarding/details`, onboardingDetails),
    "onboarding details",
  );
  const account = await expectCreated(
    business.call("POST", "/api/v1/accounts", {
      client_id: clientId,
      account_type: "CURRENT",
      account_name: mark,
      currency: "DZD",
      external_account_id: mark,
    }),
    "an account",
  );
  const beneficiary = await expectCreated(
    business.call("POST", "/api/v1/beneficiaries", { client_id: clientId, name: mark, account_number: "12345678901234567890" }),
    "a beneficiary",
  );
  const application = await expectCreated(
    business.call("POST", "/api/v1/kyc/applications", { client_id: clientId, external_id: mark, metadata: { mark } }),
    "an application",
  );
  const order = { amount: "5000.00", success_url: `https://${mark}.example/a`, fail_url: `https://${mark}.example/b` };
  const pendingPayment = await expectCreated(
    business.call("POST", "/api/v1/payments", { ...order, order_ref: mark }),
    "a payment",
  );
  const link = await expectCreated(
    business.call("POST", "/api/v1/payment-links", { name: mark, amount: "5000.00", order_ref: mark, metadata: { mark } }),
    "a payment link",
  );
  await assignToLink(system, pendingPayment["id"] ?? "", link["id"] ?? "", email);
  await aPaidPayment(system, business);
  const key = await expectCreated(operator("POST", "/api/v1/admin/api-keys", { business_id: business.id, name: mark }), "a key");
  const replay = await expectCreated(
    business.call("POST", `/api/v1/webhook-endpoints/${business.endpointId}/replay`, { since: "2026-01-01T00:00:00Z" }),
    "a replay",
  );
  await waitForReplay(business, replay["id"] ?? "");
  const businessView = await operator("GET", `/api/v1/businesses/${business.id}`);

  return {
    business,
    mark,
    identifiers: {
      clients: clientId,
      person: clientId,
      client_id: clientId,
      accounts: account["id"] ?? "",
      // Requests do not contain the account number. It is here, so that `useForeignIdentifiers`
      // reports responses to the other business that contain it.
      account_number: account["account_number"] ?? "",
      beneficiaries: beneficiary["id"] ?? "",
      applications: application["id"] ?? "",
      payments: pendingPayment["id"] ?? "",
      "payment-links": link["id"] ?? "",
      payment_link_id: link["id"] ?? "",
      "webhook-endpoints": business.endpointId,
      endpoint_id: business.endpointId,
      replay_id: replay["id"] ?? "",
      events: await waitForEvent(business),
      businesses: business.id,
      business_id: business.id,
      "api-keys": key["id"] ?? "",
      organization_id: Number(businessView.body["organization_id"]),
      external_id: mark,
      external_account_id: mark,
      external_client_code: mark,
      order_ref: mark,
      search: mark,
      email,
      second_email: email,
      customer_email: email,
    } satisfies Record<CreatedResource | "account_number", string | number>,
  };
}

/**
 * Assigns a payment to a link, as if a buyer had started the payment on the link's page. Writes the
 * columns directly, because the page requires a solved captcha.
 */
async function assignToLink(system: System, paymentId: string, linkId: string, email: string): Promise<void> {
  const database = new Client({ connectionString: system.ownerDatabaseUrls["payments"] });
  await database.connect();
  try {
    await database.query("update payment set payment_link_id = $2, customer_email = $3 where id = $1", [
      paymentId,
      linkId,
      email,
    ]);
  } finally {
    await database.end();
  }
}

/** Returns an identifier that has the form of `example` but belongs to no resource. */
export function createUnknownIdentifier(resource: string, example: string | number): string | number {
  if (typeof example === "number") return 2_000_000_000;
  if (/^[0-9a-f]{8}-/.test(example)) return randomUUID();
  return resource.endsWith("email") ? "unknown@example.dz" : example.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
}

/** Waits until a replay is done. `useForeignIdentifiers` would report its progress as a change. */
async function waitForReplay({ call, endpointId }: TestBusiness, replayId: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const { body } = await call("GET", `/api/v1/webhook-endpoints/${endpointId}/replays/${replayId}`);
    if (body["status"] === "DONE") return;
    await sleep(100);
  }
  throw new Error("the replay did not end within 10 s");
}

async function waitForEvent({ call }: TestBusiness): Promise<string> {
  for (let tries = 0; tries < 100; tries++) {
    const { body } = await call("GET", "/api/v1/events");
    const [event] = body as unknown as { id: string }[];
    if (event) return event.id;
    await sleep(100);
  }
  throw new Error("no event of a paid payment within 10 s");
}

const onboardingDetails = {
  account_purposes: ["PAY_BILLS"],
  expected_monthly_incoming_volume: "LESS_THAN1000",
  expected_monthly_outgoing_volume: "LESS_THAN1000",
  is_us_person: false,
  occupation: "BUSINESS_OWNER",
  occupation_sector: "ACCOUNTING_AUDIT",
  source_of_funds: "COMPANY_PROFITS",
};
