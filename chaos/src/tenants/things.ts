import { randomUUID } from "node:crypto";
import { apiCaller } from "@amana/dev-env/demo/api";
import type { System } from "@amana/dev-env/system";
import { aBusiness, aPaidPayment, aPerson, type TestBusiness } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import type { MadeNoun } from "./nouns.ts";

/** A business with one of everything. */
export interface Tenant {
  readonly business: TestBusiness;
  /** In every text that it gave, and in no other business's. */
  readonly mark: string;
  /** What names its things, by the noun that a place in a request has. */
  readonly names: Readonly<Record<string, string | number>>;
}

export async function makeTenant(system: System, mark: string): Promise<Tenant> {
  const business = await aBusiness(system, mark);
  const operator = apiCaller(system.gatewayUrl, system.adminKey);
  const made = async (answer: ReturnType<TestBusiness["call"]>, noun: string) => {
    const { status, body, text } = await answer;
    if (status !== 201 && status !== 202) throw new Error(`${noun} could not be made: ${status} ${text}`);
    return body as Record<string, string>;
  };
  const email = `${mark}@example.dz`;
  const client = await made(
    business.call("POST", "/api/v1/clients/person", { ...aPerson, last_name: mark, email, external_client_code: mark }),
    "a client",
  );
  const { id: clientId = "" } = client;
  await made(business.call("POST", `/api/v1/clients/${clientId}/onboarding/details`, answers), "onboarding details");
  const account = await made(
    business.call("POST", "/api/v1/accounts", {
      client_id: clientId,
      account_type: "CURRENT",
      account_name: mark,
      currency: "DZD",
      external_account_id: mark,
    }),
    "an account",
  );
  const beneficiary = await made(
    business.call("POST", "/api/v1/beneficiaries", { client_id: clientId, name: mark, account_number: "12345678901234567890" }),
    "a beneficiary",
  );
  const application = await made(
    business.call("POST", "/api/v1/kyc/applications", { client_id: clientId, external_id: mark, metadata: { mark } }),
    "an application",
  );
  const order = { amount: "5000.00", success_url: `https://${mark}.example/a`, fail_url: `https://${mark}.example/b` };
  const pending = await made(business.call("POST", "/api/v1/payments", { ...order, order_ref: mark }), "a payment");
  await aPaidPayment(system, business);
  const key = await made(operator("POST", "/api/v1/admin/api-keys", { business_id: business.id, name: mark }), "a key");
  const replay = await made(
    business.call("POST", `/api/v1/webhook-endpoints/${business.endpointId}/replay`, { since: "2026-01-01T00:00:00Z" }),
    "a replay",
  );
  await untilDone(business, replay["id"] ?? "");
  const view = await operator("GET", `/api/v1/businesses/${business.id}`);

  return {
    business,
    mark,
    names: {
      clients: clientId,
      person: clientId,
      client_id: clientId,
      accounts: account["id"] ?? "",
      // It fills no place. A response to another business that contains it is a leak.
      account_number: account["account_number"] ?? "",
      beneficiaries: beneficiary["id"] ?? "",
      applications: application["id"] ?? "",
      payments: pending["id"] ?? "",
      "webhook-endpoints": business.endpointId,
      endpoint_id: business.endpointId,
      replay_id: replay["id"] ?? "",
      events: await firstEvent(business),
      businesses: business.id,
      business_id: business.id,
      "api-keys": key["id"] ?? "",
      organization_id: Number(view.body["organization_id"]),
      external_id: mark,
      external_account_id: mark,
      external_client_code: mark,
      order_ref: mark,
      search: mark,
      email,
      second_email: email,
    } satisfies Record<MadeNoun | "account_number", string | number>,
  };
}

/** A name of the same form that names nothing. */
export function nameOfNothing(noun: string, like: string | number): string | number {
  if (typeof like === "number") return 2_000_000_000;
  if (/^[0-9a-f]{8}-/.test(like)) return randomUUID();
  return noun.endsWith("email") ? "nobody@example.dz" : like.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
}

/** What is still going on would be seen as a change. */
async function untilDone({ call, endpointId }: TestBusiness, replayId: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const { body } = await call("GET", `/api/v1/webhook-endpoints/${endpointId}/replays/${replayId}`);
    if (body["status"] === "DONE") return;
    await sleep(100);
  }
  throw new Error("a replay of nothing did not end");
}

async function firstEvent({ call }: TestBusiness): Promise<string> {
  for (let tries = 0; tries < 100; tries++) {
    const { body } = await call("GET", "/api/v1/events");
    const [event] = body as unknown as { id: string }[];
    if (event) return event.id;
    await sleep(100);
  }
  throw new Error("no event came of a paid payment");
}

const answers = {
  account_purposes: ["PAY_BILLS"],
  expected_monthly_incoming_volume: "LESS_THAN1000",
  expected_monthly_outgoing_volume: "LESS_THAN1000",
  is_us_person: false,
  occupation: "BUSINESS_OWNER",
  occupation_sector: "ACCOUNTING_AUDIT",
  source_of_funds: "COMPANY_PROFITS",
};
