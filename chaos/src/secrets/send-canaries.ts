import { randomUUID } from "node:crypto";
import { Buyer } from "@amana/dev-env/buyer";
import { apiCaller } from "@amana/dev-env/demo/api";
import type { KycProvider } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";
import type { Place } from "@amana/e2e/find-everywhere";
import { anOrder, callSandbox, type TestBusiness, validCard } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { Client } from "pg";
import { request } from "undici";
import type { Report } from "../report.ts";
import type { Canaries } from "./canaries.ts";

export interface SecretsContext {
  readonly system: System;
  readonly kycProvider: KycProvider;
  readonly business: TestBusiness;
  readonly canaries: Canaries;
  readonly report: Report;
  /** Error responses of the API. They may contain the name of a field, but not its value. */
  readonly rejections: Place[];
  /** Responses to operators. */
  readonly operatorResponses: Place[];
  /** Responses to the business about verifications. */
  readonly verificationResponses: Place[];
  /** Canaries that no file of the system may contain. */
  readonly unstoredTexts: string[];
}

const clientRows = "clients: public.client";
const clientsDatabase = "clients: ";
const paymentsDatabase = "payments: ";
/** Places that may contain an order reference, because the events of a payment contain it. */
const deliveredPlaces = ["kafka: payments.v1", "webhooks: ", "webhooks"];

/** Calls the API with the key of the business. Records a violation if the status is unexpected. */
export async function call(context: SecretsContext, expected: number[], ...args: Parameters<TestBusiness["call"]>) {
  const response = await context.business.call(...args);
  context.report.count(`responses with ${response.status}`);
  if (!expected.includes(response.status)) {
    context.report.violation(
      `${args[0]} ${args[1]} returned ${response.status} instead of ${expected.join(" or ")}: ${response.text}`,
    );
  }
  if (response.status >= 400)
    context.rejections.push({ name: `rejection of ${args[0]} ${args[1].split("?")[0]}`, content: response.text });
  else if (args[1].startsWith("/api/v1/kyc/"))
    context.verificationResponses.push({ name: "response about a verification", content: response.text });
  return response;
}

export const aPerson = (canaries: Canaries) => ({
  first_name: canaries.createText("a first name", clientRows),
  middle_name: canaries.createText("a middle name", clientRows),
  last_name: canaries.createText("a last name", clientRows),
  date_of_birth: "1985-04-12",
  gender: "female",
  birth_country: "DZA",
  nationality: "DZA",
  country_of_tax_residence: "DZA",
  address: canaries.createText("an address", clientRows),
  city: canaries.createText("a city", clientRows),
  postcode: canaries.createText("a postcode", clientRows),
  country_code: "DZA",
  email: `${canaries.createText("an e-mail", clientRows)}@example.dz`,
});

/**
 * Creates, changes and searches resources with canaries in all fields. Also sends invalid requests,
 * which the API must reject.
 */
export async function sendCanaries(context: SecretsContext): Promise<void> {
  const { business, canaries, system } = context;
  const person = aPerson(canaries);
  const created = await call(context, [201], "POST", "/api/v1/clients/person", person);
  const client = String(created.body["id"]);
  await call(context, [409], "POST", "/api/v1/clients/person", {
    ...person,
    last_name: canaries.createText("a rejected last name"),
  });
  await call(context, [200], "PUT", `/api/v1/clients/person/${client}`, {
    kyc_note: canaries.createText("a note", clientRows),
    blacklisted_comment: canaries.createText("a comment", clientRows),
    mobile_phone_number: `+213${canaries.createDigits("a phone number", 9, clientRows)}`,
    second_email: `${canaries.createText("a second e-mail", clientRows)}@example.dz`,
    planned_income: canaries.createText("an income", clientRows),
  });
  await call(context, [422], "POST", "/api/v1/clients/person", { ...person, email: canaries.createText("a rejected e-mail") });
  await call(context, [422], "POST", "/api/v1/clients/person", { ...person, gender: canaries.createText("a rejected gender") });
  await call(context, [400], "POST", "/api/v1/clients/person", `{"first_name":"${canaries.createText("truncated JSON")}","last`);
  await call(context, [200], "GET", `/api/v1/clients?search=${canaries.createText("a search")}`);
  await call(context, [200], "GET", `/api/v1/clients?email=${canaries.createText("a searched e-mail")}%40example.dz`);
  await call(context, [404], "GET", `/api/v1/clients/${canaries.createText("a path")}`);

  await call(context, [201], "POST", `/api/v1/clients/${client}/onboarding/details`, {
    account_purposes: ["SAVINGS"],
    expected_monthly_incoming_volume: "LESS_THAN1000",
    expected_monthly_outgoing_volume: "LESS_THAN1000",
    is_us_person: false,
    occupation: "OTHER",
    other_occupation: canaries.createText("an occupation", clientsDatabase),
    occupation_sector: "EDUCATION",
    source_of_funds: "GIFT",
    tax_identification_number: canaries.createText("a tax number", clientsDatabase),
  });
  const beneficiary = await call(context, [201], "POST", "/api/v1/beneficiaries", {
    client_id: client,
    name: canaries.createText("a beneficiary", clientsDatabase),
    account_number: canaries.createDigits("an account number", 20, clientsDatabase),
    address: canaries.createText("a beneficiary's address", clientsDatabase),
  });
  await call(context, [422], "PUT", `/api/v1/beneficiaries/${beneficiary.body["id"]}`, {
    iban: canaries.createText("a wrong IBAN"),
  });
  const account = {
    client_id: client,
    account_type: "CURRENT",
    account_name: canaries.createText("an account name", clientsDatabase),
    currency: "DZD",
    external_account_id: canaries.createText("an external account", clientsDatabase),
    description: canaries.createText("an account's description", clientsDatabase),
  };
  await call(context, [201], "POST", "/api/v1/accounts", account);
  await call(context, [409], "POST", "/api/v1/accounts", account);

  await call(context, [201], "POST", "/api/v1/webhook-endpoints", {
    url: `http://127.0.0.1:9/${canaries.createText("a webhook path", "webhooks: ")}`,
  }).then(({ body }) => canaries.add("a second webhook secret", String(body["secret"])));
  const rotated = await call(context, [200], "PATCH", `/api/v1/webhook-endpoints/${business.endpointId}`, {
    rotate_secret: true,
  });
  business.receiver.useSecret(canaries.add("a rotated webhook secret", String(rotated.body["secret"])));

  await pay(context, canaries.createText("an order", paymentsDatabase, ...deliveredPlaces));
  await sellByLink(context);
  await verify(context, client);
  await rotateKeys(context);
  await call(context, [401], "GET", "/api/v1/me", undefined, { authorization: `Bearer ${canaries.createText("a wrong key")}` });
  await call(context, [401], "GET", "/api/v1/me", undefined, {
    authorization: `Basic ${canaries.createText("Basic credentials")}`,
  });
  await request(`${system.gatewayUrl}/api/v1/payments/return/${canaries.createText("a wrong return token")}`).then(({ body }) =>
    body.dump(),
  );
}

async function pay(context: SecretsContext, orderRef: string, headers: Record<string, string> = {}): Promise<void> {
  const { canaries, system } = context;
  canaries.add("a card number", validCard.pan);
  const payment = {
    ...anOrder,
    success_url: `https://shop.example/merci?cart=${canaries.createText("a cart", paymentsDatabase)}`,
    description: canaries.createText("a payment's description", paymentsDatabase),
    order_ref: orderRef,
  };
  const created = await call(context, [201], "POST", "/api/v1/payments", payment, headers);
  const path = `/sandbox/payments/${created.body["processor_order_id"]}/pay`;
  const { redirect_url } = (await callSandbox(system, "POST", path, validCard)) as { redirect_url: string };
  const token = new URL(redirect_url).pathname.split("/").at(-1) ?? "";
  canaries.add("a return token", token, "payments: public.payment");
  await request(redirect_url, { headersTimeout: 20_000 }).then(({ body }) => body.dump());
  await call(context, [200], "POST", `/api/v1/payments/${created.body["id"]}/refund`, undefined, {
    ...headers,
    "idempotency-key": canaries.createText("an Idempotency-Key", paymentsDatabase),
  });
}

/** Sells by a payment link. All fields of the business and of the buyer contain canaries. */
async function sellByLink(context: SecretsContext): Promise<void> {
  const { canaries, system } = context;
  const created = await call(context, [201], "POST", "/api/v1/payment-links", {
    name: canaries.createText("a link's name", paymentsDatabase),
    description: canaries.createText("a link's description", paymentsDatabase),
    amount: "2500.00",
    customer_fields: { name: "REQUIRED", email: "REQUIRED", phone: "REQUIRED" },
    success_url: `https://shop.example/${canaries.createText("a link's success_url", paymentsDatabase)}`,
    conditions_url: `https://shop.example/${canaries.createText("a link's conditions", paymentsDatabase)}`,
    metadata: { note: canaries.createText("a link's metadata", paymentsDatabase, ...deliveredPlaces) },
  });
  const url = String(created.body["url"]);
  // The token is permitted in the database of payments, because the success_url of each payment is
  // the address of the link's result page.
  canaries.add("a link's token", url.split("/").at(-1) ?? "", paymentsDatabase);
  const buyer = new Buyer(url);
  const page = await buyer.open(`?lang=en&q=${canaries.createText("a query of a page")}`);
  const phoneDigits = canaries.createDigits("a rejected phone number", 40);
  await buyer.submit(page, { name: canaries.createText("a rejected buyer"), phone: phoneDigits });
  canaries.add("a form token", /name="form_token" value="([\w-]+)"/.exec(page.html)?.[1] ?? "", "payments: public.payment");
  const { location = "" } = await buyer.submit(page, {
    name: canaries.createText("a buyer's name", "payments: public.payment"),
    email: `${canaries.createText("a buyer's e-mail", "payments: public.payment")}@example.dz`,
    phone: `+213${canaries.createDigits("a buyer's phone number", 9, "payments: public.payment")}`,
  });
  const orderId = new URL(location).pathname.split("/").at(-1);
  const { redirect_url } = (await callSandbox(system, "POST", `/sandbox/payments/${orderId}/pay`, validCard)) as {
    redirect_url: string;
  };
  canaries.add("a link's return token", new URL(redirect_url).pathname.split("/").at(-1) ?? "", "payments: public.payment");
  const returned = await buyer.read(redirect_url);
  await buyer.read(returned.location ?? "");
  const { body } = await call(context, [200], "GET", `/api/v1/payments?payment_link_id=${created.body["id"]}`);
  const [payment] = body as unknown as { receipt_url: string }[];
  const receiptUrl = payment?.receipt_url ?? "";
  canaries.add("a receipt's token", receiptUrl.split("/").at(-1) ?? "", paymentsDatabase);
  for (const email of [
    `${canaries.createText("a receipt's e-mail", "payments: public.receipt_mail")}@example.dz`,
    canaries.createText("a rejected receipt's e-mail"),
  ]) {
    await fetch(`${receiptUrl}/email`, { method: "POST", body: new URLSearchParams({ email }) });
  }
  await fetch(`${url.replace(/[^/]+$/, "")}${canaries.createText("an unknown link")}`);
}

async function verify(context: SecretsContext, client: string): Promise<void> {
  const { canaries } = context;
  const created = await call(context, [201], "POST", "/api/v1/kyc/applications", {
    client_id: client,
    applicant_email: `${canaries.createText("an applicant's e-mail")}@example.dz`,
    profile: { first_name: canaries.createText("an applicant's name") },
    metadata: {
      note: canaries.createText("metadata", "kyc: ", "kafka: kyc.v1", "webhooks: ", "webhooks", "response about a verification"),
    },
  });
  canaries.add(
    "a link",
    new URL(String(created.body["link_url"])).pathname.split("/").at(-1) ?? "",
    "response about a verification",
  );
  await call(context, [200], "POST", `/api/v1/kyc/applications/${created.body["id"]}/cancel`);
}

async function rotateKeys(context: SecretsContext): Promise<void> {
  const { canaries, system, business } = context;
  const issuedKey = await issueKey(context, "an issued key");
  const operator = apiCaller(system.gatewayUrl, system.adminKey);
  const rotated = await operator("PATCH", `/api/v1/businesses/${business.id}`, { rotate_api_key: true });
  canaries.add("a rotated key", String(rotated.body["api_key"]));
  await call(context, [401, 200], "GET", "/api/v1/me", undefined, { authorization: `Bearer ${issuedKey}` });
}

/** Creates another key of the business and adds it as a canary. */
async function issueKey({ canaries, system, business }: SecretsContext, name: string): Promise<string> {
  const operator = apiCaller(system.gatewayUrl, system.adminKey);
  const response = await operator("POST", "/api/v1/admin/api-keys", { business_id: business.id, name: randomUUID() });
  const key = String(response.body["api_key"]);
  canaries.add(name, key);
  return key;
}

/**
 * Causes internal errors with a violated constraint and a locked table. PostgreSQL's messages about
 * such errors contain personal data.
 */
export async function failInDatabase(context: SecretsContext): Promise<void> {
  const { canaries, system, report } = context;
  const key = await issueKey(context, "a third key");
  const authorization = { authorization: `Bearer ${key}` };
  const owner = new Client({ connectionString: system.ownerDatabaseUrls["clients"] });
  await owner.connect();
  try {
    const person = { ...aPerson(canaries), kyc_note: undefined };
    await owner.query(`alter table client add constraint rejects_canary check (city <> '${person.city}') not valid`);
    await call(context, [500], "POST", "/api/v1/clients/person", removeUndefined(person), authorization);
    await owner.query("alter table client drop constraint rejects_canary");
    report.count("rows rejected by an added constraint");
    await owner.query("begin");
    await owner.query("lock table client in access exclusive mode");
    await call(context, [503], "POST", "/api/v1/clients/person", removeUndefined(aPerson(canaries)), authorization);
    await owner.query("rollback");
    report.count("requests during a table lock");
  } finally {
    await owner.end();
  }
  await causeDeadLetter(context, authorization);
}

const deadLetterMsMax = 120_000;

/**
 * Publishes an event that webhooks cannot store and therefore dead-letters. The API must return the
 * event's metadata to operators, but must not return the event's content.
 */
async function causeDeadLetter(context: SecretsContext, authorization: Record<string, string>): Promise<void> {
  const { canaries, system, report, operatorResponses } = context;
  const order = canaries.createText("an order that cannot be delivered", paymentsDatabase, ...deliveredPlaces);
  const owner = new Client({ connectionString: system.ownerDatabaseUrls["webhooks"] });
  await owner.connect();
  try {
    await owner.query(`alter table event add constraint rejects_canary check (strpos(body, '${order}') = 0) not valid`);
    await pay(context, order, authorization);
    const operator = apiCaller(system.gatewayUrl, system.adminKey);
    const endsAtMs = performance.now() + deadLetterMsMax;
    for (;;) {
      const list = await operator("GET", "/api/v1/admin/dead-letters?service=webhooks");
      const [deadLetter] = list.body as unknown as { id: string }[];
      if (deadLetter) {
        const detail = await operator("GET", `/api/v1/admin/dead-letters/${deadLetter.id}`);
        operatorResponses.push({ name: "response to operators", content: `${list.text}\n${detail.text}` });
        report.count("dead-lettered messages that operators read");
        break;
      }
      if (performance.now() > endsAtMs)
        return report.violation("no dead-lettered message is listed for an event that cannot be stored");
      await sleep(100);
    }
  } finally {
    await owner.query("alter table event drop constraint rejects_canary");
    await owner.end();
  }
}

const removeUndefined = (body: object) => JSON.parse(JSON.stringify(body)) as object;
