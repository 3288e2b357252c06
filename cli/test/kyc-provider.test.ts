import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { execAmana } from "@amana/e2e/run-amana";
import { repair } from "@amana/kyc/repair";
import { uuidv7 } from "@amana/runtime";
import { createTestDatabase, startSandboxProcess, type TestDatabase } from "@amana/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

type Sandbox = Awaited<ReturnType<typeof startSandboxProcess>>;

let stack: AsyncDisposableStack;
let db: TestDatabase;
let sandbox: Sandbox;
let callbackUrl: string;
beforeAll(async () => {
  stack = new AsyncDisposableStack();
  db = stack.use(await createTestDatabase("kyc", repair.database));
  // Simulates the gateway, which rejects each callback without a signature.
  const gateway = createServer((request, response) =>
    response.writeHead(request.url?.startsWith("/callbacks/kyc") ? 401 : 404).end(),
  );
  await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve));
  stack.defer(() => void gateway.close());
  callbackUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/callbacks/kyc`;
  sandbox = stack.use(await startSandboxProcess({ KYC_CALLBACK_URL: callbackUrl }));
});
afterAll(() => stack.disposeAsync());
afterEach(() => sandbox.control("PUT", "kyc-setup", { didit_workflow: {}, sumsub_level: {}, webhook: {} }));

const settings = () => ({
  KYC_DATABASE_URL: db.url,
  KYC_CALLBACK_URL: callbackUrl,
  KYC_PROVIDER_TIMEOUT_MS: "5000",
});
const didit = () => ({
  ...settings(),
  KYC_PROVIDER: "didit",
  KYC_DIDIT_URL: `${sandbox.url}/didit`,
  KYC_DIDIT_API_KEY: "sandbox",
  KYC_DIDIT_ENVIRONMENT: "sandbox",
  KYC_DIDIT_WORKFLOW_ID: "11111111-1111-4111-8111-111111111111",
  KYC_DIDIT_WEBHOOK_SECRETS: "provider-callback-secret",
  KYC_DIDIT_DESTINATION_ID: "destination",
});
const sumsub = () => ({
  ...settings(),
  KYC_PROVIDER: "sumsub",
  KYC_SUMSUB_URL: `${sandbox.url}/sumsub`,
  KYC_SUMSUB_APP_TOKEN: "sbx:sandbox",
  KYC_SUMSUB_SECRET_KEY: "sandbox",
  KYC_SUMSUB_SANDBOX: "true",
  KYC_SUMSUB_LEVEL: "amana",
  KYC_SUMSUB_WEBHOOK_SECRETS: "provider-callback-secret",
  KYC_SUMSUB_WEBHOOK_ID: "webhook",
});

interface Row {
  readonly check: string;
  readonly result: string;
  readonly text: string;
}

async function check(env: Record<string, string>): Promise<{ code: number | null; rows: Row[]; out: string }> {
  const { code, out } = await execAmana(env, "kyc-provider", "check", "--json");
  return { code, rows: JSON.parse(out), out };
}

test.each([
  ["didit", didit],
  ["sumsub", sumsub],
])(
  "`amana kyc-provider check` exits with code 0 for a correctly configured account at %s, and prints no secrets",
  async (_vendor, env) => {
    const { code, rows, out } = await check(env());
    expect(rows.filter(({ result }) => result !== "ok")).toEqual([]);
    expect(rows.map((row) => row.check)).toEqual(
      expect.arrayContaining(["reachable", "credentials", "configuration", "webhook", "callback address"]),
    );
    expect(code).toBe(0);
    expect(out).not.toMatch(/provider-callback-secret|sbx:sandbox/);
  },
);

test.each([
  ["a wrong key", didit, { KYC_DIDIT_API_KEY: "other" }, {}, "credentials", "KYC_DIDIT_API_KEY"],
  ["an unknown workflow", didit, { KYC_DIDIT_WORKFLOW_ID: "other" }, {}, "configuration", "KYC_DIDIT_WORKFLOW_ID"],
  ["passive liveness", didit, {}, { didit_workflow: { face_liveness_method: "passive" } }, "configuration", "ACTIVE_3D"],
  ["no AML", didit, {}, { didit_workflow: { is_aml_enabled: false } }, "configuration", "AML"],
  ["another webhook secret", didit, { KYC_DIDIT_WEBHOOK_SECRETS: "other" }, {}, "webhook", "KYC_DIDIT_WEBHOOK_SECRETS"],
  ["a disabled webhook", didit, {}, { webhook: { enabled: false } }, "webhook", "enable"],
  ["a wrong secret key", sumsub, { KYC_SUMSUB_SECRET_KEY: "other" }, {}, "credentials", "KYC_SUMSUB_SECRET_KEY"],
  ["an unknown level", sumsub, { KYC_SUMSUB_LEVEL: "other" }, {}, "configuration", "KYC_SUMSUB_LEVEL"],
  ["the old WebSDK", sumsub, {}, { sumsub_level: { websdkNext: false } }, "configuration", "websdkNext"],
  ["a webhook that was switched off", sumsub, {}, { webhook: { disabled: true } }, "webhook", "enable"],
  [
    "a wrong callback address",
    sumsub,
    { KYC_CALLBACK_URL: "http://127.0.0.1:9/callbacks/kyc" },
    {},
    "callback address",
    "KYC_CALLBACK_URL",
  ],
] as const)(
  "`amana kyc-provider check` exits with code 1 and prints the next step for an account with %s",
  async (_name, env, changes, setup, name, text) => {
    await sandbox.control("PUT", "kyc-setup", setup);
    const { code, rows } = await check({ ...env(), ...changes });
    expect(rows).toContainEqual({
      provider: expect.any(String),
      check: name,
      result: "failure",
      text: expect.stringContaining(text),
    });
    expect(code).toBe(1);
  },
);

test("`amana kyc-provider check` exits with code 2 for incomplete settings, and prints the missing settings and the next step", async () => {
  const { KYC_DIDIT_API_KEY: _key, ...incomplete } = didit();
  expect(await execAmana(incomplete, "kyc-provider", "check")).toMatchObject({
    code: 2,
    err: expect.stringMatching(/KYC_DIDIT_API_KEY is not set.*services\/kyc\/\.env\.example/s),
  });
});

const sql = <Row extends object>(text: string, values: unknown[] = []) => db.orm.em.fork().execute<Row[]>(text, values);

async function anApplication(provider: string, status: string): Promise<string> {
  const id = uuidv7();
  await sql(
    `insert into kyc_application (id, business_id, status, provider, provider_id, link_expires_at, metadata, allowed_documents, require_video,
       max_attempts, attempts_used, sequence, verdict, reason_codes, document_notices, aml_hit_count, synced_at, next_check_at, checks, revision,
       created_at, updated_at)
     values (?, ?, ?, ?, ?, now(), '{}', '{passport}', true, 1, 1, 1, ?, '{}', 0, 0, now(), ?, 0, 1, now(), now())`,
    [id, uuidv7(), status, provider, id, status === "COMPLETED" ? "APPROVED" : null, status === "COMPLETED" ? null : new Date()],
  );
  return id;
}

test("`amana kyc-provider erase` deletes the applicant of an ended application at the provider and adds an audit row, and `kyc-provider list` counts unconfirmed deletions", async () => {
  const [atDidit, open] = [await anApplication("didit", "COMPLETED"), await anApplication("didit", "CREATED")];
  const erase = (id: string, env: Record<string, string>, ...args: string[]) =>
    execAmana(env, "kyc-provider", "erase", id, "--reason", "request", "--as", "amina", ...args);
  expect(await erase(atDidit, didit())).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
  expect(await erase(open, didit(), "--yes")).toMatchObject({ code: 1, err: expect.stringContaining("has not ended") });
  expect(await erase(uuidv7(), didit(), "--yes")).toMatchObject({ code: 1, err: expect.stringContaining("no application") });
  expect(await erase(atDidit, didit(), "--yes")).toMatchObject({ code: 0, out: expect.stringContaining("deleted at didit") });
  expect(await sql("select erasure from kyc_application where id = ?", [atDidit])).toEqual([{ erasure: "DONE" }]);
  expect(await sql("select 1 from outbox where topic = 'audit.v1'")).toHaveLength(1);

  const atSumsub = await anApplication("sumsub", "COMPLETED");
  expect(await erase(atSumsub, didit(), "--yes")).toMatchObject({
    code: 1,
    err: expect.stringContaining("KYC_PROVIDERS_FORMER"),
  });
  expect(await erase(atSumsub, sumsub(), "--yes")).toMatchObject({ code: 0, out: expect.stringContaining("dashboard") });
  const { out } = await execAmana(settings(), "kyc-provider", "list", "--json");
  expect(JSON.parse(out)).toEqual([
    { provider: "didit", open: 1, total: 2, erasuresRequested: 0 },
    { provider: "sumsub", open: 0, total: 1, erasuresRequested: 1 },
  ]);
});
