import { execFile } from "node:child_process";
import { createHash, generateKeyPairSync, randomUUID } from "node:crypto";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiCaller, apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { prepareOperation } from "../../src/api-operations.ts";
import { auditedOperations } from "../../src/audited-operations.ts";
import { databaseSettings, execAmana } from "../../src/run-amana.ts";
import { sharedSystem } from "../../src/shared-system.ts";
import { aBusiness, aPaidPayment, type TestBusiness, type TestSystem } from "../../src/test-system.ts";

let testSystem: TestSystem;
let business: TestBusiness;
let operator: ApiCaller;

beforeAll(async () => {
  testSystem = sharedSystem();
  business = await aBusiness(testSystem.system);
  operator = apiCaller(testSystem.system.gatewayUrl, testSystem.system.adminKey);
});
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
});

type ApiResponse = Awaited<ReturnType<ApiCaller>>;

async function queryRows<Row>(service: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: testSystem.system.ownerDatabaseUrls[service] });
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** Waits until each request has an audit row. Returns the audit rows of the requests. */
const readAuditRows = (...requests: ApiResponse[]) =>
  eventually(async () => {
    const { body } = await operator("GET", "/api/v1/admin/audit-events?limit=100");
    const rows = (body as unknown as Record<string, unknown>[]).filter(({ request_id }) =>
      requests.some(({ headers }) => headers["x-request-id"] === request_id),
    );
    expect(new Set(rows.map(({ request_id }) => request_id)).size).toBe(requests.length);
    return rows;
  });

const anEndpoint = async () => (await business.amana.webhookEndpoints.create({ url: business.receiver.url })).id;

test("the operations in `auditedOperations` each add an audit row with actor, address and action", async () => {
  const calls: (readonly [id: string, response: ApiResponse])[] = [];
  for (const id of auditedOperations) {
    const send = await prepareOperation(testSystem, business, id);
    calls.push([id, await send()]);
  }
  const rejected = calls.filter(([id, { status }]) => status >= 400 && id !== "retryDeadLetter");
  expect(rejected.map(([id, { text }]) => `${id}: ${text}`)).toEqual([]);

  const rows = await readAuditRows(...calls.map(([, response]) => response));
  for (const [id, { headers }] of calls) {
    const row = rows.find(({ request_id }) => request_id === headers["x-request-id"]);
    const name = id === "onboardBusiness" ? "Invited" : /Own|Endpoint$/.test(id) ? "default" : "bootstrap";
    expect(row, id).toMatchObject({ address: "127.0.0.1", actor_name: name, actor_key_id: expect.any(String) });
    expect(row?.["action"], id).toMatch(/^[a-z_]+\.[a-z_]+$/);
  }
});

test("GET /admin/audit-events filters by business, action, entity and time, and returns status 403 to a business", async () => {
  const endpoint = await anEndpoint();
  const from = new Date(Date.now() - 60_000).toISOString();
  const list = async (filters: Record<string, string>) => {
    const { body, headers } = await operator("GET", `/api/v1/admin/audit-events?${new URLSearchParams(filters)}`);
    return { rows: body as unknown as Record<string, unknown>[], total: headers["x-total-count"] };
  };
  const exactFilters = { business_id: business.id, action: "webhook_endpoint.created", entity_id: endpoint, from };
  const { rows } = await eventually(async () => {
    const result = await list(exactFilters);
    // The API reads the rows and their count in two statements. An insert between them can cause
    // different results, so the test waits for equal results.
    expect([result.total, result.rows.length]).toEqual(["1", 1]);
    return result;
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
  expect((await list({ ...exactFilters, from: "2000-01-01T00:00:00Z", to: from })).total).toBe("0");
  const newest = await list({ business_id: business.id });
  const times = newest.rows.map(({ at }) => String(at));
  expect(times).toEqual(times.toSorted().toReversed());
  expect(await business.call("GET", "/api/v1/admin/audit-events")).toMatchObject({
    status: 403,
    body: { code: "admin_required" },
  });
});

test("audit-chain.mjs accepts an unchanged evidence bundle offline, and reports each change of a bundle file", async () => {
  const payment = await aPaidPayment(testSystem.system, business);
  await business.call("POST", `/api/v1/payments/${payment.id}/refund`);
  await business.receiver.next("PAYMENT_REFUNDED", payment.id, 90_000);
  const { id: keyId } = await business.amana.me.createApiKey({ name: "revoked at once" });
  await business.amana.me.revokeApiKey(keyId, { reason: "a line separator\u2028of Unicode" });
  const dir = mkdtempSync(join(tmpdir(), "amana-bundle-"));
  const folder = join(dir, "bundle");
  const amana = (...args: string[]) => execAmana(databaseSettings(testSystem.system.databaseUrls), "audit", ...args);
  const today = new Date().toISOString().slice(0, 10);
  const created = await amana(
    "bundle",
    "--business",
    business.id,
    "--from",
    today,
    "--to",
    today,
    "--out",
    folder,
    "--as",
    "amina",
  );
  expect(created, created.err).toMatchObject({ code: 0 });

  const readLines = (name: string) => readFileSync(join(folder, name), "utf8").trimEnd().split("\n");
  const readJsonLines = (name: string) => readLines(name).map((line) => JSON.parse(line) as Record<string, unknown>);
  const key = String(readJsonLines("heads.jsonl").at(-1)?.["public_key"]);
  const program = join(dir, "audit-chain.mjs");
  copyFileSync(new URL("../../../packages/audit-chain/src/audit-chain.mjs", import.meta.url), program);
  const verify = (bundle: string, ...args: string[]) =>
    new Promise<{ code: number; out: string }>((resolve) => {
      execFile(process.execPath, [program, bundle, ...args], { cwd: dir, env: {} }, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, out: out + err }),
      );
    });
  try {
    expect(await verify(folder, "--public-key", key)).toEqual({ code: 0, out: "No problems found.\n" });
    expect(await amana("verify-bundle", folder, "--public-key", key)).toMatchObject({ code: 0, out: "No problems found.\n" });
    expect(readJsonLines("payments.jsonl")).toContainEqual(
      expect.objectContaining({ id: payment.id, amount_minor: 500_000, status: "REFUNDED" }),
    );
    expect(readJsonLines("refunds.jsonl")).toContainEqual(
      expect.objectContaining({ payment_id: payment.id, status: "ACCEPTED" }),
    );
    expect(readJsonLines("events.jsonl").map(({ type }) => type)).toContain("PAYMENT_REFUNDED");
    expect(readJsonLines("deliveries.jsonl")).not.toEqual([]);
    expect(readJsonLines("trail.jsonl").at(-1)).toMatchObject({ actor: "command:amina", action: "evidence_bundle.created" });
    expect(new Set(readJsonLines("trail.jsonl").map(({ business_id }) => business_id))).toEqual(new Set([business.id]));

    const otherKey = generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).toString("base64");
    expect((await verify(folder, "--public-key", otherKey)).out).toContain("head_of_unknown_key");

    type Change = (lines: string[]) => string[];
    const removeLine =
      (index: number): Change =>
      (lines) =>
        lines.toSpliced(index, 1);
    const replaceText =
      (from: string | RegExp, to: string): Change =>
      (lines) =>
        lines.map((line) => line.replace(from, to));
    const linkCount = readJsonLines("links.jsonl").length;
    const cases: [name: string, change: Change, problem: string][] = [
      ["payments.jsonl", replaceText("500000", "400000"), "file_changed: payments.jsonl"],
      ["deliveries.jsonl", removeLine(0), "file_changed: deliveries.jsonl"],
      ["refunds.jsonl", () => readLines("payments.jsonl"), "file_changed: refunds.jsonl"],
      ["manifest.json", replaceText(/"sha256":"[0-9a-f]/, '"sha256":"x'), "manifest_not_vouched"],
      ["trail.jsonl", removeLine(1), "row_missing"],
      ["trail.jsonl", removeLine(0), "row_missing"],
      ["trail.jsonl", removeLine(-1), "manifest_not_vouched"],
      ["trail.jsonl", replaceText('"address":"127.0.0.1"', '"address":"127.0.0.2"'), "row_changed"],
      ["links.jsonl", removeLine(Math.floor(linkCount / 2)), "links_missing"],
      ["links.jsonl", (lines) => lines.slice(0, -1), "links_missing"],
      ["heads.jsonl", replaceText(/"links":\d+/, '"links":1'), "head_not_signed"],
      ["heads.jsonl", () => [], "head_missing"],
    ];
    // The forged bundle has no heads and links, and its period is a day without rows. Only the
    // check that reports row_not_in_chain can detect the forgery.
    const forged = join(dir, "forged");
    mkdirSync(forged);
    const manifest = JSON.stringify({ business_id: business.id, from: "9999-01-01", to: "9999-01-01", files: {} });
    const after = { manifest_sha256: createHash("sha256").update(manifest).digest("hex"), from: "9999-01-01", to: "9999-01-01" };
    const chainPosition = { day: today, number: 1, business_number: 1 };
    const row = { id: "x", business_id: business.id, action: "evidence_bundle.created", after, sealed: chainPosition };
    writeFileSync(join(forged, "manifest.json"), manifest);
    writeFileSync(join(forged, "trail.jsonl"), `${JSON.stringify(row)}\n`);
    for (const name of ["links.jsonl", "heads.jsonl"]) writeFileSync(join(forged, name), "");
    expect(await verify(forged, "--public-key", key)).toMatchObject({
      code: 4,
      out: expect.stringContaining("row_not_in_chain"),
    });

    for (const [name, change, problem] of cases) {
      const changedCopy = join(dir, "changed");
      rmSync(changedCopy, { recursive: true, force: true });
      cpSync(folder, changedCopy, { recursive: true });
      writeFileSync(
        join(changedCopy, name),
        change(readLines(name))
          .map((line) => `${line}\n`)
          .join(""),
      );
      const { code, out } = await verify(changedCopy, "--public-key", key);
      expect([code, out], `${name} ${problem}`).toEqual([4, expect.stringContaining(problem)]);
    }

    // `amana audit bundle` removes the folder if it cannot create the complete bundle.
    const failedFolder = join(dir, "failed");
    const period = ["--from", today, "--to", today, "--out", failedFolder];
    const unknownBusiness = await amana("bundle", "--business", randomUUID(), ...period);
    expect(unknownBusiness).toMatchObject({ code: 1, err: expect.stringContaining("does not exist") });
    await queryRows("identity", "alter table audit_event disable trigger audit_event_queue");
    await queryRows(
      "identity",
      `insert into audit_event (id, at, actor, action, entity_type, entity_id, business_id, request_id, address)
       values (uuidv7(), now(), 'ak', 'a.b', 'a', uuidv7(), $1, 'r', 'a')`,
      [business.id],
    );
    await queryRows("identity", "alter table audit_event enable always trigger audit_event_queue");
    const unchained = await amana("bundle", "--business", business.id, ...period);
    expect(unchained).toMatchObject({
      code: 1,
      err: expect.stringContaining("Rows of this business are not in the audit chain"),
    });
    expect(existsSync(failedFolder)).toBe(false);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
