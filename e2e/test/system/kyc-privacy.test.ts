import { randomBytes, randomInt } from "node:crypto";
import { apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { serviceNames } from "@amana/dev-env/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readDatabasePlaces, readKafkaPlaces, readLogPlaces, type Place, findPlaces, withClient } from "../../src/find-everywhere.ts";
import {
  type Application,
  aClient,
  anApplication,
  applications,
  waitForCallbacks,
  clearFaults,
  setFault,
  kycEventTypes,
  actOnLink,
  waitForWebhook,
  tokenOf,
} from "../../src/kyc-harness.ts";
import { aBusiness, startTestSystem, type TestBusiness, type TestSystem } from "../../src/test-system.ts";

/** Returns a word that does not occur by chance. */
const word = (name: string) => `zq${name}${randomBytes(8).toString("hex")}`;

/**
 * Words that must not occur: data of the applicant from the business, from the document, and from a
 * provider that leaks.
 */
const canaries = {
  firstName: word("first"),
  lastName: word("last"),
  birthDate: word("birth"),
  street: word("street"),
  nested: word("nested"),
  fieldName: word("name"),
  email: word("mail"),
  phone: `213${randomInt(10 ** 9, 10 ** 10)}`,
  redirect: word("redirect"),
  malformed: word("malformed"),
  shownFirstName: word("shownfirst"),
  shownLastName: word("shownlast"),
  shownBirthDate: word("shownbirth"),
  leakedAtCreation: word("create"),
  leakedAtRead: word("get"),
  leakedAtCancel: word("cancel"),
  leakedByCallback: word("callback"),
  leakedByRefusal: word("refusal"),
};
/** Words that must be found, as a check of the search itself. */
const controls = { externalId: word("external"), metadata: word("metadata"), note: word("note") };

const applicant = {
  applicant_email: `${canaries.email}@example.dz`,
  applicant_phone: `+${canaries.phone}`,
  redirect_url: `https://shop.example/${canaries.redirect}`,
  profile: {
    first_name: canaries.firstName,
    last_name: canaries.lastName,
    birth_date: canaries.birthDate,
    address: { lines: [canaries.street], more: [{ deep: canaries.nested }] },
    [canaries.fieldName]: true,
  },
  external_id: controls.externalId,
  metadata: { mark: controls.metadata },
};
const shown = {
  first_name: canaries.shownFirstName,
  last_name: canaries.shownLastName,
  birth_date: canaries.shownBirthDate,
};

let testSystem: TestSystem;
let business: TestBusiness;
let other: TestBusiness;
const made: Application[] = [];
const answers: Place[] = [];
let databases: Place[];
let logs: Place[];
let messages: Place[];
let webhooks: Place[];

beforeAll(async () => {
  testSystem = await startTestSystem(
    "kafka",
    Object.fromEntries(
      serviceNames.map((name) => [
        name,
        {
          LOG_LEVEL: "trace",
          ...(name === "gateway" && {
            RATE_LIMIT_PER_SECOND: "0",
            RATE_LIMIT_FAILED_AUTH_PER_MINUTE: "0",
            RATE_LIMIT_KYC_PER_SECOND: "0",
            RATE_LIMIT_CREATION_PER_SECOND: "0",
            RATE_LIMIT_SEARCH_PER_SECOND: "0",
            RATE_LIMIT_KEYLESS_PER_SECOND: "0",
          }),
        },
      ]),
    ),
  );
  [business, other] = await Promise.all([aBusiness(testSystem.system, "Banque", kycEventTypes), aBusiness(testSystem.system)]);
  await liveThrough();
  databases = await readDatabasePlaces(testSystem.system);
  messages = await readKafkaPlaces(testSystem.kafka?.brokers ?? "");
  webhooks = [business, other].map(({ receiver, id }) => ({
    name: `webhooks of ${id}`,
    content: receiver.received.map(({ text }) => text).join("\n"),
  }));
  logs = await readLogPlaces(testSystem.system);
});
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
  await other?.receiver[Symbol.asyncDispose]();
  await testSystem?.[Symbol.asyncDispose]();
});

/** Calls the API and stores the response for the search. */
async function callAndRecord(what: string, ...args: Parameters<TestBusiness["call"]>) {
  const answer = await business.call(...args);
  answers.push({ name: what, content: `${JSON.stringify(answer.headers)}\n${answer.text}` });
  return answer;
}

async function apply(headers: Record<string, string> = {}) {
  const call: TestBusiness["call"] = (...args) => callAndRecord("creation", ...args);
  const application = await anApplication({ call }, applicant, headers);
  made.push(application);
  return application;
}

/** Runs all scenarios of an application, with a provider that always leaks personal data. */
async function liveThrough(): Promise<void> {
  const { system } = testSystem;
  const leak = async () => {
    await setFault(system, "kyc_create", `leak:${canaries.leakedAtCreation}`, 10_000);
    await setFault(system, "kyc_get", `leak:${canaries.leakedAtRead}`, 10_000);
    await setFault(system, "kyc_cancel", `leak:${canaries.leakedAtCancel}`, 10_000);
    await setFault(system, "kyc_callback", `leak:${canaries.leakedByCallback}`, 10_000);
  };
  const submit = ({ link }: Application, submission: object) => actOnLink(system, link, "submit", { ...shown, ...submission });
  const endsIn = async (kind: string, submission: object, application?: Application) => {
    const target = application ?? (await apply());
    await submit(target, submission);
    await waitForWebhook(business, kind, target.id);
    return target;
  };
  await leak();

  // The names on the document differ from the profile, so that only a document without names is
  // approved.
  await endsIn("KYC_COMPLETED", { outcome: "approved", first_name: undefined, last_name: undefined, birth_date: undefined });
  await endsIn("KYC_REJECTED", { outcome: "rejected", reason_codes: ["DOCUMENT_TAMPERED"] });
  const failed = await endsIn("KYC_FAILED", { outcome: "failed" });
  await endsIn("KYC_REJECTED", { outcome: "rejected", reason_codes: ["FACE_MISMATCH"] }, failed);
  const reviewed = await endsIn("KYC_NEEDS_REVIEW", { outcome: "approved" });
  const decided = await apiCaller(system.gatewayUrl, system.adminKey)("POST", `${applications}/${reviewed.id}/review`, {
    outcome: "APPROVED",
    note: controls.note,
  });
  expect(decided.status, decided.text).toBe(200);
  answers.push({ name: "review", content: decided.text });
  await waitForWebhook(business, "KYC_REVIEW_RESOLVED", reviewed.id);

  const lapsed = await apply();
  await actOnLink(system, lapsed.link, "expire");
  await waitForWebhook(business, "KYC_EXPIRED", lapsed.id);

  const key = { "idempotency-key": word("key") };
  const keyed = await apply(key);
  expect((await callAndRecord("creation", "POST", applications, applicant, key)).headers["idempotent-replayed"]).toBe("true");
  expect((await callAndRecord("refusal", "POST", applications, { ...applicant, locale: "ar" }, key)).status).toBe(422);
  expect((await callAndRecord("cancel", "POST", `${applications}/${keyed.id}/cancel`, undefined, key)).status).toBe(200);
  expect((await callAndRecord("cancel", "POST", `${applications}/${keyed.id}/cancel`, undefined, key)).status).toBe(200);
  expect((await callAndRecord("refusal", "POST", `${applications}/${keyed.id}/cancel`)).status).toBe(409);

  // Only a poll reports this application.
  await setFault(system, "kyc_callback", "drop", 4);
  await endsIn("KYC_NEEDS_REVIEW", { outcome: "approved", aml_hit_count: 1 });
  await leak();

  await setFault(system, "kyc_create", `leak_error:${canaries.leakedByRefusal}`, 10_000);
  const refusedKey = { "idempotency-key": word("key") };
  for (let times = 0; times < 2; times++) {
    expect((await callAndRecord("refusal", "POST", applications, applicant, refusedKey)).status).toBe(502);
  }
  await setFault(system, "kyc_create", "http_500", 10_000);
  expect((await callAndRecord("refusal", "POST", applications, applicant)).status).toBe(503);
  await leak();

  const bad: (object | string)[] = [
    { ...applicant, profile: canaries.firstName },
    { ...applicant, profile: [canaries.firstName] },
    { ...applicant, applicant_email: canaries.email },
    { ...applicant, applicant_phone: canaries.phone },
    { ...applicant, max_attempts: 99 },
  ];
  for (const body of bad) expect((await callAndRecord("refusal", "POST", applications, body)).status).toBe(422);
  const malformed = `{"profile":{"first_name":"${canaries.malformed}","first_name":`;
  const json = { "content-type": "application/json" };
  expect((await callAndRecord("refusal", "POST", applications, malformed, json)).status).toBe(400);
  expect(
    (await callAndRecord("refusal", "POST", applications, JSON.stringify(applicant), { "content-type": "text/plain" })).status,
  ).toBe(415);

  for (const { id } of made) {
    expect((await callAndRecord("read", "GET", `${applications}/${id}`)).status).toBe(200);
    await waitForCallbacks(system, id);
  }
  const client_id = await aClient(business);
  const call: TestBusiness["call"] = (...args) => callAndRecord("creation", ...args);
  made.push(await anApplication({ call }, { ...applicant, client_id }));
  await eventually(async () => {
    const { text } = await callAndRecord("onboarding", "GET", `/api/v1/clients/${client_id}/onboarding/status`);
    expect(text).toContain(String(made.at(-1)?.link));
  });
  await callAndRecord("list", "GET", applications);
  await callAndRecord("events", "GET", "/api/v1/events?limit=100");
  const foreign = await other.call("GET", `${applications}/${reviewed.id}`);
  answers.push(
    { name: "foreign", content: foreign.text },
    { name: "foreign", content: (await other.call("GET", applications)).text },
  );
  await clearFaults(system);
  await eventually(async () => {
    for (const emitting of ["kyc", "clients", "payments", "webhooks"]) {
      const url = system.databaseUrls[emitting] ?? "";
      const { rows } = await withClient(url, (client) => client.query("select id from outbox_waiting"));
      expect(rows).toEqual([]);
    }
  });
}

describe.each(Object.entries(canaries))("%s", (_name, canary) => {
  test("is in no table of any database", () => expect(findPlaces(databases, canary)).toEqual([]));
  test("is in no log at the level trace", () => expect(findPlaces(logs, canary)).toEqual([]));
  test("is in no message of Kafka", () => expect(findPlaces(messages, canary)).toEqual([]));
  test("is in no webhook and no response of the API", () => expect(findPlaces([...webhooks, ...answers], canary)).toEqual([]));
});

describe("the token of the verification link", () => {
  const placesWithAny = (places: readonly Place[]) => [...new Set(made.flatMap(({ link }) => findPlaces(places, tokenOf(link))))];

  test("is in no table, log, message or webhook", () => {
    expect(placesWithAny([...databases, ...logs, ...messages, ...webhooks])).toEqual([]);
  });

  test("is only in responses to its business: creation, read, list, cancellation and onboarding of the client", () => {
    expect(placesWithAny(answers).sort()).toEqual(["cancel", "creation", "list", "onboarding", "read"]);
  });
});

describe("the search finds", () => {
  test("words in the databases: text, JSON, and bytes of a stored response", () => {
    expect(findPlaces(databases, controls.externalId)).toEqual(
      expect.arrayContaining(["kyc: public.kyc_application", "kyc: public.idempotency_key", "webhooks: public.event"]),
    );
    // The outbox keeps published messages for three days.
    expect(findPlaces(databases, controls.note)).toEqual([
      "identity: public.audit_event",
      "kyc: public.kyc_application",
      "kyc: public.outbox",
    ]);
  });

  test("words in the logs of every service, at the level trace", () => {
    for (const { id } of made) expect(findPlaces(logs, id)).toContain("log: kyc.log");
    expect(findPlaces(logs, business.id)).toContain("log: gateway.log");
    const names = ["postgres", ...serviceNames];
    expect(logs.map(({ name }) => name).sort()).toEqual(names.map((name) => `log: ${name}.log`).sort());
    expect(findPlaces(logs, '"level":20')).not.toEqual([]);
  });

  test("words in Kafka, webhooks and API responses", () => {
    for (const control of [controls.externalId, controls.metadata]) {
      expect(findPlaces(messages, control)).toEqual(["kafka: kyc.v1"]);
      expect(findPlaces(webhooks, control)).toEqual([`webhooks of ${business.id}`]);
      expect(findPlaces(answers, control)).toEqual(expect.arrayContaining(["read", "list", "events"]));
    }
    expect(findPlaces(messages, controls.note)).toEqual(["kafka: audit.v1"]);
  });

  test.each([0, 1, 2])("a word in base64 after %i other bytes, in hexadecimal digits and in capitals", (before) => {
    const encoded = Buffer.from(`${"x".repeat(before)}${controls.note}y`).toString("base64");
    expect(findPlaces([{ name: "base64", content: encoded }], controls.note)).toEqual(["base64"]);
    const hex = Buffer.from(`${"x".repeat(before)}${controls.note}y`).toString("hex");
    expect(findPlaces([{ name: "hex", content: hex }], controls.note)).toEqual(["hex"]);
    expect(findPlaces([{ name: "capitals", content: controls.note.toUpperCase() }], controls.note)).toEqual(["capitals"]);
  });
});
