import { randomUUID } from "node:crypto";
import { apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { Client } from "pg";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Application,
  aClient,
  actOnLink,
  anApplication,
  applicationsPath,
  kycEventTypes,
  readProviderView,
  setFault,
  tryToActOnLink,
  waitForCallbacks,
  waitForWebhook,
  webhookTypesOf,
} from "../../src/kyc-harness.ts";
import { aBusiness, startTestSystem, type TestBusiness, type TestSystem } from "../../src/test-system.ts";

let testSystem: TestSystem;
/** A business whose endpoint subscribes to `kycEventTypes`. */
let business: TestBusiness;
/** A business whose endpoint has the default event types. */
let defaultBusiness: TestBusiness;
let kycDatabase: Client;

beforeAll(async () => {
  // The poller and the event feed do not run during the tests, so kyc gets each state from a
  // callback.
  testSystem = await startTestSystem("direct", { kyc: { KYC_CHECK_SECONDS: "3600", KYC_CATCH_UP_SECONDS: "3600" } });
  kycDatabase = new Client({ connectionString: testSystem.system.databaseUrls["kyc"] });
  await kycDatabase.connect();
  [business, defaultBusiness] = await Promise.all([
    aBusiness(testSystem.system, "Banque", kycEventTypes),
    aBusiness(testSystem.system),
  ]);
});
afterAll(async () => {
  await kycDatabase?.end();
  await business?.receiver[Symbol.asyncDispose]();
  await defaultBusiness?.receiver[Symbol.asyncDispose]();
  await testSystem?.[Symbol.asyncDispose]();
});

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
const read = (id: string, { call } = business) => call("GET", `${applicationsPath}/${id}`);
const cancel = (id: string, { call } = business) => call("POST", `${applicationsPath}/${id}/cancel`);
const operator = () => apiCaller(testSystem.system.gatewayUrl, testSystem.system.adminKey);
const submit = ({ link }: Application, submission: object) => actOnLink(testSystem.system, link, "submit", submission);
/** Creates an application and submits it. Returns its webhook and its fields after the webhook. */
async function submitAndWait(kind: string, submission: object, body: object = {}, by = business) {
  const application = await anApplication(by, body);
  await submit(application, submission);
  const webhook = await waitForWebhook(by, kind, application.id);
  return { ...application, webhook, view: (await read(application.id, by)).body };
}

describe("the creation of a KYC application", () => {
  test("POST /kyc/applications returns status 201 with the documented fields and the Location header", async () => {
    const created = await business.call("POST", applicationsPath, { external_id: "é-1", metadata: { a: 1 } });
    expect(created.status).toBe(201);
    expect(created.headers["location"]).toBe(`${applicationsPath}/${created.body["id"]}`);
    expect(created.body).toEqual({
      id: uuid,
      created_at: iso,
      link_url: expect.stringMatching(/^http/),
      link_expires_at: iso,
      status: "CREATED",
      external_id: "é-1",
    });
    const withoutBody = await business.call("POST", applicationsPath);
    expect(Object.keys(withoutBody.body).sort()).toEqual(["created_at", "id", "link_expires_at", "link_url", "status"]);
  });

  test("POST /kyc/applications without a body creates an application with the default values for language, attempts, video, documents and link lifetime", async () => {
    const { id } = await anApplication(business);
    const { parameters } = (await readProviderView(testSystem.system, id)).calls[0] ?? {};
    expect(parameters).toEqual({
      reference: id,
      locale: "fr",
      allowed_documents: ["id_card", "passport"],
      max_attempts: 3,
      require_video: true,
      callback_url: expect.stringMatching(/\/callbacks\/kyc$/),
    });
    const { body } = await read(id);
    const hours = (Date.parse(String(body["link_expires_at"])) - Date.parse(String(body["created_at"]))) / 3_600_000;
    expect(hours).toBeCloseTo(72, 2);
  });

  test("POST /kyc/applications sends every field to the provider, and converts the locale to lower case", async () => {
    const { id } = await anApplication(business, {
      allowed_documents: ["passport"],
      locale: "AR",
      max_attempts: 10,
      require_video: false,
      ttl_hours: 720,
      redirect_url: "https://shop.example/fini?a=1",
      applicant_email: "amina@example.dz",
      applicant_phone: "+213550123456",
      profile: { first_name: "Amina", more: { nested: true } },
    });
    const { parameters } = (await readProviderView(testSystem.system, id)).calls[0] ?? {};
    expect(parameters).toMatchObject({
      locale: "ar",
      allowed_documents: ["passport"],
      max_attempts: 10,
      require_video: false,
      ttl_hours: 720,
      redirect_url: "https://shop.example/fini?a=1",
      applicant_email: "received, not kept",
      applicant_phone: "received, not kept",
    });
    const { body, text } = await read(id);
    const hours = (Date.parse(String(body["link_expires_at"])) - Date.parse(String(body["created_at"]))) / 3_600_000;
    expect(hours).toBeCloseTo(720, 2);
    expect(body["attempts_remaining"]).toBe(10);
    expect(text).not.toMatch(/Amina|example\.dz|\+213|shop\.example/);
  });

  test("a KYC application's metadata is the same byte for byte in the API's responses, the webhook and the event log", async () => {
    const metadata = String.raw`{"z":1,"a":{"n":12345678901234567890,"f":1.10,"e":1E+2},"t":"\u00e9 \ud83d\ude00","k":[null,true,"\/"]}`;
    const created = await business.call("POST", applicationsPath, `{"external_id":"bytes","metadata": ${metadata} }`, {
      "content-type": "application/json",
    });
    const application = { id: String(created.body["id"]), link: String(created.body["link_url"]) };
    const expectedText = `"metadata":${metadata}`;
    expect((await read(application.id)).text).toContain(expectedText);
    expect((await business.call("GET", `${applicationsPath}?external_id=bytes`)).text).toContain(expectedText);
    await submit(application, { outcome: "rejected" });
    const webhook = await waitForWebhook(business, "KYC_REJECTED", application.id);
    expect(webhook.text).toContain(expectedText);
    const event = await business.call("GET", `/api/v1/events/${webhook.body["id"]}`);
    expect(event.text).toContain(expectedText);
    expect((await business.call("GET", "/api/v1/events?type=KYC_REJECTED")).text).toContain(expectedText);
  });

  test("a KYC application's client_id is in the API's responses and the webhook, and GET /kyc/applications filters by client_id", async () => {
    const client_id = await aClient(business);
    const created = await business.call("POST", applicationsPath, { client_id });
    expect(created.body).toMatchObject({ status: "CREATED", client_id });
    const application = { id: String(created.body["id"]), link: String(created.body["link_url"]) };
    expect((await read(application.id)).body["client_id"]).toBe(client_id);
    const { body } = await business.call("GET", `${applicationsPath}?client_id=${client_id}`);
    expect((body as unknown as { id: string }[]).map(({ id }) => id)).toEqual([application.id]);
    await submit(application, { outcome: "approved" });
    expect((await waitForWebhook(business, "KYC_COMPLETED", application.id)).body["client_id"]).toBe(client_id);
  });

  test("POST /kyc/applications returns status 404 for an unknown client_id and status 409 for a blocked client, and creates no application", async () => {
    const blocked = await aClient(business);
    await business.call("PUT", `/api/v1/clients/person/${blocked}`, { blocked: true });
    const mark = { external_id: "no-client" };
    for (const [client_id, status, code] of [
      [randomUUID(), 404, "client_not_found"],
      [await aClient(defaultBusiness), 404, "client_not_found"],
      [blocked, 409, "client_blocked"],
    ]) {
      const response = await business.call("POST", applicationsPath, { ...mark, client_id });
      expect([response.status, response.body["code"]]).toEqual([status, code]);
    }
    expect((await business.call("GET", `${applicationsPath}?external_id=no-client`)).body).toEqual([]);
  });

  test("POST /kyc/applications returns status 409 and cancels the provider's link if the client is blocked during the call to the provider", async () => {
    const client_id = await aClient(business);
    await setFault(testSystem.system, "kyc_create", "slow:1500");
    const key = { "idempotency-key": randomUUID() };
    const creating = business.call("POST", applicationsPath, { client_id, external_id: "blocked-during-call" }, key);
    const id = await eventually(async () => {
      const { rows } = await kycDatabase.query("select id from idempotency_key where key = $1", [key["idempotency-key"]]);
      return String(rows[0].id);
    });
    // kyc has checked the client before it calls the provider.
    await eventually(async () => expect((await readProviderView(testSystem.system, id)).status).toBe("CREATED"));
    const blocked = await business.call("PUT", `/api/v1/clients/person/${client_id}`, { blocked: true });
    expect(blocked.body["blocked"]).toBe(true);
    const response = await creating;
    expect([response.status, response.body["code"]]).toEqual([409, "client_blocked"]);
    expect((await business.call("GET", `${applicationsPath}?external_id=blocked-during-call`)).body).toEqual([]);
    const { body } = await business.call("GET", `/api/v1/clients/${client_id}/onboarding/status`);
    expect(body).not.toHaveProperty("kyc_application_id");
    expect((await readProviderView(testSystem.system, id)).status).toBe("CANCELED");
  });

  test("POST /kyc/applications with a repeated Idempotency-Key returns the same application and link", async () => {
    const key = { "idempotency-key": randomUUID() };
    const [first, second] = [
      await business.call("POST", applicationsPath, { external_id: "keyed" }, key),
      await business.call("POST", applicationsPath, { external_id: "keyed" }, key),
    ];
    expect(second.headers["idempotent-replayed"]).toBe("true");
    expect([second.status, second.text]).toEqual([201, first.text]);
    expect((await business.call("GET", `${applicationsPath}?external_id=keyed`)).headers["x-total-count"]).toBe("1");
  });
});

describe("KYC applications that a business reads", () => {
  test("GET /kyc/applications/{id} returns only the required fields before a verdict", async () => {
    const { id } = await anApplication(business);
    expect((await read(id)).body).toEqual({
      id,
      created_at: iso,
      link_url: expect.any(String),
      link_expires_at: iso,
      status: "CREATED",
      aml_hit_count: 0,
      metadata: {},
      reason_codes: [],
      synced_at: iso,
      attempts_used: 0,
      attempts_remaining: 3,
    });
  });

  test("GET /kyc/applications/{id} returns the decision and its evidence after a verdict", async () => {
    const { view } = await submitAndWait("KYC_COMPLETED", { outcome: "approved", document_type: "id_card", nationality: "FRA" });
    expect(view).toMatchObject({
      status: "COMPLETED",
      verdict: "APPROVED",
      completed_at: iso,
      synced_at: iso,
      decision_summary: expect.any(String),
      document_type: "id_card",
      document_expiry: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      nationality: "FRA",
      liveness_outcome: "PASSED",
      face_match_outcome: "PASSED",
      aml_decision: "CLEAR",
      attempts_used: 1,
    });
  });

  test("GET /kyc/applications returns only the caller's applications, newest first, on every page and with every filter", async () => {
    const mark = randomUUID();
    const createdIds: string[] = [];
    for (let i = 0; i < 3; i++) createdIds.unshift((await anApplication(defaultBusiness, { external_id: mark })).id);
    await cancel(String(createdIds[1]), defaultBusiness);
    const ids = async (query: string, by = defaultBusiness) =>
      ((await by.call("GET", `${applicationsPath}?external_id=${mark}&${query}`)).body as unknown as { id: string }[]).map(
        ({ id }) => id,
      );
    expect(await ids("")).toEqual(createdIds);
    expect(await ids("limit=1&offset=1")).toEqual([createdIds[1]]);
    expect(await ids("status=CANCELED")).toEqual([createdIds[1]]);
    expect(await ids("verdict=APPROVED")).toEqual([]);
    expect(await ids("created_to=2020-01-01T00:00:00Z")).toEqual([]);
    expect(await ids("created_from=2020-01-01T00:00:00Z")).toEqual(createdIds);
    expect(await ids("", business)).toEqual([]);
    const unknown = await defaultBusiness.call("GET", `${applicationsPath}?client_id=${randomUUID()}`);
    expect([unknown.status, unknown.body["code"]]).toEqual([404, "client_not_found"]);
    const { headers } = await defaultBusiness.call("GET", `${applicationsPath}?external_id=${mark}&limit=2`);
    expect([headers["x-total-count"], String(headers["link"]).includes('rel="next"')]).toEqual(["3", true]);
  });
});

describe("status changes of a KYC application", () => {
  test.each(["fr", "ar", "en"])(
    "POST /kyc/applications/{id}/cancel sets a CREATED application to CANCELED, and the verification link then shows an explanation in the language %s",
    async (locale) => {
      const application = await anApplication(business, { locale });
      const canceled = await cancel(application.id);
      expect([canceled.status, canceled.body["status"]]).toEqual([200, "CANCELED"]);
      expect(canceled.body["metadata"]).toEqual({});
      expect(await tryToActOnLink(testSystem.system, application.link, "submit", { outcome: "approved" })).toBe(false);
      const page = await (await request(application.link)).body.text();
      const words = { fr: "Cette vérification est annulée", ar: "أُلغي هذا التحقق", en: "This verification is cancelled" };
      expect(page).toContain(words[locale as keyof typeof words]);
      await waitForWebhook(business, "KYC_CANCELED", application.id);
    },
  );

  test("a KYC application becomes OPENED when the applicant opens its link, and CANCELED when the business then cancels it", async () => {
    const { id, link } = await anApplication(business);
    await (await request(link)).body.dump();
    await eventually(async () => expect((await readFromList(id)).status).toBe("OPENED"));
    expect((await cancel(id)).body["status"]).toBe("CANCELED");
  });

  test("POST /kyc/applications/{id}/cancel returns 409 kyc_in_progress after the submission, and the application then gets its verdict", async () => {
    const application = await anApplication(business);
    await submit(application, { outcome: "approved", hold_seconds: 5 });
    const rejected = await cancel(application.id);
    expect([rejected.status, rejected.body["code"]]).toEqual([409, "kyc_in_progress"]);
    await waitForWebhook(business, "KYC_COMPLETED", application.id);
  });

  test.each(["COMPLETED", "EXPIRED", "CANCELED"])(
    "POST /kyc/applications/{id}/cancel returns status 409 and changes nothing if the application is %s",
    async (status) => {
      const { id, link } = await anApplication(business);
      if (status === "COMPLETED") await submit({ id, link }, { outcome: "needs_review" });
      if (status === "EXPIRED") await actOnLink(testSystem.system, link, "expire");
      if (status === "CANCELED") await cancel(id);
      const kind = { COMPLETED: "KYC_NEEDS_REVIEW", EXPIRED: "KYC_EXPIRED", CANCELED: "KYC_CANCELED" }[status] ?? "";
      await waitForWebhook(business, kind, id);
      await waitForCallbacks(testSystem.system, id);
      const applicationBefore = await readFromList(id);
      const rejected = await cancel(id);
      expect([rejected.status, rejected.body["code"]]).toEqual([409, "kyc_application_final"]);
      expect(await readFromList(id)).toEqual(applicationBefore);
      expect(applicationBefore.status).toBe(status);
    },
  );

  /** Reads an application from the list, because GET of one application would call the provider. */
  const readFromList = async (id: string) => {
    const { body } = await business.call("GET", `${applicationsPath}?limit=100`);
    return (body as unknown as { id: string; status: string }[]).find((item) => item.id === id) ?? { status: "not in the list" };
  };
});

describe("verdicts of KYC applications and their events", () => {
  const verdictCases: [kind: string, submission: object, body: object, view: object][] = [
    ["KYC_COMPLETED", { outcome: "approved" }, {}, { verdict: "APPROVED", reason_codes: [] }],
    [
      "KYC_REJECTED",
      { outcome: "rejected", reason_codes: [{ code: "FACE_MISMATCH", message: "text of the provider" }] },
      {},
      {
        verdict: "REJECTED",
        reason_codes: [{ code: "FACE_MISMATCH", message: expect.stringMatching(/^The face does not match/) }],
      },
    ],
    ["KYC_NEEDS_REVIEW", { outcome: "needs_review" }, {}, { verdict: "NEEDS_REVIEW" }],
    ["KYC_NEEDS_REVIEW", { outcome: "approved", aml_hit_count: 2 }, {}, { verdict: "NEEDS_REVIEW", aml_hit_count: 2 }],
    ["KYC_NEEDS_REVIEW", { outcome: "approved" }, { require_video: false }, { liveness_outcome: "NOT_PERFORMED" }],
    [
      "KYC_NEEDS_REVIEW",
      { outcome: "approved", first_name: "Lina" },
      { profile: { first_name: "Amina" } },
      { verdict: "NEEDS_REVIEW", reason_codes: [{ code: "PROFILE_MISMATCH" }] },
    ],
    ["KYC_REJECTED", { outcome: "approved", document_expiry: "2020-01-31" }, {}, { document_expiry: "2020-01-31" }],
    ["KYC_NEEDS_REVIEW", { outcome: "approved", document_type: "passport" }, { allowed_documents: ["id_card"] }, {}],
    ["KYC_FAILED", { outcome: "failed" }, {}, { status: "FAILED", error_message: expect.any(String) }],
  ];
  test.each(verdictCases)(
    "kyc emits %s after the submission %j for an application that was created with the body %j",
    async (kind, submission, body, expected) => {
      const { id, webhook, view } = await submitAndWait(kind, submission, body);
      expect(view).toMatchObject(expected);
      expect(webhookTypesOf(business, id)).toEqual([kind]);
      expect(webhook.body["status"]).toBe(view["status"]);
      expect(webhook.body["verdict"]).toBe(view["verdict"]);
      expect(webhook.body["reason_codes"]).toEqual(view["reason_codes"]);
    },
  );

  test("the webhook of a KYC verdict contains the decision, external_id and metadata, but not the verification link", async () => {
    const { id, link, webhook, view } = await submitAndWait(
      "KYC_COMPLETED",
      { outcome: "approved" },
      { external_id: "x", metadata: { order: 7 } },
      defaultBusiness,
    );
    expect(webhook.body).toEqual({
      id: uuid,
      event: "KYC_COMPLETED",
      occurred_at: iso,
      business_id: defaultBusiness.id,
      application_id: id,
      external_id: "x",
      metadata: { order: 7 },
      status: "COMPLETED",
      verdict: "APPROVED",
      reason_codes: [],
      document_expiry: view["document_expiry"],
      aml_hit_count: 0,
    });
    expect(webhook.text).not.toContain(link);
    expect(defaultBusiness.receiver.refused).toEqual([]);
  });

  test("kyc emits KYC_EXPIRED when an unused verification link expires", async () => {
    const { id, link } = await anApplication(defaultBusiness);
    await actOnLink(testSystem.system, link, "expire");
    await waitForWebhook(defaultBusiness, "KYC_EXPIRED", id);
    expect((await read(id, defaultBusiness)).body["status"]).toBe("EXPIRED");
  });

  test("kyc emits KYC_FAILED once for each failed attempt, and the link accepts at most max_attempts attempts", async () => {
    const application = await anApplication(business, { max_attempts: 2 });
    await submit(application, { outcome: "failed" });
    await waitForWebhook(business, "KYC_FAILED", application.id);
    expect((await read(application.id)).body).toMatchObject({ status: "FAILED", attempts_used: 1, attempts_remaining: 1 });
    await submit(application, { outcome: "failed" });
    await eventually(() => expect(webhookTypesOf(business, application.id)).toEqual(["KYC_FAILED", "KYC_FAILED"]));
    expect(await tryToActOnLink(testSystem.system, application.link, "submit", { outcome: "approved" })).toBe(false);
    expect((await cancel(application.id)).body).toMatchObject({ status: "CANCELED", attempts_used: 2, attempts_remaining: 0 });
  });

  test("KYC_CANCELED is delivered only to endpoints that subscribe to it", async () => {
    const { id } = await anApplication(defaultBusiness);
    await cancel(id, defaultBusiness);
    await submitAndWait("KYC_COMPLETED", { outcome: "approved" }, {}, defaultBusiness);
    await eventually(async () => {
      expect((await defaultBusiness.call("GET", "/api/v1/events?type=KYC_CANCELED")).text).toContain(id);
    });
    expect(webhookTypesOf(defaultBusiness, id)).toEqual([]);
  });

  test.each(["APPROVED", "REJECTED"])(
    "an operator's review with the outcome %s is final, and kyc emits KYC_REVIEW_RESOLVED",
    async (outcome) => {
      const { id } = await submitAndWait("KYC_NEEDS_REVIEW", { outcome: "needs_review" });
      const path = `${applicationsPath}/${id}/review`;
      const byBusiness = await business.call("POST", path, { outcome, note: "note of the business" });
      expect([byBusiness.status, byBusiness.body["code"]]).toEqual([403, "admin_required"]);
      const response = await operator()("POST", path, { outcome, note: "checked by an operator" });
      expect([response.status, response.body["verdict"]]).toEqual([200, outcome]);
      expect((await waitForWebhook(business, "KYC_REVIEW_RESOLVED", id)).body["verdict"]).toBe(outcome);
      const secondReview = await operator()("POST", path, { outcome, note: "second review" });
      expect([secondReview.status, secondReview.body["code"]]).toEqual([409, "kyc_review_not_open"]);
      expect(webhookTypesOf(business, id)).toEqual(["KYC_NEEDS_REVIEW", "KYC_REVIEW_RESOLVED"]);
    },
  );

  test("kyc emits KYC_REVIEW_RESOLVED when a reviewer at the provider decides an application in review", async () => {
    const { id, link } = await submitAndWait("KYC_NEEDS_REVIEW", { outcome: "needs_review" });
    await actOnLink(testSystem.system, link, "review", { outcome: "rejected" });
    expect((await waitForWebhook(business, "KYC_REVIEW_RESOLVED", id)).body["verdict"]).toBe("REJECTED");
  });
});

describe("errors of the KYC application routes", () => {
  const routes = [
    ["POST", () => applicationsPath],
    ["GET", () => applicationsPath],
    ["GET", (id: string) => `${applicationsPath}/${id}`],
    ["POST", (id: string) => `${applicationsPath}/${id}/cancel`],
    ["POST", (id: string) => `${applicationsPath}/${id}/review`],
  ] as const;

  test("the KYC application routes return status 401 without a key, with an unknown key and with a disabled business's key", async () => {
    const disabled = await aBusiness(testSystem.system, "Fermée");
    await disabled.receiver[Symbol.asyncDispose]();
    await operator()("PATCH", `/api/v1/businesses/${disabled.id}`, { status: "DISABLED" });
    const { id } = await anApplication(business);
    for (const key of ["", "sk_test_unknown", disabled.key]) {
      for (const [method, path] of routes) {
        expect((await apiCaller(testSystem.system.gatewayUrl, key)(method, path(id))).status, `${method} ${path(id)}`).toBe(401);
      }
    }
    expect((await read(id)).body["status"]).toBe("CREATED");
  });

  test("the KYC application routes return the same status 404 for another business's application as for an unknown id, and change nothing", async () => {
    const { id } = await anApplication(business);
    const strip = ({ request_id: _r, instance: _i, ...rest }: Record<string, unknown>) => rest;
    for (const [method, path] of routes.slice(2, 4)) {
      const foreign = await defaultBusiness.call(method, path(id));
      const unknown = await defaultBusiness.call(method, path(randomUUID()));
      expect([foreign.status, strip(foreign.body)]).toEqual([404, strip(unknown.body)]);
      expect(foreign.text.replace(String(foreign.body["instance"]), "")).not.toContain(id);
    }
    expect((await read(id)).body["status"]).toBe("CREATED");
  });
});
