import { randomUUID } from "node:crypto";
import { apiCaller } from "@amana/dev-env/demo/api";
import type { System } from "@amana/dev-env/system";
import type { Place } from "@amana/e2e/find-everywhere";
import { anOrder, sandbox, type TestBusiness, validCard } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { Client } from "pg";
import { request } from "undici";
import type { Report } from "../report.ts";
import type { Canaries } from "./canaries.ts";

export interface Stage {
  readonly system: System;
  readonly business: TestBusiness;
  readonly canaries: Canaries;
  readonly report: Report;
  /**
   * What the API answered that was no success: it may name a field, never repeat what was in it.
   */
  readonly refusals: Place[];
  /** What operators are shown. */
  readonly shown: Place[];
}

const clientRows = "clients: public.client";
const atClients = "clients: ";
const atPayments = "payments: ";
/** What a business says of its own orders goes to its own webhooks. */
const told = ["kafka: payments.v1", "webhooks: ", "webhooks"];

async function ask(stage: Stage, expected: number[], ...args: Parameters<TestBusiness["call"]>) {
  const answer = await stage.business.call(...args);
  stage.report.count(`answers ${answer.status}`);
  if (!expected.includes(answer.status)) {
    stage.report.violation(`${args[0]} ${args[1]} answered ${answer.status} instead of ${expected.join(" or ")}: ${answer.text}`);
  }
  if (answer.status >= 400) stage.refusals.push({ name: `refusal of ${args[0]} ${args[1].split("?")[0]}`, content: answer.text });
  return answer;
}

export const aPerson = (canaries: Canaries) => ({
  first_name: canaries.word("a first name", clientRows),
  middle_name: canaries.word("a middle name", clientRows),
  last_name: canaries.word("a last name", clientRows),
  date_of_birth: "1985-04-12",
  gender: "female",
  birth_country: "DZA",
  nationality: "DZA",
  country_of_tax_residence: "DZA",
  address: canaries.word("an address", clientRows),
  city: canaries.word("a city", clientRows),
  postcode: canaries.word("a postcode", clientRows),
  country_code: "DZA",
  email: `${canaries.word("an e-mail", clientRows)}@example.dz`,
});

/** Everything with a canary in it: made, changed, refused, searched for. */
export async function liveThrough(stage: Stage): Promise<void> {
  const { business, canaries, system } = stage;
  const person = aPerson(canaries);
  const made = await ask(stage, [201], "POST", "/api/v1/clients/person", person);
  const client = String(made.body["id"]);
  await ask(stage, [409], "POST", "/api/v1/clients/person", { ...person, last_name: canaries.word("a refused last name") });
  await ask(stage, [200], "PUT", `/api/v1/clients/person/${client}`, {
    kyc_note: canaries.word("a note", clientRows),
    blacklisted_comment: canaries.word("a comment", clientRows),
    mobile_phone_number: `+213${canaries.digits("a phone", 9, clientRows)}`,
    second_email: `${canaries.word("a second e-mail", clientRows)}@example.dz`,
    planned_income: canaries.word("an income", clientRows),
  });
  await ask(stage, [422], "POST", "/api/v1/clients/person", { ...person, email: canaries.word("a refused e-mail") });
  await ask(stage, [422], "POST", "/api/v1/clients/person", { ...person, gender: canaries.word("a refused gender") });
  await ask(stage, [400], "POST", "/api/v1/clients/person", `{"first_name":"${canaries.word("cut JSON")}","last`);
  await ask(stage, [200], "GET", `/api/v1/clients?search=${canaries.word("a search")}`);
  await ask(stage, [200], "GET", `/api/v1/clients?email=${canaries.word("an e-mail searched for")}%40example.dz`);
  await ask(stage, [404], "GET", `/api/v1/clients/${canaries.word("a path")}`);

  await ask(stage, [201], "POST", `/api/v1/clients/${client}/onboarding/details`, {
    account_purposes: ["SAVINGS"],
    expected_monthly_incoming_volume: "LESS_THAN1000",
    expected_monthly_outgoing_volume: "LESS_THAN1000",
    is_us_person: false,
    occupation: "OTHER",
    other_occupation: canaries.word("an occupation", atClients),
    occupation_sector: "EDUCATION",
    source_of_funds: "GIFT",
    tax_identification_number: canaries.word("a tax number", atClients),
  });
  const beneficiary = await ask(stage, [201], "POST", "/api/v1/beneficiaries", {
    client_id: client,
    name: canaries.word("a beneficiary", atClients),
    account_number: canaries.digits("an account number", 20, atClients),
    address: canaries.word("a beneficiary's address", atClients),
  });
  await ask(stage, [422], "PUT", `/api/v1/beneficiaries/${beneficiary.body["id"]}`, { iban: canaries.word("a wrong IBAN") });
  const account = {
    client_id: client,
    account_type: "CURRENT",
    account_name: canaries.word("an account name", atClients),
    currency: "DZD",
    external_account_id: canaries.word("an external account", atClients),
    description: canaries.word("an account's description", atClients),
  };
  await ask(stage, [201], "POST", "/api/v1/accounts", account);
  await ask(stage, [409], "POST", "/api/v1/accounts", account);

  await ask(stage, [201], "POST", "/api/v1/webhook-endpoints", {
    url: `http://127.0.0.1:9/${canaries.word("a webhook path", "webhooks: ")}`,
  }).then(({ body }) => canaries.watch("a second webhook secret", String(body["secret"])));
  const rotated = await ask(stage, [200], "PATCH", `/api/v1/webhook-endpoints/${business.endpointId}`, { rotate_secret: true });
  business.receiver.useSecret(canaries.watch("a rotated webhook secret", String(rotated.body["secret"])));

  await pay(stage, canaries.word("an order", atPayments, ...told));
  await verify(stage, client);
  await keys(stage);
  await ask(stage, [401], "GET", "/api/v1/me", undefined, { authorization: `Bearer ${canaries.word("a wrong key")}` });
  await ask(stage, [401], "GET", "/api/v1/me", undefined, { authorization: `Basic ${canaries.word("another scheme")}` });
  await request(`${system.gatewayUrl}/api/v1/payments/return/${canaries.word("a wrong return token")}`).then(({ body }) =>
    body.dump(),
  );
}

async function pay(stage: Stage, orderRef: string, headers: Record<string, string> = {}): Promise<void> {
  const { canaries, system } = stage;
  canaries.watch("a card number", validCard.pan);
  const payment = {
    ...anOrder,
    success_url: `https://shop.example/merci?cart=${canaries.word("a cart", atPayments, "kafka: payments.v1", "webhooks: public.dead_letter")}`,
    description: canaries.word("a payment's description", atPayments, "kafka: payments.v1", "webhooks: public.dead_letter"),
    order_ref: orderRef,
  };
  const created = await ask(stage, [201], "POST", "/api/v1/payments", payment, headers);
  const path = `/sandbox/payments/${created.body["processor_order_id"]}/pay`;
  const { redirect_url } = (await sandbox(system, "POST", path, validCard)) as { redirect_url: string };
  const token = new URL(redirect_url).pathname.split("/").at(-1) ?? "";
  canaries.watch("a return token", token, "payments: public.payment");
  await request(redirect_url, { headersTimeout: 20_000 }).then(({ body }) => body.dump());
  await ask(stage, [200], "POST", `/api/v1/payments/${created.body["id"]}/refund`, undefined, {
    ...headers,
    "idempotency-key": canaries.word("an Idempotency-Key", atPayments),
  });
}

async function verify(stage: Stage, client: string): Promise<void> {
  const { canaries } = stage;
  const created = await ask(stage, [201], "POST", "/api/v1/kyc/applications", {
    client_id: client,
    applicant_email: `${canaries.word("an applicant's e-mail")}@example.dz`,
    profile: { first_name: canaries.word("an applicant's name") },
    metadata: { note: canaries.word("metadata", "kyc: ", "kafka: kyc.v1", "webhooks: ", "webhooks") },
  });
  canaries.watch("a link", new URL(String(created.body["link_url"])).pathname.split("/").at(-1) ?? "");
  await ask(stage, [200], "POST", `/api/v1/kyc/applications/${created.body["id"]}/cancel`);
}

async function keys(stage: Stage): Promise<void> {
  const { canaries, system, business } = stage;
  const issued = await issueKey(stage, "an issued key");
  const operator = apiCaller(system.gatewayUrl, system.adminKey);
  const rotated = await operator("PATCH", `/api/v1/businesses/${business.id}`, { rotate_api_key: true });
  canaries.watch("a rotated key", String(rotated.body["api_key"]));
  await ask(stage, [401, 200], "GET", "/api/v1/me", undefined, { authorization: `Bearer ${issued}` });
}

/** Another key of the business, which from now on is to be found nowhere. */
async function issueKey({ canaries, system, business }: Stage, name: string): Promise<string> {
  const operator = apiCaller(system.gatewayUrl, system.adminKey);
  const issued = await operator("POST", "/api/v1/admin/api-keys", { business_id: business.id, name: randomUUID() });
  const key = String(issued.body["api_key"]);
  canaries.watch(name, key);
  return key;
}

/**
 * Faults of ours, with people in the rows that PostgreSQL repeats: a broken constraint and a table
 * that is locked.
 */
export async function failInTheDatabase(stage: Stage): Promise<void> {
  const { canaries, system, report } = stage;
  const key = await issueKey(stage, "a third key");
  const asOwner = { authorization: `Bearer ${key}` };
  const owner = new Client({ connectionString: system.ownerDatabaseUrls["clients"] });
  await owner.connect();
  try {
    const person = { ...aPerson(canaries), kyc_note: undefined };
    await owner.query(`alter table client add constraint broken check (city <> '${person.city}') not valid`);
    await ask(stage, [500], "POST", "/api/v1/clients/person", strip(person), asOwner);
    await owner.query("alter table client drop constraint broken");
    report.count("rows refused by a broken constraint");
    await owner.query("begin");
    await owner.query("lock table client in access exclusive mode");
    await ask(stage, [503], "POST", "/api/v1/clients/person", strip(aPerson(canaries)), asOwner);
    await owner.query("rollback");
    report.count("rows that met a locked table");
  } finally {
    await owner.end();
  }
  await failToConsume(stage, asOwner);
}

const shownWithinMs = 20_000;

/**
 * An event whose row the webhooks service cannot store: it is set aside, and operators see what it
 * is and not what is in it.
 */
async function failToConsume(stage: Stage, asOwner: Record<string, string>): Promise<void> {
  const { canaries, system, report, shown } = stage;
  const order = canaries.word("an order that cannot be told", atPayments, ...told);
  const owner = new Client({ connectionString: system.ownerDatabaseUrls["webhooks"] });
  await owner.connect();
  try {
    await owner.query(`alter table event add constraint broken check (strpos(body, '${order}') = 0) not valid`);
    await pay(stage, order, asOwner);
    const operator = apiCaller(system.gatewayUrl, system.adminKey);
    const endsAtMs = performance.now() + shownWithinMs;
    for (;;) {
      const list = await operator("GET", "/api/v1/admin/dead-letters?service=webhooks");
      const [letter] = list.body as unknown as { id: string }[];
      if (letter) {
        const one = await operator("GET", `/api/v1/admin/dead-letters/${letter.id}`);
        shown.push({ name: "shown to operators", content: `${list.text}\n${one.text}` });
        report.count("dead letters shown to operators");
        break;
      }
      if (performance.now() > endsAtMs) return report.violation("no dead letter was shown for an event that cannot be stored");
      await sleep(100);
    }
  } finally {
    await owner.query("alter table event drop constraint broken");
    await owner.end();
  }
}

const strip = (body: object) => JSON.parse(JSON.stringify(body)) as object;
