import { execFile } from "node:child_process";
import { createHash, generateKeyPairSync, randomUUID } from "node:crypto";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiCaller, apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AuditedOperation, auditedOperations } from "../../src/audited-operations.ts";
import { readOnboarding, onboardingStatuses, saveDetails } from "../../src/clients-harness.ts";
import { aClient, anApplication, setFault, actOnLink } from "../../src/kyc-harness.ts";
import { amanaWith, databaseSettings } from "../../src/run-amana.ts";
import { aBusiness, aPaidPayment, startTestSystem, type TestBusiness, type TestSystem } from "../../src/test-system.ts";

let testSystem: TestSystem;
let business: TestBusiness;
let operator: ApiCaller;

beforeAll(async () => {
  testSystem = await startTestSystem("direct");
  business = await aBusiness(testSystem.system);
  operator = apiCaller(testSystem.system.gatewayUrl, testSystem.system.adminKey);
});
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
  await testSystem?.[Symbol.asyncDispose]();
});

type Answer = Awaited<ReturnType<ApiCaller>>;

async function rowsIn<Row>(service: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: testSystem.system.ownerDatabaseUrls[service] });
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** Returns the audit rows of the requests with these ids, when each request has one. */
const auditOf = (...requests: Answer[]) =>
  eventually(async () => {
    const { body } = await operator("GET", "/api/v1/admin/audit-events?limit=100");
    const rows = (body as unknown as Record<string, unknown>[]).filter(({ request_id }) =>
      requests.some(({ headers }) => headers["x-request-id"] === request_id),
    );
    expect(new Set(rows.map(({ request_id }) => request_id)).size).toBe(requests.length);
    return rows;
  });

const made = async (call: ApiCaller, path: string, body: object = {}) => String((await call("POST", path, body)).body["id"]);
const anEndpoint = () => made(business.call, "/api/v1/webhook-endpoints", { url: business.receiver.url });
const endpointPath = async (rest = "") => `/api/v1/webhook-endpoints/${await anEndpoint()}${rest}`;

/** Creates a client whose onboarding is at PENDING_APPROVAL. */
async function aVerifiedClient(): Promise<string> {
  const client = await aClient(business);
  await saveDetails(business, client);
  const { link } = await anApplication(business, { client_id: client });
  await actOnLink(testSystem.system, link, "submit", { outcome: "approved" });
  await eventually(async () => expect((await readOnboarding(business, client)).statuses).toEqual(onboardingStatuses.verified));
  return client;
}

async function anApplicationInReview(): Promise<string> {
  const { id, link } = await anApplication(business);
  await actOnLink(testSystem.system, link, "submit", { outcome: "needs_review" });
  await eventually(async () =>
    expect((await business.call("GET", `/api/v1/kyc/applications/${id}`)).body["verdict"]).toBe("NEEDS_REVIEW"),
  );
  return id;
}

/** Creates a refund with an unknown outcome, which needs a decision. */
async function anUndecidedRefund(): Promise<string> {
  const payment = await aPaidPayment(testSystem.system, business);
  await setFault(testSystem.system, "refund", "http_503");
  await business.call("POST", `/api/v1/payments/${payment.id}/refund`, { amount: "1000.00" });
  return await eventually(async () => {
    await rowsIn("payments", "update refund set decision_due_at = now(), next_check_at = now() where payment_id = $1", [
      payment.id,
    ]);
    const { body } = await operator("GET", "/api/v1/admin/refunds?needs_decision=true");
    const refund = (body as unknown as Record<string, unknown>[]).find(({ payment_id }) => payment_id === payment.id);
    expect(refund).toBeDefined();
    return String(refund?.["id"]);
  });
}

async function aDeadLetter(): Promise<string> {
  const [letter] = await rowsIn<{ id: string }>(
    "webhooks",
    `insert into dead_letter (consumer, topic, key, event_id, event_type, payload, headers, status, reason)
     select 'webhooks', 'payments.v1', 'k', id, 'payments.v1.Odd', '', jsonb_build_object('ce_id', id), 'PARKED', 'a test'
     from uuidv7() as id returning id`,
  );
  return letter?.id ?? "";
}

const aKeyOf = (name: string) => made(operator, "/api/v1/admin/api-keys", { business_id: business.id, name });

/** Calls each audited operation. */
const audited: Readonly<Record<AuditedOperation, () => Promise<Answer>>> = {
  createBusiness: () => operator("POST", "/api/v1/businesses", { name: "Audited" }),
  updateBusiness: async () =>
    await operator("PATCH", `/api/v1/businesses/${await made(operator, "/api/v1/businesses", { name: "Old" })}`, { name: "New" }),
  createApiKey: () => operator("POST", "/api/v1/admin/api-keys", { business_id: business.id, name: "till" }),
  revokeApiKey: async () => await operator("POST", `/api/v1/admin/api-keys/${await aKeyOf("lost")}/revoke`),
  createOperatorKey: () => operator("POST", "/api/v1/admin/operator-keys", { name: "amina" }),
  revokeOperatorKey: async () =>
    await operator(
      "POST",
      `/api/v1/admin/operator-keys/${await made(operator, "/api/v1/admin/operator-keys", { name: "left" })}/revoke`,
    ),
  createInvitation: () => operator("POST", "/api/v1/admin/invitations", { name: "Invited" }),
  revokeInvitation: async () =>
    await operator(
      "POST",
      `/api/v1/admin/invitations/${await made(operator, "/api/v1/admin/invitations", { name: "Not" })}/revoke`,
    ),
  onboardBusiness: async () => {
    const { body } = await operator("POST", "/api/v1/admin/invitations", { name: "Invited" });
    const invited = apiCaller(testSystem.system.gatewayUrl, String(body["invitation_token"]));
    return await invited("POST", "/api/v1/onboarding/businesses", { name: "Invited", contact_email: "a@example.dz" });
  },
  reviewKycApplication: async () =>
    await operator("POST", `/api/v1/kyc/applications/${await anApplicationInReview()}/review`, {
      outcome: "APPROVED",
      note: "seen",
    }),
  approveOnboarding: async () => await operator("POST", `/api/v1/clients/${await aVerifiedClient()}/onboarding/approve`),
  declineOnboarding: async () => await operator("POST", `/api/v1/clients/${await aVerifiedClient()}/onboarding/decline`, {}),
  resolveRefund: async () =>
    await operator("POST", `/api/v1/admin/refunds/${await anUndecidedRefund()}/resolve`, { outcome: "REJECTED", note: "asked" }),
  retryDeadLetter: async () => await operator("POST", `/api/v1/admin/dead-letters/${await aDeadLetter()}/retry`),
  dropDeadLetter: async () => await operator("POST", `/api/v1/admin/dead-letters/${await aDeadLetter()}/drop`, { note: "odd" }),
  updateOwnBusiness: () => business.call("PATCH", "/api/v1/me", { name: "Renamed" }),
  createOwnApiKey: () => business.call("POST", "/api/v1/me/api-keys", { name: "own" }),
  revokeOwnApiKey: async () => await business.call("POST", `/api/v1/me/api-keys/${await aKeyOf("own, lost")}/revoke`),
  createWebhookEndpoint: () => business.call("POST", "/api/v1/webhook-endpoints", { url: business.receiver.url }),
  updateWebhookEndpoint: async () => await business.call("PATCH", await endpointPath(), { rotate_secret: true }),
  deleteWebhookEndpoint: async () => await business.call("DELETE", await endpointPath()),
  replayWebhookEndpoint: async () =>
    await business.call("POST", await endpointPath("/replay"), { since: "2026-01-01T00:00:00Z" }),
};

test("every audited operation adds a row with actor, address, action and values", async () => {
  const did: (readonly [id: string, answer: Answer])[] = [];
  for (const id of auditedOperations) did.push([id, await audited[id]()]);
  const refused = did.filter(([id, { status }]) => status >= 400 && id !== "retryDeadLetter");
  expect(refused.map(([id, { text }]) => `${id}: ${text}`)).toEqual([]);

  const rows = await auditOf(...did.map(([, answer]) => answer));
  for (const [id, { headers }] of did) {
    const row = rows.find(({ request_id }) => request_id === headers["x-request-id"]);
    const name = id === "onboardBusiness" ? "Invited" : /Own|Endpoint$/.test(id) ? "default" : "bootstrap";
    expect(row, id).toMatchObject({ address: "127.0.0.1", actor_name: name, actor_key_id: expect.any(String) });
    expect(row?.["action"], id).toMatch(/^[a-z_]+\.[a-z_]+$/);
  }
});

test("operators can filter the trail by business, action, entity and time; other callers cannot read it", async () => {
  const endpoint = await anEndpoint();
  const from = new Date(Date.now() - 60_000).toISOString();
  const list = async (filters: Record<string, string>) => {
    const { body, headers } = await operator("GET", `/api/v1/admin/audit-events?${new URLSearchParams(filters)}`);
    return { rows: body as unknown as Record<string, unknown>[], total: headers["x-total-count"] };
  };
  const exact = { business_id: business.id, action: "webhook_endpoint.created", entity_id: endpoint, from };
  const { rows } = await eventually(async () => {
    const found = await list(exact);
    // The rows and their count are read by two statements.
    expect([found.total, found.rows.length]).toEqual(["1", 1]);
    return found;
  });
  expect(rows).toEqual([
    {
      id: expect.any(String),
      at: expect.any(String),
      actor: business.key.slice(0, 16),
      actor_key_id: expect.any(String),
      actor_name: "default",
      action: "webhook_endpoint.created",
      entity: { type: "webhook_endpoint", id: endpoint },
      business_id: business.id,
      after: { origin: new URL(business.receiver.url).origin, url_sha256: expect.any(String), status: "ACTIVE", events: "" },
      request_id: expect.any(String),
      address: "127.0.0.1",
    },
  ]);
  expect((await list({ ...exact, from: "2000-01-01T00:00:00Z", to: from })).total).toBe("0");
  const newest = await list({ business_id: business.id });
  const times = newest.rows.map(({ at }) => String(at));
  expect(times).toEqual(times.toSorted().toReversed());
  expect(await business.call("GET", "/api/v1/admin/audit-events")).toMatchObject({
    status: 403,
    body: { code: "admin_required" },
  });
});

test("an evidence bundle is verified offline, and every change of it is reported", async () => {
  const payment = await aPaidPayment(testSystem.system, business);
  await business.call("POST", `/api/v1/payments/${payment.id}/refund`);
  await business.receiver.next("PAYMENT_REFUNDED", payment.id, 90_000);
  const { id: keyId } = await business.amana.me.createApiKey({ name: "for a while" });
  await business.amana.me.revokeApiKey(keyId, { reason: "an end of a line\u2028 that is none of ours" });
  const dir = mkdtempSync(join(tmpdir(), "amana-bundle-"));
  const folder = join(dir, "bundle");
  const amana = (...args: string[]) => amanaWith(databaseSettings(testSystem.system.databaseUrls), "audit", ...args);
  const today = new Date().toISOString().slice(0, 10);
  const made = await amana("bundle", "--business", business.id, "--from", today, "--to", today, "--out", folder, "--as", "amina");
  expect(made, made.err).toMatchObject({ code: 0 });

  const linesOf = (name: string, of = folder) => readFileSync(join(of, name), "utf8").trimEnd().split("\n");
  const jsonOf = (name: string) => linesOf(name).map((line) => JSON.parse(line) as Record<string, unknown>);
  const key = String(jsonOf("heads.jsonl").at(-1)?.["public_key"]);
  const program = join(dir, "audit-chain.mjs");
  copyFileSync(new URL("../../../packages/audit-chain/src/audit-chain.mjs", import.meta.url), program);
  const verify = (of: string, ...args: string[]) =>
    new Promise<{ code: number; out: string }>((resolve) => {
      execFile(process.execPath, [program, of, ...args], { cwd: dir, env: {} }, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, out: out + err }),
      );
    });
  try {
    expect(await verify(folder, "--public-key", key)).toEqual({ code: 0, out: "No problems found.\n" });
    expect(await amana("verify-bundle", folder, "--public-key", key)).toMatchObject({ code: 0, out: "No problems found.\n" });
    expect(jsonOf("payments.jsonl")).toContainEqual(
      expect.objectContaining({ id: payment.id, amount_minor: 500_000, status: "REFUNDED" }),
    );
    expect(jsonOf("refunds.jsonl")).toContainEqual(expect.objectContaining({ payment_id: payment.id, status: "ACCEPTED" }));
    expect(jsonOf("events.jsonl").map(({ type }) => type)).toContain("PAYMENT_REFUNDED");
    expect(jsonOf("deliveries.jsonl")).not.toEqual([]);
    expect(jsonOf("trail.jsonl").at(-1)).toMatchObject({ actor: "command:amina", action: "evidence_bundle.created" });
    expect(new Set(jsonOf("trail.jsonl").map(({ business_id }) => business_id))).toEqual(new Set([business.id]));

    const other = generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).toString("base64");
    expect((await verify(folder, "--public-key", other)).out).toContain("head_of_unknown_key");

    type Change = (lines: string[]) => string[];
    const without =
      (at: number): Change =>
      (lines) =>
        lines.toSpliced(at, 1);
    const changed =
      (from: string | RegExp, to: string): Change =>
      (lines) =>
        lines.map((line) => line.replace(from, to));
    const own = jsonOf("links.jsonl").length;
    const cases: [name: string, change: Change, problem: string][] = [
      ["payments.jsonl", changed("500000", "400000"), "file_changed: payments.jsonl"],
      ["deliveries.jsonl", without(0), "file_changed: deliveries.jsonl"],
      ["refunds.jsonl", () => linesOf("payments.jsonl"), "file_changed: refunds.jsonl"],
      ["manifest.json", changed(/"sha256":"[0-9a-f]/, '"sha256":"x'), "manifest_not_vouched"],
      ["trail.jsonl", without(1), "row_missing"],
      ["trail.jsonl", without(0), "row_missing"],
      ["trail.jsonl", without(-1), "manifest_not_vouched"],
      ["trail.jsonl", changed('"address":"127.0.0.1"', '"address":"127.0.0.2"'), "row_changed"],
      ["links.jsonl", without(Math.floor(own / 2)), "links_missing"],
      ["links.jsonl", (lines) => lines.slice(0, -1), "links_missing"],
      ["heads.jsonl", changed(/"links":\d+/, '"links":1'), "head_not_signed"],
      ["heads.jsonl", () => [], "head_missing"],
    ];
    // A bundle without heads and links, for a day without rows, so that no other check applies.
    const forged = join(dir, "forged");
    mkdirSync(forged);
    const manifest = JSON.stringify({ business_id: business.id, from: "9999-01-01", to: "9999-01-01", files: {} });
    const after = { manifest_sha256: createHash("sha256").update(manifest).digest("hex"), from: "9999-01-01", to: "9999-01-01" };
    const sealed = { day: today, number: 1, business_number: 1 };
    const row = { id: "x", business_id: business.id, action: "evidence_bundle.created", after, sealed };
    writeFileSync(join(forged, "manifest.json"), manifest);
    writeFileSync(join(forged, "trail.jsonl"), `${JSON.stringify(row)}\n`);
    for (const name of ["links.jsonl", "heads.jsonl"]) writeFileSync(join(forged, name), "");
    expect(await verify(forged, "--public-key", key)).toMatchObject({
      code: 4,
      out: expect.stringContaining("row_not_in_chain"),
    });

    for (const [name, change, problem] of cases) {
      const changedCopy = join(dir, "bent");
      rmSync(changedCopy, { recursive: true, force: true });
      cpSync(folder, changedCopy, { recursive: true });
      writeFileSync(
        join(changedCopy, name),
        change(linesOf(name))
          .map((line) => `${line}\n`)
          .join(""),
      );
      const { code, out } = await verify(changedCopy, "--public-key", key);
      expect([code, out], `${name} ${problem}`).toEqual([4, expect.stringContaining(problem)]);
    }

    // An incomplete bundle is not created and leaves no folder.
    const none = join(dir, "none");
    const period = ["--from", today, "--to", today, "--out", none];
    const unknownBusiness = await amana("bundle", "--business", randomUUID(), ...period);
    expect(unknownBusiness).toMatchObject({ code: 1, err: expect.stringContaining("does not exist") });
    await rowsIn("identity", "alter table audit_event disable trigger audit_event_queue");
    await rowsIn(
      "identity",
      `insert into audit_event (id, at, actor, action, entity_type, entity_id, business_id, request_id, address)
       values (uuidv7(), now(), 'ak', 'a.b', 'a', uuidv7(), $1, 'r', 'a')`,
      [business.id],
    );
    await rowsIn("identity", "alter table audit_event enable always trigger audit_event_queue");
    const pastChain = await amana("bundle", "--business", business.id, ...period);
    expect(pastChain).toMatchObject({
      code: 1,
      err: expect.stringContaining("Rows of this business are not in the audit chain"),
    });
    expect(existsSync(none)).toBe(false);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
