import { randomBytes, randomInt } from "node:crypto";
import { apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { serviceNames } from "@amana/dev-env/services";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  findPlaces,
  type Place,
  readDatabasePlaces,
  readKafkaPlaces,
  readLogPlaces,
  withClient,
} from "../../src/find-everywhere.ts";
import {
  type Application,
  aClient,
  actOnLink,
  anApplication,
  applicationsPath,
  clearFaults,
  kycEventTypes,
  setFault,
  tokenOf,
  waitForCallbacks,
  waitForWebhook,
} from "../../src/kyc-harness.ts";
import { aBusiness, startTestSystem, type TestBusiness, type TestSystem } from "../../src/test-system.ts";

/** Returns a random word that cannot occur by chance in a searched place. */
const createWord = (name: string) => `zq${name}${randomBytes(8).toString("hex")}`;

/**
 * Words that must not occur in logs, databases or events. They are personal data in requests of the
 * business, data of the applicant's document, and words that a fault adds to the provider's texts.
 */
const canaries = {
  firstName: createWord("first"),
  lastName: createWord("last"),
  birthDate: createWord("birth"),
  street: createWord("street"),
  nested: createWord("nested"),
  fieldName: createWord("name"),
  email: createWord("mail"),
  phone: `213${randomInt(10 ** 9, 10 ** 10)}`,
  redirect: createWord("redirect"),
  malformed: createWord("malformed"),
  documentFirstName: createWord("shownfirst"),
  documentLastName: createWord("shownlast"),
  documentBirthDate: createWord("shownbirth"),
  leakedAtCreation: createWord("create"),
  leakedAtRead: createWord("get"),
  leakedAtCancel: createWord("cancel"),
  leakedByCallback: createWord("callback"),
  leakedByRejection: createWord("rejection"),
};
/** Permitted words. The search must find these words, which proves that it works. */
const controls = { externalId: createWord("external"), metadata: createWord("metadata"), note: createWord("note") };

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
const documentFields = {
  first_name: canaries.documentFirstName,
  last_name: canaries.documentLastName,
  birth_date: canaries.documentBirthDate,
};

let testSystem: TestSystem;
let business: TestBusiness;
let otherBusiness: TestBusiness;
const created: Application[] = [];
const responses: Place[] = [];
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
  [business, otherBusiness] = await Promise.all([
    aBusiness(testSystem.system, "Banque", kycEventTypes),
    aBusiness(testSystem.system),
  ]);
  await runScenarios();
  databases = await readDatabasePlaces(testSystem.system);
  messages = await readKafkaPlaces(testSystem.kafka?.brokers ?? "");
  webhooks = [business, otherBusiness].map(({ receiver, id }) => ({
    name: `webhooks of ${id}`,
    content: receiver.received.map(({ text }) => text).join("\n"),
  }));
  logs = await readLogPlaces(testSystem.system);
});
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
  await otherBusiness?.receiver[Symbol.asyncDispose]();
  await testSystem?.[Symbol.asyncDispose]();
});

/** Calls the API and stores the response for the search. */
async function callAndRecord(name: string, ...args: Parameters<TestBusiness["call"]>) {
  const response = await business.call(...args);
  responses.push({ name, content: `${JSON.stringify(response.headers)}\n${response.text}` });
  return response;
}

async function createApplication(headers: Record<string, string> = {}) {
  const call: TestBusiness["call"] = (...args) => callAndRecord("creation", ...args);
  const application = await anApplication({ call }, applicant, headers);
  created.push(application);
  return application;
}

/** Runs all scenarios of an application. The provider puts canaries into every response. */
async function runScenarios(): Promise<void> {
  const { system } = testSystem;
  const setLeakFaults = async () => {
    await setFault(system, "kyc_create", `leak:${canaries.leakedAtCreation}`, 10_000);
    await setFault(system, "kyc_get", `leak:${canaries.leakedAtRead}`, 10_000);
    await setFault(system, "kyc_cancel", `leak:${canaries.leakedAtCancel}`, 10_000);
    await setFault(system, "kyc_callback", `leak:${canaries.leakedByCallback}`, 10_000);
  };
  const submit = ({ link }: Application, submission: object) =>
    actOnLink(system, link, "submit", { ...documentFields, ...submission });
  const submitAndWait = async (kind: string, submission: object, application?: Application) => {
    const target = application ?? (await createApplication());
    await submit(target, submission);
    await waitForWebhook(business, kind, target.id);
    return target;
  };
  await setLeakFaults();

  // Omits the names of `documentFields`. They differ from the profile, so Amana would require a
  // review.
  await submitAndWait("KYC_COMPLETED", {
    outcome: "approved",
    first_name: undefined,
    last_name: undefined,
    birth_date: undefined,
  });
  await submitAndWait("KYC_REJECTED", { outcome: "rejected", reason_codes: ["DOCUMENT_TAMPERED"] });
  const failed = await submitAndWait("KYC_FAILED", { outcome: "failed" });
  await submitAndWait("KYC_REJECTED", { outcome: "rejected", reason_codes: ["FACE_MISMATCH"] }, failed);
  const reviewed = await submitAndWait("KYC_NEEDS_REVIEW", { outcome: "approved" });
  const decided = await apiCaller(system.gatewayUrl, system.adminKey)("POST", `${applicationsPath}/${reviewed.id}/review`, {
    outcome: "APPROVED",
    note: controls.note,
  });
  expect(decided.status, decided.text).toBe(200);
  responses.push({ name: "review", content: decided.text });
  await waitForWebhook(business, "KYC_REVIEW_RESOLVED", reviewed.id);

  const expired = await createApplication();
  await actOnLink(system, expired.link, "expire");
  await waitForWebhook(business, "KYC_EXPIRED", expired.id);

  const key = { "idempotency-key": createWord("key") };
  const keyed = await createApplication(key);
  expect((await callAndRecord("creation", "POST", applicationsPath, applicant, key)).headers["idempotent-replayed"]).toBe("true");
  expect((await callAndRecord("rejection", "POST", applicationsPath, { ...applicant, locale: "ar" }, key)).status).toBe(422);
  expect((await callAndRecord("cancel", "POST", `${applicationsPath}/${keyed.id}/cancel`, undefined, key)).status).toBe(200);
  expect((await callAndRecord("cancel", "POST", `${applicationsPath}/${keyed.id}/cancel`, undefined, key)).status).toBe(200);
  expect((await callAndRecord("rejection", "POST", `${applicationsPath}/${keyed.id}/cancel`)).status).toBe(409);

  // Drops all callbacks, so that kyc gets this application's verdict by polling.
  await setFault(system, "kyc_callback", "drop", 4);
  await submitAndWait("KYC_NEEDS_REVIEW", { outcome: "approved", aml_hit_count: 1 });
  await setLeakFaults();

  await setFault(system, "kyc_create", `leak_error:${canaries.leakedByRejection}`, 10_000);
  const rejectedKey = { "idempotency-key": createWord("key") };
  for (let times = 0; times < 2; times++) {
    expect((await callAndRecord("rejection", "POST", applicationsPath, applicant, rejectedKey)).status).toBe(502);
  }
  await setFault(system, "kyc_create", "http_500", 10_000);
  expect((await callAndRecord("rejection", "POST", applicationsPath, applicant)).status).toBe(503);
  await setLeakFaults();

  const invalidBodies: (object | string)[] = [
    { ...applicant, profile: canaries.firstName },
    { ...applicant, profile: [canaries.firstName] },
    { ...applicant, applicant_email: canaries.email },
    { ...applicant, applicant_phone: canaries.phone },
    { ...applicant, max_attempts: 99 },
  ];
  for (const body of invalidBodies) expect((await callAndRecord("rejection", "POST", applicationsPath, body)).status).toBe(422);
  const malformed = `{"profile":{"first_name":"${canaries.malformed}","first_name":`;
  const json = { "content-type": "application/json" };
  expect((await callAndRecord("rejection", "POST", applicationsPath, malformed, json)).status).toBe(400);
  expect(
    (await callAndRecord("rejection", "POST", applicationsPath, JSON.stringify(applicant), { "content-type": "text/plain" }))
      .status,
  ).toBe(415);

  for (const { id } of created) {
    expect((await callAndRecord("read", "GET", `${applicationsPath}/${id}`)).status).toBe(200);
    await waitForCallbacks(system, id);
  }
  const client_id = await aClient(business);
  const call: TestBusiness["call"] = (...args) => callAndRecord("creation", ...args);
  created.push(await anApplication({ call }, { ...applicant, client_id }));
  await eventually(async () => {
    const { text } = await callAndRecord("onboarding", "GET", `/api/v1/clients/${client_id}/onboarding/status`);
    expect(text).toContain(String(created.at(-1)?.link));
  });
  await callAndRecord("list", "GET", applicationsPath);
  await callAndRecord("events", "GET", "/api/v1/events?limit=100");
  const foreign = await otherBusiness.call("GET", `${applicationsPath}/${reviewed.id}`);
  responses.push(
    { name: "foreign", content: foreign.text },
    { name: "foreign", content: (await otherBusiness.call("GET", applicationsPath)).text },
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

describe.each(Object.entries(canaries))("the personal data %s", (name, canary) => {
  test(`the tables of all databases do not contain the personal data "${name}" after a verification`, () =>
    expect(findPlaces(databases, canary)).toEqual([]));
  test(`the logs at level trace do not contain the personal data "${name}" after a verification`, () =>
    expect(findPlaces(logs, canary)).toEqual([]));
  test(`the Kafka messages do not contain the personal data "${name}" after a verification`, () =>
    expect(findPlaces(messages, canary)).toEqual([]));
  test(`webhooks and API responses do not contain the personal data "${name}" after a verification`, () =>
    expect(findPlaces([...webhooks, ...responses], canary)).toEqual([]));
});

describe("the token of the verification link", () => {
  const findPlacesOfTokens = (places: readonly Place[]) => [
    ...new Set(created.flatMap(({ link }) => findPlaces(places, tokenOf(link)))),
  ];

  test("kyc does not write the token of a verification link to a table, log, Kafka message or webhook when a business creates an application", () => {
    expect(findPlacesOfTokens([...databases, ...logs, ...messages, ...webhooks])).toEqual([]);
  });

  test("the API returns the token of a verification link only in responses to the application's business", () => {
    expect(findPlacesOfTokens(responses).sort()).toEqual(["cancel", "creation", "list", "onboarding", "read"]);
  });
});

describe("findPlaces", () => {
  test("findPlaces finds words in text columns, JSON columns and stored responses of the databases", () => {
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

  test("findPlaces finds words in the logs of every service at level trace", () => {
    for (const { id } of created) expect(findPlaces(logs, id)).toContain("log: kyc.log");
    expect(findPlaces(logs, business.id)).toContain("log: gateway.log");
    const logNames = ["postgres", ...serviceNames];
    expect(logs.map(({ name }) => name).sort()).toEqual(logNames.map((name) => `log: ${name}.log`).sort());
    expect(findPlaces(logs, '"level":20')).not.toEqual([]);
  });

  test("findPlaces finds words in Kafka messages, webhooks and API responses", () => {
    for (const control of [controls.externalId, controls.metadata]) {
      expect(findPlaces(messages, control)).toEqual(["kafka: kyc.v1"]);
      expect(findPlaces(webhooks, control)).toEqual([`webhooks of ${business.id}`]);
      expect(findPlaces(responses, control)).toEqual(expect.arrayContaining(["read", "list", "events"]));
    }
    expect(findPlaces(messages, controls.note)).toEqual(["kafka: audit.v1"]);
  });

  test.each([0, 1, 2])(
    "findPlaces finds a word in upper case, and a word that is encoded after %i other bytes in base64 or in hexadecimal digits",
    (before) => {
      const encoded = Buffer.from(`${"x".repeat(before)}${controls.note}y`).toString("base64");
      expect(findPlaces([{ name: "base64", content: encoded }], controls.note)).toEqual(["base64"]);
      const hex = Buffer.from(`${"x".repeat(before)}${controls.note}y`).toString("hex");
      expect(findPlaces([{ name: "hex", content: hex }], controls.note)).toEqual(["hex"]);
      expect(findPlaces([{ name: "capitals", content: controls.note.toUpperCase() }], controls.note)).toEqual(["capitals"]);
    },
  );
});
