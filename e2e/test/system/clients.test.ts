import { randomUUID } from "node:crypto";
import { someDetails } from "@amana/dev-env/demo/a-person";
import { type Answer, type ApiCaller, apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  expectOnboarding,
  type OnboardingStatuses,
  readOnboarding,
  onboardingStatuses,
  saveDetails,
  someAccount,
  someBeneficiary,
} from "../../src/clients-harness.ts";
import { type Application, aClient, anApplication, applications, waitForCallbacks, actOnLink } from "../../src/kyc-harness.ts";
import { aBusiness, startTestSystem, type TestBusiness, type TestSystem } from "../../src/test-system.ts";

let testSystem: TestSystem;
let business: TestBusiness;
let other: TestBusiness;
let operator: ApiCaller;

beforeAll(async () => {
  testSystem = await startTestSystem("direct");
  [business, other] = await Promise.all([aBusiness(testSystem.system, "Banque"), aBusiness(testSystem.system, "Autre")]);
  operator = apiCaller(testSystem.system.gatewayUrl, testSystem.system.adminKey);
});
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
  await other?.receiver[Symbol.asyncDispose]();
  await testSystem?.[Symbol.asyncDispose]();
});

const expectAt = (id: string, place: OnboardingStatuses, shown?: { id: string; link?: string }) => expectOnboarding(business, id, place, shown);
const submit = ({ link }: Application, submission: object) => actOnLink(testSystem.system, link, "submit", submission);
const update = (id: string, changes: object) => business.call("PUT", `/api/v1/clients/person/${id}`, changes);
const onboarding = (id: string) => `/api/v1/clients/${id}/onboarding`;
const codeOf = ({ status, body }: Answer) => [status, body["code"]];
const openAccount = (clientId: string, body: object = {}, by = business) =>
  by.call("POST", "/api/v1/accounts", { ...someAccount, client_id: clientId, ...body });

/** Creates a client with details and an application whose link is not opened. */
async function aClientWithLink(body: object = {}): Promise<{ client: string; application: Application }> {
  const client = await aClient(business);
  await saveDetails(business, client);
  return { client, application: await anApplication(business, { client_id: client, ...body }) };
}

async function aVerifiedClient(): Promise<string> {
  const { client, application } = await aClientWithLink();
  await submit(application, { outcome: "approved" });
  await expectAt(client, onboardingStatuses.verified, { id: application.id });
  return client;
}

async function rowsOf(service: "identity" | "clients" | "kyc", sql: string, values: unknown[] = []) {
  const database = new Client({ connectionString: testSystem.system.databaseUrls[service] });
  await database.connect();
  try {
    return (await database.query(sql, values)).rows;
  } finally {
    await database.end();
  }
}

const auditOf = (clientId: string) =>
  rowsOf("identity", "select * from audit_event where entity_type = 'onboarding' and after->>'client_id' = $1", [clientId]);

describe("an onboarding", () => {
  test("goes from registration to APPROVED, and shows the link while the application is open", async () => {
    const client = await aClient(business);
    await expectAt(client, onboardingStatuses.registered);
    await saveDetails(business, client);
    await expectAt(client, onboardingStatuses.detailed);
    const application = await anApplication(business, { client_id: client });
    await expectAt(client, onboardingStatuses.created, application);
    const details = await business.call("GET", `${onboarding(client)}/details`);
    expect(details.body).toMatchObject({ ...someDetails, kyc_application_id: application.id, kyc_link: application.link });
    await actOnLink(testSystem.system, application.link, "open");
    await expectAt(client, onboardingStatuses.processing, application);
    const locked = await business.call("PATCH", `${onboarding(client)}/details`, { is_us_person: true });
    expect(codeOf(locked)).toEqual([409, "onboarding_locked"]);
    await submit(application, { outcome: "approved", hold_seconds: 1 });
    await expectAt(client, onboardingStatuses.processing, application);
    await expectAt(client, onboardingStatuses.verified, { id: application.id });
    const approved = await operator("POST", `${onboarding(client)}/approve`);
    expect([approved.status, approved.body["current_step"]]).toEqual([200, "APPROVED"]);
    await expectAt(client, onboardingStatuses.approved, { id: application.id });
    expect((await business.call("GET", `${onboarding(client)}/details`)).body).not.toHaveProperty("kyc_link");
  });

  const ends: [string, OnboardingStatuses, (application: Application) => Promise<unknown>][] = [
    ["approved", onboardingStatuses.verified, (made) => submit(made, { outcome: "approved" })],
    ["rejected", onboardingStatuses.declined, (made) => submit(made, { outcome: "rejected" })],
    ["needs review", onboardingStatuses.underReview, (made) => submit(made, { outcome: "needs_review" })],
    ["expired", onboardingStatuses.aborted, ({ link }) => actOnLink(testSystem.system, link, "expire")],
    ["canceled", onboardingStatuses.aborted, ({ id }) => business.call("POST", `${applications}/${id}/cancel`)],
    ["finally failed", onboardingStatuses.aborted, (made) => submit(made, { outcome: "failed" })],
  ];
  test.each(ends)("after %s: is at %j without a link", async (_end, place, act) => {
    const { client, application } = await aClientWithLink({ max_attempts: 1 });
    await act(application);
    await expectAt(client, place, { id: application.id });
  });

  test.each(ends)(
    "after %s without details: stays at DETAILS_PENDING and continues after the details are stored",
    async (_end, place, act) => {
      const client = await aClient(business);
      const application = await anApplication(business, { client_id: client, max_attempts: 1 });
      await act(application);
      await expectAt(client, ["DETAILS_PENDING", place[1], "IN_PROGRESS"], { id: application.id });
      await saveDetails(business, client);
      expect((await readOnboarding(business, client)).statuses).toEqual(place);
    },
  );

  test.each([
    ["APPROVED", onboardingStatuses.verified],
    ["REJECTED", onboardingStatuses.declined],
  ] as const)("continues after a review was resolved as %s", async (outcome, place) => {
    const { client, application } = await aClientWithLink();
    await submit(application, { outcome: "needs_review" });
    await expectAt(client, onboardingStatuses.underReview, { id: application.id });
    await operator("POST", `${applications}/${application.id}/review`, { outcome, note: "Seen in person." });
    await expectAt(client, place, { id: application.id });
  });

  test("keeps the link after a failed attempt, and the next attempt decides", async () => {
    const { client, application } = await aClientWithLink({ max_attempts: 2 });
    await submit(application, { outcome: "failed" });
    await eventually(async () => {
      expect((await business.call("GET", `${applications}/${application.id}`)).body["status"]).toBe("FAILED");
    });
    await expectAt(client, onboardingStatuses.processing, application);
    await submit(application, { outcome: "approved" });
    await expectAt(client, onboardingStatuses.verified, { id: application.id });
  });

  test("uses the newest application and ignores a later verdict of an older one", async () => {
    const { client, application: older } = await aClientWithLink();
    await submit(older, { outcome: "needs_review" });
    await expectAt(client, onboardingStatuses.underReview, { id: older.id });
    const newer = await anApplication(business, { client_id: client });
    await expectAt(client, onboardingStatuses.created, newer);
    await operator("POST", `${applications}/${older.id}/review`, { outcome: "REJECTED", note: "Another person." });
    // An event leaves the outbox when its consumers have processed it.
    await eventually(async () => expect(await rowsOf("kyc", "select id from outbox_waiting")).toEqual([]));
    await expectAt(client, onboardingStatuses.created, newer);
    await submit(newer, { outcome: "approved" });
    await expectAt(client, onboardingStatuses.verified, { id: newer.id });
    await operator("POST", `${onboarding(client)}/approve`);
    const third = await anApplication(business, { client_id: client });
    await expectAt(client, ["APPROVED", "CREATED", "APPROVED"], third);
  });
});

describe("an operator's decision", () => {
  test("approves once: the same key returns the same response, another call 409, a business's key 403; audited once", async () => {
    const client = await aVerifiedClient();
    const path = `${onboarding(client)}/approve`;
    expect(codeOf(await business.call("POST", path))).toEqual([403, "admin_required"]);
    const key = { "idempotency-key": randomUUID(), "x-request-id": "approve-request-1" };
    const [first, second] = [await operator("POST", path, undefined, key), await operator("POST", path, undefined, key)];
    expect([first.status, second.text, second.headers["idempotent-replayed"]]).toEqual([200, first.text, "true"]);
    expect(codeOf(await operator("POST", path))).toEqual([409, "invalid_status_transition"]);
    expect(codeOf(await operator("POST", `${onboarding(client)}/decline`))).toEqual([409, "invalid_status_transition"]);
    const rows = await eventually(async () => {
      const found = await auditOf(client);
      expect(found).not.toEqual([]);
      return found;
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

  test("declines until a newer application, with its reason in the audit trail", async () => {
    const client = await aVerifiedClient();
    const path = `${onboarding(client)}/decline`;
    expect(codeOf(await business.call("POST", path, { reason: "mine" }))).toEqual([403, "admin_required"]);
    const declined = await operator("POST", path, { reason: "Known elsewhere." });
    expect([declined.status, declined.body["overall_status"]]).toEqual([200, "DECLINED"]);
    await expectAt(client, onboardingStatuses.declined, { id: String(declined.body["kyc_application_id"]) });
    expect(codeOf(await operator("POST", path))).toEqual([409, "invalid_status_transition"]);
    const newer = await anApplication(business, { client_id: client });
    await expectAt(client, onboardingStatuses.created, newer);
    await submit(newer, { outcome: "approved" });
    await expectAt(client, onboardingStatuses.verified, { id: newer.id });
    await eventually(async () => expect(await auditOf(client)).not.toEqual([]));
    expect(await auditOf(client)).toEqual([
      expect.objectContaining({ action: "onboarding.declined", reason: "Known elsewhere." }),
    ]);
  });

  test("is rejected for a client that is not verified or does not exist", async () => {
    const { client } = await aClientWithLink();
    for (const verb of ["approve", "decline"]) {
      expect(codeOf(await operator("POST", `${onboarding(client)}/${verb}`))).toEqual([409, "invalid_status_transition"]);
      expect(codeOf(await operator("POST", `${onboarding(randomUUID())}/${verb}`))).toEqual([404, "not_found"]);
    }
  });
});

describe("an account", () => {
  const move = (id: string, verb: string) => business.call("POST", `/api/v1/accounts/${id}/${verb}`);

  test("is activated after its client is verified; each status change is permitted only from its states", async () => {
    const { client, application } = await aClientWithLink();
    const opened = await openAccount(client);
    const id = String(opened.body["id"]);
    expect([opened.status, opened.headers["location"]]).toEqual([201, `/api/v1/accounts/${id}`]);
    expect(opened.body).toMatchObject({ status: "PENDING", current_balance: "0.00", available_balance: "0.00" });
    expect(codeOf(await move(id, "activate"))).toEqual([409, "client_not_verified"]);
    await submit(application, { outcome: "approved" });
    await expectAt(client, onboardingStatuses.verified, { id: application.id });
    await update(client, { blocked: true });
    expect(codeOf(await move(id, "activate"))).toEqual([409, "client_blocked"]);
    await update(client, { blocked: false });
    const moves: [verb: string, status: string | undefined][] = [
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
    for (const [verb, status] of moves) {
      const answer = await move(id, verb);
      expect([answer.status, answer.body["code"]], verb).toEqual(status ? [200, undefined] : [409, "invalid_status_transition"]);
      if (status) expect(answer.body["status"]).toBe(status);
    }
    const { body } = await business.call("GET", `/api/v1/accounts/${id}`);
    expect(body).toMatchObject({ status: "CLOSED", closed_date: expect.any(String) });
    const change = (changes: object) => business.call("PATCH", `/api/v1/accounts/${id}`, changes);
    expect(codeOf(await change({ account_name: "Another" }))).toEqual([409, "account_closed"]);
    expect((await change({ description: "Moved away" })).body).toEqual({
      ...body,
      description: "Moved away",
      updated_at: expect.any(String),
    });
  });

  test("of a blocked client cannot be opened, nor can beneficiaries and applications, but existing ones can change", async () => {
    const client = await aVerifiedClient();
    const id = String((await openAccount(client)).body["id"]);
    await move(id, "activate");
    await update(client, { blocked: true });
    expect(codeOf(await openAccount(client))).toEqual([409, "client_blocked"]);
    for (const [path, body] of [
      ["/api/v1/beneficiaries", someBeneficiary],
      [applications, {}],
    ] as const) {
      expect(codeOf(await business.call("POST", path, { ...body, client_id: client }))).toEqual([409, "client_blocked"]);
    }
    for (const verb of ["suspend", "reactivate", "close"]) expect((await move(id, verb)).status, verb).toBe(200);
    await update(client, { blocked: false, is_blacklisted: true });
    expect((await openAccount(client)).status).toBe(201);
  });
});

describe("while a service is down", () => {
  test("clients: returns 503 for an application with client_id and creates nothing; without client_id it returns 201", async () => {
    const client_id = await aClient(business);
    const count = async () => (await business.call("GET", `${applications}?external_id=away`)).headers["x-total-count"];
    await testSystem.system.services.clients.stop();
    try {
      const answer = await business.call("POST", applications, { external_id: "away", client_id });
      expect([answer.status, answer.headers["retry-after"] !== undefined]).toEqual([503, true]);
      expect(await count()).toBe("0");
      expect((await business.call("POST", applications, { external_id: "away" })).status).toBe(201);
      expect(await count()).toBe("1");
      expect((await business.call("GET", onboarding(client_id).concat("/status"))).status).toBe(503);
    } finally {
      await testSystem.system.services.clients.start();
      await testSystem.system.ready();
    }
    expect((await business.call("POST", applications, { external_id: "away", client_id })).status).toBe(201);
  });

  test("kyc: shows the onboarding without its link, and with the link after kyc starts again", async () => {
    const { client, application } = await aClientWithLink();
    await expectAt(client, onboardingStatuses.created, application);
    await testSystem.system.services.kyc.stop();
    try {
      for (const view of ["status", "details"]) {
        const answer = await business.call("GET", `${onboarding(client)}/${view}`);
        expect([answer.status, answer.body["kyc_application_id"], answer.body["kyc_link"]]).toEqual([
          200,
          application.id,
          undefined,
        ]);
      }
      expect((await business.call("PATCH", `${onboarding(client)}/details`, { is_us_person: true })).status).toBe(200);
    } finally {
      await testSystem.system.services.kyc.start();
      await testSystem.system.ready();
    }
    await expectAt(client, onboardingStatuses.created, application);
  });
});

test("clients have the organization_id of their business, also for operators, and the list filters by it", async () => {
  const id = await aClient(business);
  const organizationOf = async ({ id: of }: TestBusiness) =>
    Number((await operator("GET", `/api/v1/businesses/${of}`)).body["organization_id"]);
  const [ownId, otherId] = [await organizationOf(business), await organizationOf(other)];
  expect(ownId).not.toBe(otherId);
  for (const path of [`/api/v1/clients/${id}`, `/api/v1/clients/person/${id}`]) {
    expect((await business.call("GET", path)).body["organization_id"]).toBe(ownId);
  }
  expect((await update(id, { city: "Oran" })).body["organization_id"]).toBe(ownId);
  const found = await business.call("GET", `/api/v1/clients?organization_id=${ownId}&limit=1`);
  expect((found.body as unknown as object[]).length).toBe(1);
  expect(Number(found.headers["x-total-count"])).toBeGreaterThan(1);
  const none = await business.call("GET", `/api/v1/clients?organization_id=${otherId}`);
  expect([none.text, none.headers["x-total-count"]]).toEqual(["[]", "0"]);
});

describe("the lists", () => {
  /** More rows than a search counts, and a few rows that another search finds. */
  const filled = 1_005;
  let large: TestBusiness;
  /** Another business with few rows in the same lists. */
  let small: TestBusiness;

  beforeAll(async () => {
    [large, small] = [await aBusiness(testSystem.system, "Grande"), await aBusiness(testSystem.system, "Petite")];
    await rowsOf("clients", fillSql, [large.id, 0, filled]);
    await rowsOf("clients", fillSql, [small.id, 5_000, 3]);
  });
  afterAll(async () => {
    await large?.receiver[Symbol.asyncDispose]();
    await small?.receiver[Symbol.asyncDispose]();
  });

  const page = async (path: string, by = large) => {
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
  const follow = async (path: string) => {
    const ids: string[] = [];
    let next: string | undefined = path;
    for (let pages = 0; next !== undefined; pages++) {
      expect(pages, "the pages have an end").toBeLessThan(filled / 50);
      const got = await page(next);
      ids.push(...got.ids);
      next = got.links["next"];
    }
    return ids;
  };

  const tables = { clients: "client", beneficiaries: "beneficiary", accounts: "account" };
  const lists = ["clients", "beneficiaries", "accounts"] as const;
  test.each(lists)(
    "the list of %s returns every row once, newest first, through next links beyond the counted 1 000",
    async (list) => {
      const path = `/api/v1/${list}?limit=100`;
      const first = await page(path);
      expect([first.total, first.capped]).toEqual(["1000", "true"]);
      expect(first.links).toEqual({ first: `${path}&offset=0`, next: `${path}&offset=100` });
      const last = await page(`${path}&offset=1000`);
      expect([last.ids.length, last.links["next"], last.links["prev"]]).toEqual([
        filled - 1_000,
        undefined,
        `${path}&offset=900`,
      ]);
      const short = await page(path, small);
      expect([short.total, short.capped, Object.keys(short.links)]).toEqual(["3", undefined, ["first", "last"]]);
      const rows = await rowsOf(
        "clients",
        `select id from ${tables[list]} where business_id = $1 order by created_at desc, id desc`,
        [large.id],
      );
      expect(await follow(path)).toEqual(rows.map(({ id }) => id));
    },
  );

  test.each(lists)(
    "%s: a search with more than 1 000 results reports an uncounted total and can be read to its end",
    async (list) => {
      const path = `/api/v1/${list}?search=GROUP&limit=100`;
      const first = await page(path);
      expect([first.total, first.capped, Object.keys(first.links)]).toEqual(["1000", "true", ["first", "next"]]);
      expect(new Set(await follow(path)).size).toBe(filled);
      const few = await page(`/api/v1/${list}?search=GROUP-100_&limit=100`);
      expect([few.ids, few.total, few.capped]).toEqual([[], "0", undefined]);
      const rare = await page(`/api/v1/${list}?search=group-100&limit=4`);
      expect([rare.ids.length, rare.total, rare.capped, Object.keys(rare.links)]).toEqual([
        4,
        "7",
        undefined,
        ["first", "last", "next"],
      ]);
    },
  );

  test.each(lists)("%s: no filter returns rows of another business", async (list) => {
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
      (await rowsOf("clients", `select id from ${tables[list]} where business_id = $1`, [large.id])).map(({ id }) => id),
    );
    for (const filter of ["", "search=group", "search=g", ...filters]) {
      const path = `/api/v1/${list}?limit=100&${filter}`;
      expect((await page(path)).ids.length, filter).toBeGreaterThan(0);
      const { ids, total } = await page(path, small);
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

  /** All paths with the id of a client, beneficiary or account. */
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
    ["POST", applications, { client_id: client }],
    ["GET", `${applications}?client_id=${client}`],
    ["POST", "/api/v1/beneficiaries", { ...someBeneficiary, client_id: client }],
    ["GET", `/api/v1/beneficiaries?client_id=${client}`],
    ["GET", `/api/v1/beneficiaries/${beneficiary}`],
    ["PUT", `/api/v1/beneficiaries/${beneficiary}`, { name: "Mine" }],
    ["PUT", `/api/v1/beneficiaries/${beneficiary}`, { account_number: null }],
    ["POST", "/api/v1/accounts", { ...someAccount, client_id: client }],
    ["POST", "/api/v1/accounts", { ...someAccount, client_id: client, external_account_id: "theirs" }],
    ["GET", `/api/v1/accounts?client_id=${client}`],
    ["GET", `/api/v1/accounts/${account}`],
    ["PATCH", `/api/v1/accounts/${account}`, { account_name: "Mine" }],
    ["PATCH", `/api/v1/accounts/${account}`, { external_account_id: "taken" }],
    ...["activate", "suspend", "reactivate", "close"].map((verb): Operation => ["POST", `/api/v1/accounts/${account}/${verb}`]),
  ];

  test("have the same responses as unknown ids, byte for byte, on every route, and change nothing", async () => {
    const client = await aVerifiedClient();
    const beneficiary = (await business.call("POST", "/api/v1/beneficiaries", { ...someBeneficiary, client_id: client })).body[
      "id"
    ];
    const account = (await openAccount(client, { external_account_id: "theirs" })).body["id"];
    await update(client, { blocked: true });
    // A late callback would change the business's own resources.
    const [application] = (await business.call("GET", `${applications}?client_id=${client}`)).body as unknown as { id: string }[];
    await waitForCallbacks(testSystem.system, String(application?.id));
    const otherOperations = operations(client, String(beneficiary), String(account));
    const unknown = operations(randomUUID(), randomUUID(), randomUUID());
    const seen = () =>
      Promise.all(otherOperations.flatMap(([method, path]) => (method === "GET" ? [business.call("GET", path)] : [])));
    const before = (await seen()).map(({ text }) => text);
    const nameless = ({ status, text, headers }: Answer) => ({
      status,
      text: text.replaceAll(String(headers["x-request-id"]), "request"),
      headers: Object.keys(headers).sort(),
    });
    for (const [index, [method, path, body]] of otherOperations.entries()) {
      const foreign = await other.call(method, path, body);
      const none = await other.call(...(unknown[index] as Operation));
      const what = `${method} ${path} ${JSON.stringify(body)}`;
      expect(nameless(foreign), what).toEqual(nameless(none));
      if (!path.startsWith(`${applications}?`)) expect([403, 404], what).toContain(foreign.status);
      for (const id of [client, beneficiary, account]) expect(foreign.text, what).not.toContain(id);
    }
    expect((await seen()).map(({ text }) => text)).toEqual(before);
  });

  test("do not conflict with the same Idempotency-Keys, e-mail addresses and external ids of this business", async () => {
    const key = { "idempotency-key": randomUUID() };
    const client = await aClient(business);
    const body = { ...someAccount, client_id: client, external_account_id: "shared" };
    expect((await business.call("POST", "/api/v1/accounts", body, key)).status).toBe(201);
    const foreign = await other.call("POST", "/api/v1/accounts", body, key);
    expect(codeOf(foreign)).toEqual([404, "client_not_found"]);
    expect(foreign.headers["idempotent-replayed"]).toBeUndefined();
    const own = await aClient(other);
    expect((await openAccount(own, { external_account_id: "shared" }, other)).status).toBe(201);
    const { email } = (await business.call("GET", `/api/v1/clients/${client}`)).body;
    expect((await other.call("PUT", `/api/v1/clients/person/${own}`, { email })).status).toBe(200);
  });

  test("the verification link of a client is shown only to its own business", async () => {
    const { client, application } = await aClientWithLink();
    await expectAt(client, onboardingStatuses.created, application);
    for (const view of ["status", "details"]) {
      const answer = await other.call("GET", `${onboarding(client)}/${view}`);
      expect(codeOf(answer)).toEqual([404, "not_found"]);
      expect(answer.text).not.toContain(application.link);
    }
  });
});
