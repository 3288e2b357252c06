import { randomUUID } from "node:crypto";
import { someDetails } from "@amana/dev-env/demo/a-person";
import { type ApiCaller, type ApiResponse, apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  expectOnboarding,
  type OnboardingStatuses,
  onboardingStatuses,
  readOnboarding,
  saveDetails,
  someAccount,
  someBeneficiary,
} from "../../src/clients-harness.ts";
import {
  type Application,
  aClient,
  actOnLink,
  anApplication,
  applicationsPath,
  waitForCallbacks,
} from "../../src/kyc-harness.ts";
import { sharedSystem } from "../../src/shared-system.ts";
import { aBusiness, type TestBusiness, type TestSystem } from "../../src/test-system.ts";

let testSystem: TestSystem;
let business: TestBusiness;
let otherBusiness: TestBusiness;
let operator: ApiCaller;

beforeAll(async () => {
  testSystem = sharedSystem();
  [business, otherBusiness] = await Promise.all([aBusiness(testSystem.system, "Banque"), aBusiness(testSystem.system, "Autre")]);
  operator = apiCaller(testSystem.system.gatewayUrl, testSystem.system.adminKey);
});
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
  await otherBusiness?.receiver[Symbol.asyncDispose]();
});

const expectStatuses = (id: string, statuses: OnboardingStatuses, application?: { id: string; link?: string }) =>
  expectOnboarding(business, id, statuses, application);
const submit = ({ link }: Application, submission: object) => actOnLink(testSystem.system, link, "submit", submission);
const updateClient = (id: string, changes: object) => business.call("PUT", `/api/v1/clients/person/${id}`, changes);
const onboarding = (id: string) => `/api/v1/clients/${id}/onboarding`;
const statusAndCode = ({ status, body }: ApiResponse) => [status, body["code"]];
const openAccount = (clientId: string, body: object = {}, by = business) =>
  by.call("POST", "/api/v1/accounts", { ...someAccount, client_id: clientId, ...body });

/** Creates a client with details and an application whose link is not opened yet. */
async function aClientWithLink(body: object = {}): Promise<{ client: string; application: Application }> {
  const client = await aClient(business);
  await saveDetails(business, client);
  return { client, application: await anApplication(business, { client_id: client, ...body }) };
}

async function aVerifiedClient(): Promise<string> {
  const { client, application } = await aClientWithLink();
  await submit(application, { outcome: "approved" });
  await expectStatuses(client, onboardingStatuses.verified, { id: application.id });
  return client;
}

async function queryRows(service: "identity" | "clients" | "kyc", sql: string, values: unknown[] = []) {
  const database = new Client({ connectionString: testSystem.system.databaseUrls[service] });
  await database.connect();
  try {
    return (await database.query(sql, values)).rows;
  } finally {
    await database.end();
  }
}

const readAuditRows = (clientId: string) =>
  queryRows("identity", "select * from audit_event where entity_type = 'onboarding' and after->>'client_id' = $1", [clientId]);

describe("an onboarding", () => {
  test("an onboarding passes through the steps from registration to APPROVED, and its status contains the link of the open application", async () => {
    const client = await aClient(business);
    await expectStatuses(client, onboardingStatuses.registered);
    await saveDetails(business, client);
    await expectStatuses(client, onboardingStatuses.detailed);
    const application = await anApplication(business, { client_id: client });
    await expectStatuses(client, onboardingStatuses.created, application);
    const details = await business.call("GET", `${onboarding(client)}/details`);
    expect(details.body).toMatchObject({ ...someDetails, kyc_application_id: application.id, kyc_link: application.link });
    await actOnLink(testSystem.system, application.link, "open");
    await expectStatuses(client, onboardingStatuses.processing, application);
    const locked = await business.call("PATCH", `${onboarding(client)}/details`, { is_us_person: true });
    expect(statusAndCode(locked)).toEqual([409, "onboarding_locked"]);
    await submit(application, { outcome: "approved", hold_seconds: 5 });
    await expectStatuses(client, onboardingStatuses.processing, application);
    await expectStatuses(client, onboardingStatuses.verified, { id: application.id });
    const approved = await operator("POST", `${onboarding(client)}/approve`);
    expect([approved.status, approved.body["current_step"]]).toEqual([200, "APPROVED"]);
    await expectStatuses(client, onboardingStatuses.approved, { id: application.id });
    expect((await business.call("GET", `${onboarding(client)}/details`)).body).not.toHaveProperty("kyc_link");
  });

  const outcomes: [string, OnboardingStatuses, (application: Application) => Promise<unknown>][] = [
    ["approved", onboardingStatuses.verified, (application) => submit(application, { outcome: "approved" })],
    ["rejected", onboardingStatuses.declined, (application) => submit(application, { outcome: "rejected" })],
    ["in review", onboardingStatuses.underReview, (application) => submit(application, { outcome: "needs_review" })],
    ["expired", onboardingStatuses.aborted, ({ link }) => actOnLink(testSystem.system, link, "expire")],
    ["canceled", onboardingStatuses.aborted, ({ id }) => business.call("POST", `${applicationsPath}/${id}/cancel`)],
    ["failed", onboardingStatuses.aborted, (application) => submit(application, { outcome: "failed" })],
  ];
  test.each(outcomes)(
    "an onboarding whose KYC application is %s has the statuses %j and no link",
    async (_outcome, statuses, decide) => {
      const { client, application } = await aClientWithLink({ max_attempts: 1 });
      await decide(application);
      await expectStatuses(client, statuses, { id: application.id });
    },
  );

  test.each(outcomes)(
    "an onboarding without details whose KYC application is %s stays at DETAILS_PENDING until the business stores the details",
    async (_outcome, statuses, decide) => {
      const client = await aClient(business);
      const application = await anApplication(business, { client_id: client, max_attempts: 1 });
      await decide(application);
      await expectStatuses(client, ["DETAILS_PENDING", statuses[1], "IN_PROGRESS"], { id: application.id });
      await saveDetails(business, client);
      expect((await readOnboarding(business, client)).statuses).toEqual(statuses);
    },
  );

  test.each([
    ["APPROVED", onboardingStatuses.verified],
    ["REJECTED", onboardingStatuses.declined],
  ] as const)(
    "an onboarding in review gets its final statuses when the review of its KYC application is resolved as %s",
    async (outcome, statuses) => {
      const { client, application } = await aClientWithLink();
      await submit(application, { outcome: "needs_review" });
      await expectStatuses(client, onboardingStatuses.underReview, { id: application.id });
      await operator("POST", `${applicationsPath}/${application.id}/review`, { outcome, note: "Seen in person." });
      await expectStatuses(client, statuses, { id: application.id });
    },
  );

  test("an onboarding keeps its verification link after a failed attempt, and the next attempt on the link determines the verdict", async () => {
    const { client, application } = await aClientWithLink({ max_attempts: 2 });
    await submit(application, { outcome: "failed" });
    await eventually(async () => {
      expect((await business.call("GET", `${applicationsPath}/${application.id}`)).body["status"]).toBe("FAILED");
    });
    await expectStatuses(client, onboardingStatuses.processing, application);
    await submit(application, { outcome: "approved" });
    await expectStatuses(client, onboardingStatuses.verified, { id: application.id });
  });

  test("an onboarding keeps the statuses of its newest application when an older application gets its verdict", async () => {
    const { client, application: older } = await aClientWithLink();
    await submit(older, { outcome: "needs_review" });
    await expectStatuses(client, onboardingStatuses.underReview, { id: older.id });
    const newer = await anApplication(business, { client_id: client });
    await expectStatuses(client, onboardingStatuses.created, newer);
    await operator("POST", `${applicationsPath}/${older.id}/review`, { outcome: "REJECTED", note: "Another person." });
    // With the direct transport, an outbox row is removed after all consumers have processed it.
    await eventually(async () => expect(await queryRows("kyc", "select id from outbox_waiting")).toEqual([]));
    await expectStatuses(client, onboardingStatuses.created, newer);
    await submit(newer, { outcome: "approved" });
    await expectStatuses(client, onboardingStatuses.verified, { id: newer.id });
    await operator("POST", `${onboarding(client)}/approve`);
    const third = await anApplication(business, { client_id: client });
    await expectStatuses(client, ["APPROVED", "CREATED", "APPROVED"], third);
  });
});

describe("an operator's decision about an onboarding", () => {
  test("POST onboarding/approve adds one audit row for two requests with one Idempotency-Key, and returns the same response to both", async () => {
    const client = await aVerifiedClient();
    const path = `${onboarding(client)}/approve`;
    expect(statusAndCode(await business.call("POST", path))).toEqual([403, "admin_required"]);
    const key = { "idempotency-key": randomUUID(), "x-request-id": "approve-request-1" };
    const [first, second] = [await operator("POST", path, undefined, key), await operator("POST", path, undefined, key)];
    expect([first.status, second.text, second.headers["idempotent-replayed"]]).toEqual([200, first.text, "true"]);
    expect(statusAndCode(await operator("POST", path))).toEqual([409, "invalid_status_transition"]);
    expect(statusAndCode(await operator("POST", `${onboarding(client)}/decline`))).toEqual([409, "invalid_status_transition"]);
    const rows = await eventually(async () => {
      const auditRows = await readAuditRows(client);
      expect(auditRows).not.toEqual([]);
      return auditRows;
    });
    expect(rows).toEqual([
      expect.objectContaining({
        action: "onboarding.approved",
        actor: testSystem.system.adminKey.slice(0, 16),
        entity_id: first.body["id"],
        business_id: business.id,
        before: { client_id: client, current_step: "PENDING_APPROVAL" },
        after: { client_id: client, current_step: "APPROVED" },
        request_id: "approve-request-1",
      }),
    ]);
  });

  test("a declined onboarding stays declined until the client has a newer application, and the audit trail contains the reason", async () => {
    const client = await aVerifiedClient();
    const path = `${onboarding(client)}/decline`;
    expect(statusAndCode(await business.call("POST", path, { reason: "mine" }))).toEqual([403, "admin_required"]);
    const declined = await operator("POST", path, { reason: "Known elsewhere." });
    expect([declined.status, declined.body["overall_status"]]).toEqual([200, "DECLINED"]);
    await expectStatuses(client, onboardingStatuses.declined, { id: String(declined.body["kyc_application_id"]) });
    expect(statusAndCode(await operator("POST", path))).toEqual([409, "invalid_status_transition"]);
    const newer = await anApplication(business, { client_id: client });
    await expectStatuses(client, onboardingStatuses.created, newer);
    await submit(newer, { outcome: "approved" });
    await expectStatuses(client, onboardingStatuses.verified, { id: newer.id });
    await eventually(async () => expect(await readAuditRows(client)).not.toEqual([]));
    expect(await readAuditRows(client)).toEqual([
      expect.objectContaining({ action: "onboarding.declined", reason: "Known elsewhere." }),
    ]);
  });

  test("POST onboarding/approve and onboarding/decline return status 409 for a client that is not verified, and status 404 for an unknown client", async () => {
    const { client } = await aClientWithLink();
    for (const verb of ["approve", "decline"]) {
      expect(statusAndCode(await operator("POST", `${onboarding(client)}/${verb}`))).toEqual([409, "invalid_status_transition"]);
      expect(statusAndCode(await operator("POST", `${onboarding(randomUUID())}/${verb}`))).toEqual([404, "not_found"]);
    }
  });
});

describe("an account", () => {
  const changeStatus = (id: string, verb: string) => business.call("POST", `/api/v1/accounts/${id}/${verb}`);

  test("POST /accounts/{id}/activate returns 409 until the client is verified, and a status change returns 409 if the account's current status does not permit it", async () => {
    const { client, application } = await aClientWithLink();
    const opened = await openAccount(client);
    const id = String(opened.body["id"]);
    expect([opened.status, opened.headers["location"]]).toEqual([201, `/api/v1/accounts/${id}`]);
    expect(opened.body).toMatchObject({ status: "PENDING", current_balance: "0.00", available_balance: "0.00" });
    expect(statusAndCode(await changeStatus(id, "activate"))).toEqual([409, "client_not_verified"]);
    await submit(application, { outcome: "approved" });
    await expectStatuses(client, onboardingStatuses.verified, { id: application.id });
    await updateClient(client, { blocked: true });
    expect(statusAndCode(await changeStatus(id, "activate"))).toEqual([409, "client_blocked"]);
    await updateClient(client, { blocked: false });
    const changes: [verb: string, status: string | undefined][] = [
      ["suspend", undefined],
      ["reactivate", undefined],
      ["activate", "ACTIVE"],
      ["activate", undefined],
      ["reactivate", undefined],
      ["suspend", "SUSPENDED"],
      ["activate", undefined],
      ["suspend", undefined],
      ["reactivate", "ACTIVE"],
      ["close", "CLOSED"],
      ...["activate", "suspend", "reactivate", "close"].map((verb): [string, undefined] => [verb, undefined]),
    ];
    for (const [verb, status] of changes) {
      const response = await changeStatus(id, verb);
      expect([response.status, response.body["code"]], verb).toEqual(
        status ? [200, undefined] : [409, "invalid_status_transition"],
      );
      if (status) expect(response.body["status"]).toBe(status);
    }
    const { body } = await business.call("GET", `/api/v1/accounts/${id}`);
    expect(body).toMatchObject({ status: "CLOSED", closed_date: expect.any(String) });
    const change = (changes: object) => business.call("PATCH", `/api/v1/accounts/${id}`, changes);
    expect(statusAndCode(await change({ account_name: "Another" }))).toEqual([409, "account_closed"]);
    expect((await change({ description: "Moved away" })).body).toEqual({
      ...body,
      description: "Moved away",
      updated_at: expect.any(String),
    });
  });

  test("the API returns 409 client_blocked for a new account, beneficiary or application of a blocked client, but still changes the status of the client's accounts", async () => {
    const client = await aVerifiedClient();
    const id = String((await openAccount(client)).body["id"]);
    await changeStatus(id, "activate");
    await updateClient(client, { blocked: true });
    expect(statusAndCode(await openAccount(client))).toEqual([409, "client_blocked"]);
    for (const [path, body] of [
      ["/api/v1/beneficiaries", someBeneficiary],
      [applicationsPath, {}],
    ] as const) {
      expect(statusAndCode(await business.call("POST", path, { ...body, client_id: client }))).toEqual([409, "client_blocked"]);
    }
    for (const verb of ["suspend", "reactivate", "close"]) expect((await changeStatus(id, verb)).status, verb).toBe(200);
    await updateClient(client, { blocked: false, is_blacklisted: true });
    expect((await openAccount(client)).status).toBe(201);
  });
});

describe("the API while a service is down", () => {
  test("POST /kyc/applications, while the clients service is down, returns status 503 for a body with client_id and status 201 for a body without client_id", async () => {
    const client_id = await aClient(business);
    const count = async () =>
      (await business.call("GET", `${applicationsPath}?external_id=clients-down`)).headers["x-total-count"];
    await testSystem.system.services.clients.stop();
    try {
      const response = await business.call("POST", applicationsPath, { external_id: "clients-down", client_id });
      expect([response.status, response.headers["retry-after"] !== undefined]).toEqual([503, true]);
      expect(await count()).toBe("0");
      expect((await business.call("POST", applicationsPath, { external_id: "clients-down" })).status).toBe(201);
      expect(await count()).toBe("1");
      expect((await business.call("GET", onboarding(client_id).concat("/status"))).status).toBe(503);
    } finally {
      await testSystem.system.services.clients.start();
      await testSystem.system.waitUntilReady();
    }
    expect((await business.call("POST", applicationsPath, { external_id: "clients-down", client_id })).status).toBe(201);
  });

  test("GET onboarding/status and onboarding/details, while the kyc service is down, return status 200 without the verification link", async () => {
    const { client, application } = await aClientWithLink();
    await expectStatuses(client, onboardingStatuses.created, application);
    await testSystem.system.services.kyc.stop();
    try {
      for (const view of ["status", "details"]) {
        const response = await business.call("GET", `${onboarding(client)}/${view}`);
        expect([response.status, response.body["kyc_application_id"], response.body["kyc_link"]]).toEqual([
          200,
          application.id,
          undefined,
        ]);
      }
      expect((await business.call("PATCH", `${onboarding(client)}/details`, { is_us_person: true })).status).toBe(200);
    } finally {
      await testSystem.system.services.kyc.start();
      await testSystem.system.waitUntilReady();
    }
    await expectStatuses(client, onboardingStatuses.created, application);
  });
});

test("GET /clients returns each client with the organization_id of its business, and can filter by organization_id", async () => {
  const id = await aClient(business);
  const readOrganizationId = async ({ id: businessId }: TestBusiness) =>
    Number((await operator("GET", `/api/v1/businesses/${businessId}`)).body["organization_id"]);
  const [ownId, otherId] = [await readOrganizationId(business), await readOrganizationId(otherBusiness)];
  expect(ownId).not.toBe(otherId);
  for (const path of [`/api/v1/clients/${id}`, `/api/v1/clients/person/${id}`]) {
    expect((await business.call("GET", path)).body["organization_id"]).toBe(ownId);
  }
  expect((await updateClient(id, { city: "Oran" })).body["organization_id"]).toBe(ownId);
  const ownClients = await business.call("GET", `/api/v1/clients?organization_id=${ownId}&limit=1`);
  expect((ownClients.body as unknown as object[]).length).toBe(1);
  expect(Number(ownClients.headers["x-total-count"])).toBeGreaterThan(1);
  const otherClients = await business.call("GET", `/api/v1/clients?organization_id=${otherId}`);
  expect([otherClients.text, otherClients.headers["x-total-count"]]).toEqual(["[]", "0"]);
});

describe("the lists of the clients service", () => {
  /** Number of rows of the large business. It exceeds the 1 000 rows that the API counts. */
  const rowCount = 1_005;
  let largeBusiness: TestBusiness;
  /** A business with three rows in each list. */
  let smallBusiness: TestBusiness;

  beforeAll(async () => {
    [largeBusiness, smallBusiness] = [await aBusiness(testSystem.system, "Grande"), await aBusiness(testSystem.system, "Petite")];
    await queryRows("clients", fillSql, [largeBusiness.id, 0, rowCount]);
    await queryRows("clients", fillSql, [smallBusiness.id, 5_000, 3]);
  });
  afterAll(async () => {
    await largeBusiness?.receiver[Symbol.asyncDispose]();
    await smallBusiness?.receiver[Symbol.asyncDispose]();
  });

  const readPage = async (path: string, by = largeBusiness) => {
    const { status, headers, body } = await by.call("GET", path);
    expect(status, path).toBe(200);
    const links = [...String(headers["link"]).matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, to, rel]) => [rel, to]);
    return {
      ids: (body as unknown as { id: string }[]).map(({ id }) => id),
      total: headers["x-total-count"],
      capped: headers["x-total-count-capped"],
      links: Object.fromEntries(links) as Record<string, string | undefined>,
    };
  };
  const readAllPages = async (path: string) => {
    const ids: string[] = [];
    let next: string | undefined = path;
    for (let pages = 0; next !== undefined; pages++) {
      expect(pages, "the next links end").toBeLessThan(rowCount / 50);
      const current = await readPage(next);
      ids.push(...current.ids);
      next = current.links["next"];
    }
    return ids;
  };

  const tables = { clients: "client", beneficiaries: "beneficiary", accounts: "account" };
  const lists = ["clients", "beneficiaries", "accounts"] as const;
  test.each(lists)("the list of %s contains each row once, newest first, even after the first 1 000 rows", async (list) => {
    const path = `/api/v1/${list}?limit=100`;
    const first = await readPage(path);
    expect([first.total, first.capped]).toEqual(["1000", "true"]);
    expect(first.links).toEqual({ first: `${path}&offset=0`, next: `${path}&offset=100` });
    const last = await readPage(`${path}&offset=1000`);
    expect([last.ids.length, last.links["next"], last.links["prev"]]).toEqual([
      rowCount - 1_000,
      undefined,
      `${path}&offset=900`,
    ]);
    const short = await readPage(path, smallBusiness);
    expect([short.total, short.capped, Object.keys(short.links)]).toEqual(["3", undefined, ["first", "last"]]);
    const rows = await queryRows(
      "clients",
      `select id from ${tables[list]} where business_id = $1 order by created_at desc, id desc`,
      [largeBusiness.id],
    );
    expect(await readAllPages(path)).toEqual(rows.map(({ id }) => id));
  });

  test.each(lists)(
    "the list of %s returns all matches of a search that matches more than 1 000 rows, with a capped total",
    async (list) => {
      const path = `/api/v1/${list}?search=GROUP&limit=100`;
      const first = await readPage(path);
      expect([first.total, first.capped, Object.keys(first.links)]).toEqual(["1000", "true", ["first", "next"]]);
      expect(new Set(await readAllPages(path)).size).toBe(rowCount);
      const few = await readPage(`/api/v1/${list}?search=GROUP-100_&limit=100`);
      expect([few.ids, few.total, few.capped]).toEqual([[], "0", undefined]);
      const rare = await readPage(`/api/v1/${list}?search=group-100&limit=4`);
      expect([rare.ids.length, rare.total, rare.capped, Object.keys(rare.links)]).toEqual([
        4,
        "7",
        undefined,
        ["first", "last", "next"],
      ]);
    },
  );

  test.each(lists)("the list of %s returns no row of another business, even if a filter matches the row", async (list) => {
    const filters = {
      clients: [
        "kyc_status=NOT_STARTED",
        "risk_level=Low",
        "blocked=false",
        "is_blacklisted=false",
        "email=group-7@example.dz",
        "external_client_code=code-7",
      ],
      beneficiaries: ["beneficiary_type=PERSON", "display=true", "country_code=DZA"],
      accounts: ["account_type=CURRENT", "status=PENDING", "currency=DZD"],
    }[list];
    const otherIds = new Set(
      (await queryRows("clients", `select id from ${tables[list]} where business_id = $1`, [largeBusiness.id])).map(
        ({ id }) => id,
      ),
    );
    for (const filter of ["", "search=group", "search=g", ...filters]) {
      const path = `/api/v1/${list}?limit=100&${filter}`;
      expect((await readPage(path)).ids.length, filter).toBeGreaterThan(0);
      const { ids, total } = await readPage(path, smallBusiness);
      expect([ids.filter((id) => otherIds.has(id)), total], filter).toEqual([[], String(ids.length)]);
    }
  });
});

const fillSql = `
  with client_added as (
    insert into client (id, business_id, first_name, last_name, date_of_birth, gender, birth_country, nationality,
      country_of_tax_residence, address, city, postcode, country_code, email, external_client_code, blocked, is_blacklisted,
      risk_level, kyc_level, kyc_status, created_at, updated_at)
    select uuidv7(made - now()), $1, 'Group-' || i, 'Benali', '1990-05-17', 'female', 'DZA', 'DZA', 'DZA', '1 rue', 'Alger',
      '16000', 'DZA', 'group-' || i || '@example.dz', 'code-' || i, false, false, 'LOW', 'FULL_KYC', 'NOT_STARTED', made, made
    from (select i, now() - interval '1 day' + i / 3 * interval '1 second' as made from generate_series($2::int + 1, $2::int + $3::int) i) numbered
    returning id, business_id, first_name, created_at
  ), beneficiary_added as (
    insert into beneficiary (id, business_id, client_id, type, name, display, account_number, country_code, created_at, updated_at)
    select id, business_id, id, 'PERSON', first_name, true, '123', 'DZA', created_at, created_at from client_added
  )
  insert into account (id, business_id, client_id, account_name, account_number, type, currency, status, used_on, created_at, updated_at)
  select id, business_id, id, first_name, '888' || lpad(substr(first_name, 7), 17, '0'), 'CURRENT', 'DZD', 'PENDING', '2026-01-01',
    created_at, created_at from client_added`;

describe("ids of another business", () => {
  type Operation = readonly [method: "GET" | "POST" | "PUT" | "PATCH", path: string, body?: object];

  /** All requests that contain the id of a client, beneficiary or account. */
  const operations = (client: string, beneficiary: string, account: string): Operation[] => [
    ["GET", `/api/v1/clients/${client}`],
    ["GET", `/api/v1/clients/person/${client}`],
    ["PUT", `/api/v1/clients/person/${client}`, { city: "Oran" }],
    ["PUT", `/api/v1/clients/person/${client}`, {}],
    ["PUT", `/api/v1/clients/person/${client}`, { email: "taken@example.dz" }],
    ["GET", `${onboarding(client)}/status`],
    ["GET", `${onboarding(client)}/details`],
    ["POST", `${onboarding(client)}/details`, someDetails],
    ["PATCH", `${onboarding(client)}/details`, {}],
    ["PATCH", `${onboarding(client)}/details`, someDetails],
    ["POST", `${onboarding(client)}/approve`],
    ["POST", `${onboarding(client)}/decline`, { reason: "mine" }],
    ["POST", applicationsPath, { client_id: client }],
    ["GET", `${applicationsPath}?client_id=${client}`],
    ["POST", "/api/v1/beneficiaries", { ...someBeneficiary, client_id: client }],
    ["GET", `/api/v1/beneficiaries?client_id=${client}`],
    ["GET", `/api/v1/beneficiaries/${beneficiary}`],
    ["PUT", `/api/v1/beneficiaries/${beneficiary}`, { name: "Mine" }],
    ["PUT", `/api/v1/beneficiaries/${beneficiary}`, { account_number: null }],
    ["POST", "/api/v1/accounts", { ...someAccount, client_id: client }],
    ["POST", "/api/v1/accounts", { ...someAccount, client_id: client, external_account_id: "of-the-business" }],
    ["GET", `/api/v1/accounts?client_id=${client}`],
    ["GET", `/api/v1/accounts/${account}`],
    ["PATCH", `/api/v1/accounts/${account}`, { account_name: "Mine" }],
    ["PATCH", `/api/v1/accounts/${account}`, { external_account_id: "taken" }],
    ...["activate", "suspend", "reactivate", "close"].map((verb): Operation => ["POST", `/api/v1/accounts/${account}/${verb}`]),
  ];

  test("the routes of the clients service return the same response for an id of another business as for an unknown id, and change nothing", async () => {
    const client = await aVerifiedClient();
    const beneficiary = (await business.call("POST", "/api/v1/beneficiaries", { ...someBeneficiary, client_id: client })).body[
      "id"
    ];
    const account = (await openAccount(client, { external_account_id: "of-the-business" })).body["id"];
    await updateClient(client, { blocked: true });
    // Waits for all callbacks, because a late callback would change the compared resources.
    const [application] = (await business.call("GET", `${applicationsPath}?client_id=${client}`)).body as unknown as {
      id: string;
    }[];
    await waitForCallbacks(testSystem.system, String(application?.id));
    const foreignOperations = operations(client, String(beneficiary), String(account));
    const unknownOperations = operations(randomUUID(), randomUUID(), randomUUID());
    const readResources = () =>
      Promise.all(foreignOperations.flatMap(([method, path]) => (method === "GET" ? [business.call("GET", path)] : [])));
    const textsBefore = (await readResources()).map(({ text }) => text);
    const comparedPartsOf = ({ status, text, headers }: ApiResponse) => ({
      status,
      text: text.replaceAll(String(headers["x-request-id"]), "request"),
      headers: Object.keys(headers).sort(),
    });
    for (const [index, [method, path, body]] of foreignOperations.entries()) {
      const foreign = await otherBusiness.call(method, path, body);
      const unknown = await otherBusiness.call(...(unknownOperations[index] as Operation));
      const description = `${method} ${path} ${JSON.stringify(body)}`;
      expect(comparedPartsOf(foreign), description).toEqual(comparedPartsOf(unknown));
      if (!path.startsWith(`${applicationsPath}?`)) expect([403, 404], description).toContain(foreign.status);
      for (const id of [client, beneficiary, account]) expect(foreign.text, description).not.toContain(id);
    }
    expect((await readResources()).map(({ text }) => text)).toEqual(textsBefore);
  });

  test("the routes of the clients service accept an Idempotency-Key, e-mail address or external id that another business has used", async () => {
    const key = { "idempotency-key": randomUUID() };
    const client = await aClient(business);
    const body = { ...someAccount, client_id: client, external_account_id: "shared" };
    expect((await business.call("POST", "/api/v1/accounts", body, key)).status).toBe(201);
    const foreign = await otherBusiness.call("POST", "/api/v1/accounts", body, key);
    expect(statusAndCode(foreign)).toEqual([404, "client_not_found"]);
    expect(foreign.headers["idempotent-replayed"]).toBeUndefined();
    const otherClient = await aClient(otherBusiness);
    expect((await openAccount(otherClient, { external_account_id: "shared" }, otherBusiness)).status).toBe(201);
    const { email } = (await business.call("GET", `/api/v1/clients/${client}`)).body;
    expect((await otherBusiness.call("PUT", `/api/v1/clients/person/${otherClient}`, { email })).status).toBe(200);
  });

  test("the API returns a client's verification link only to the client's business", async () => {
    const { client, application } = await aClientWithLink();
    await expectStatuses(client, onboardingStatuses.created, application);
    for (const view of ["status", "details"]) {
      const response = await otherBusiness.call("GET", `${onboarding(client)}/${view}`);
      expect(statusAndCode(response)).toEqual([404, "not_found"]);
      expect(response.text).not.toContain(application.link);
    }
  });
});
