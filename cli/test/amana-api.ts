import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buffer } from "node:stream/consumers";
import { verifyWebhook } from "@amana/client";
import { devFileOf } from "@amana/dev-env/dev-file";
import { type CommandResult, execAmana } from "@amana/e2e/run-amana";
import { sharedSystem } from "@amana/e2e/shared-system";
import {
  aBusiness,
  anOrder,
  aPaidPayment,
  callSandbox,
  type TestBusiness,
  type TestSystem,
  validCard,
} from "@amana/e2e/test-system";
import { uuidv7 } from "@amana/runtime";
import { eventually } from "@amana/testing";
import type { Command } from "commander";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiGroups, createProgram } from "../src/program.ts";

const stack = new AsyncDisposableStack();
let running: TestSystem;
let business: TestBusiness;
let dir: string;

beforeAll(async () => {
  running = sharedSystem();
  business = await aBusiness(running.system, "Épicerie");
  stack.use(business.receiver);
  dir = await mkdtemp(join(tmpdir(), "amana-cli-"));
  stack.defer(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, "dev.json"), JSON.stringify(devFileOf(running.system)));
  await writeFile(join(dir, "key"), `${business.key}\n`);
});
afterAll(() => stack.disposeAsync());

/** Runs the command with the address and the keys of the local development system. */
const amanaLocal = (...args: string[]): Promise<CommandResult> => execAmana({ AMANA_DIR: dir }, ...args);
/** Settings with the gateway's address and the key file of a business. */
const businessSettings = () => ({ AMANA_URL: running.system.gatewayUrl, AMANA_KEY_FILE: join(dir, "key") });
const amanaBusiness = (...args: string[]): Promise<CommandResult> => execAmana(businessSettings(), ...args);

async function jsonOf<T = Record<string, unknown>>(result: Promise<CommandResult>): Promise<T> {
  const { code, out, err } = await result;
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return JSON.parse(out) as T;
}

const leafCommands = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap((child) => leafCommands(child));

test("the help text of every `amana` command contains an example, and names the API, databases or files that the command uses", async () => {
  for (const command of leafCommands(await createProgram())) {
    let text = "";
    command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
    expect(text, command.name()).toMatch(/Uses the API|Connects to the (databases|verification providers)|Reads only files/);
    expect(text, command.name()).toMatch(/Example:\n {2}amana \w/);
  }
});

test("`amana` loads no schema or database packages for command groups that use the API", async () => {
  const reportModules = `import { registerHooks } from "node:module";
    const load = (url, context, next) => (/typebox|mikro-orm|prom-client/.test(url) && console.error(url), next(url, context));
    registerHooks({ load });`;
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(reportModules)}` };
  const readLoadedModules = async (group: string) => (await execAmana(env, group, "--help")).err;
  for (const group of Object.keys(apiGroups)) expect(await readLoadedModules(group), group).toBe("");
  expect(await readLoadedModules("outbox")).toContain("mikro-orm");
});

test("`amana businesses` creates, lists, approves, disables and renames businesses with the operator key of the local system", async () => {
  const created = await jsonOf(amanaLocal("businesses", "create", "--name", "Neuve", "--pending", "--json"));
  const id = String(created["id"]);
  expect(created).toMatchObject({ status: "PENDING", api_key: expect.stringContaining("sk_test_") });
  expect(await jsonOf(amanaLocal("businesses", "approve", id, "--json"))).toMatchObject({ status: "ACTIVE" });
  expect(await jsonOf(amanaLocal("businesses", "rename", id, "Autre", "--json"))).toMatchObject({ name: "Autre" });
  const rotated = await jsonOf(amanaLocal("businesses", "rotate-key", id, "--yes", "--json"));
  expect(rotated["api_key"]).not.toBe(created["api_key"]);
  const unconfirmed = await amanaLocal("businesses", "disable", id);
  expect(unconfirmed).toMatchObject({ code: 2, out: "", err: expect.stringContaining('"Autre" (ACTIVE): disable it?') });
  expect(unconfirmed.err).toContain("--yes");
  expect((await amanaLocal("businesses", "show", id)).out).toMatch(/^status +ACTIVE$/m);
  expect(await jsonOf(amanaLocal("businesses", "disable", id, "--yes", "--json"))).toMatchObject({ status: "DISABLED" });
  expect(await jsonOf(amanaLocal("businesses", "list", "--status", "DISABLED", "--json"))).toMatchObject([{ id }]);
  const rejectedBusiness = await amanaLocal("businesses", "reject", id, "--yes", "--json");
  expect(rejectedBusiness).toMatchObject({ code: 1, out: "" });
  expect(JSON.parse(rejectedBusiness.err)).toMatchObject({
    error: { code: "invalid_status_transition", status: 409, exit_code: 1 },
  });
});

test("`amana payment-links` creates, lists, shows and deactivates payment links with a business key", async () => {
  const price = ["--amount", "2500.00", "--max-payments", "12"];
  const created = await jsonOf(amanaBusiness("payment-links", "create", "--name", "Lesson", ...price, "--json"));
  const id = String(created["id"]);
  expect(created).toMatchObject({ status: "ACTIVE", amount: "2500.00", max_payments: 12, url: expect.stringContaining("/pay/") });
  expect((await amanaBusiness("payment-links", "list", "--search", "lesson")).out).toMatch(new RegExp(`${id} +ACTIVE`));
  expect(await jsonOf(amanaBusiness("payment-links", "deactivate", id, "--json"))).toMatchObject({ status: "INACTIVE" });
  expect((await amanaBusiness("payment-links", "show", id)).out).toMatch(/^status +INACTIVE$/m);
  const rejectedCall = await amanaBusiness("payment-links", "create", "--name", "Lesson", "--json");
  expect(JSON.parse(rejectedCall.err)).toMatchObject({ error: { code: "validation_failed", status: 422 } });
});

test("`amana invitations`, `amana operator-keys` and `amana api-keys` create and revoke invitations and keys, and `api-keys revoke` continues after an unknown key id", async () => {
  const { id: invitation } = await jsonOf(amanaLocal("invitations", "create", "--name", "x", "--json"));
  await jsonOf(amanaLocal("invitations", "revoke", String(invitation), "--yes", "--json"));
  expect((await amanaLocal("invitations", "list")).out).toMatch(new RegExp(`${invitation} +REVOKED`));
  const { id: operator } = await jsonOf(amanaLocal("operator-keys", "create", "--name", "amina", "--json"));
  await jsonOf(amanaLocal("operator-keys", "revoke", String(operator), "--yes", "--reason", "left", "--json"));
  expect((await amanaLocal("operator-keys", "list")).out).toMatch(new RegExp(`${operator} +REVOKED`));

  const operatorMade = await jsonOf(amanaLocal("api-keys", "create", "--business", business.id, "--name", "a", "--json"));
  const ownKey = await jsonOf(amanaBusiness("api-keys", "create", "--name", "b", "--json"));
  expect((await amanaLocal("api-keys", "revoke", String(ownKey["id"]), "--yes")).out).toContain("REVOKED");
  expect((await amanaBusiness("api-keys", "revoke", String(operatorMade["id"]), "--yes")).out).toContain("REVOKED");
  // The API rejects the unknown id. The command still revokes the next key, and exits with code 1.
  const [unknown, other] = [uuidv7(), await jsonOf(amanaBusiness("api-keys", "create", "--name", "c", "--json"))];
  const partlyRejected = await amanaLocal("api-keys", "revoke", unknown, String(other["id"]), "--yes", "--json");
  expect(partlyRejected.code).toBe(1);
  expect(JSON.parse(partlyRejected.out)).toEqual([
    { id: unknown, outcome: expect.stringContaining("Not found") },
    { id: other["id"], outcome: "REVOKED" },
  ]);
  const listed = await jsonOf<{ id: string; revoked_at?: string }[]>(
    amanaLocal("api-keys", "list", "--business", business.id, "--json"),
  );
  expect(listed.filter(({ revoked_at }) => revoked_at).map(({ id }) => id)).toEqual([
    other["id"],
    ownKey["id"],
    operatorMade["id"],
  ]);

  await eventually(async () => {
    const trail = await amanaLocal("audit", "list", "--entity", String(operatorMade["id"]));
    expect(trail.out.split("\n").map((line) => line.trim().split(/ {2,}/)[1])).toEqual([
      "ACTION",
      "api_key.revoked",
      "api_key.created",
      undefined,
    ]);
  });
});

test("`amana payments` lists all pages of payments, refunds a payment with --yes, and shows the payment's timeline", async () => {
  const paid = await aPaidPayment(running.system, business);
  for (let i = 0; i < 104; i++) await business.call("POST", "/api/v1/payments", { ...anOrder, order_ref: `o-${i}` });
  const lines = (await amanaBusiness("payments", "list", "--all", "--json")).out.trim().split("\n");
  const all = lines.map((line) => JSON.parse(line) as { id: string });
  expect(new Set(all.map(({ id }) => id)).size).toBe(105);
  const limited = await jsonOf<{ id: string }[]>(amanaBusiness("payments", "list", "--limit", "103", "--json"));
  expect(limited.map(({ id }) => id)).toEqual(all.slice(0, 103).map(({ id }) => id));
  expect((await amanaBusiness("payments", "list", "--all")).out).toContain("  o-103  ");
  expect((await amanaBusiness("payments", "list", "--order-ref", "nosuch")).out).toBe("No payments found.\n");
  expect(await amanaBusiness("payments", "list", "--limit", "2")).toMatchObject({
    code: 0,
    err: "2 of 105 rows. Use --limit or --all for more.\n",
  });

  const refused = await amanaBusiness("payments", "refund", paid.id, "--amount", "9000.00", "--yes");
  expect(refused).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringMatching(/^ {2}\/amount: .*\n\(422 refund_amount_invalid, request /m),
  });
  expect(await amanaBusiness("payments", "refund", paid.id)).toMatchObject({
    code: 2,
    err: expect.stringContaining("5000.00 DZD"),
  });
  expect(await jsonOf(amanaBusiness("payments", "refund", paid.id, "--yes", "--json"))).toMatchObject({ status: "REFUNDED" });
  const attempts = ["COMPLETED", "REFUNDED"].map(
    (type) => new RegExp(`delivery attempt +PAYMENT_${type} +204 +\\d+ +${business.endpointId}`),
  );
  await eventually(async () => {
    const shownOutput = (await amanaBusiness("payments", "show", paid.id)).out;
    for (const attempt of attempts) expect(shownOutput).toMatch(attempt);
    expect(shownOutput).not.toContain("processor call");
  });
  const { out } = await amanaLocal("payments", "show", paid.id);
  for (const attempt of attempts) expect(out).toMatch(attempt);
  const { entries } = await jsonOf<{ entries: { kind: string; name: string; outcome?: string }[] }>(
    amanaLocal("payments", "show", paid.id, "--json"),
  );
  const shownOutput = entries.map(({ kind, name, outcome = "" }) => `${kind} ${name} ${outcome}`.trim());
  // Compares sets, because the order of two entries depends on the millisecond in which calls
  // start.
  expect(new Set(shownOutput)).toEqual(
    new Set([
      ...["payment PENDING", "payment PAID", "payment REFUNDED", "refund REQUESTED", "refund SENT", "refund ACCEPTED"],
      ...["REGISTER", "CONFIRM", "STATUS", "REFUND"].map((operation) => `processor_call ${operation} ACCEPTED`),
      ...["event PAYMENT_COMPLETED", "event PAYMENT_REFUNDED"],
      ...["delivery_attempt PAYMENT_COMPLETED 204", "delivery_attempt PAYMENT_REFUNDED 204"],
    ]),
  );
  expect(await amanaBusiness("payments", "refresh", paid.id)).toMatchObject({ code: 0 });
});

test("`amana payments statement` prints a table, JSON lines or CSV, and the time at which the statement ends", async () => {
  const paid = await aPaidPayment(running.system, business);
  await business.amana.payments.refund(paid.id, { amount: "0.50" });
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const statement = (...args: string[]) => amanaBusiness("payments", "statement", "--from", from, ...args);
  const [table, json, csv] = [await statement(), await statement("--json"), await statement("--csv")];
  for (const { code, err } of [table, json, csv]) {
    expect(code).toBe(0);
    expect(err).toMatch(/^The statement ends at \d{4}-.*Z\. Use this time as --from of the next statement\.\n$/);
  }
  const lines = json.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, string>);
  expect(lines.slice(-2)).toMatchObject([
    { type: "PAYMENT", payment_id: paid.id, amount: "5000.00" },
    { type: "REFUND", payment_id: paid.id, amount: "-0.50" },
  ]);
  expect(table.out.split("\n")[0]).toMatch(/^AT +TYPE +AMOUNT +TOTAL +CURRENCY/);
  expect(table.out.trim().split("\n")).toHaveLength(lines.length + 1);
  expect(table.out).toMatch(new RegExp(`REFUND +-0\\.50 +${lines.at(-1)?.["running_total"]} +DZD +${paid.id}\n$`));
  expect(csv.out.trim().split("\r\n")).toHaveLength(lines.length + 1);
  expect(csv.out).toMatch(new RegExp(`REFUND,${paid.id},,,\\d{10},-0\\.50,.*\r\n$`));

  expect(await statement("--to", "2020-01-01")).toMatchObject({
    code: 1,
    err: expect.stringContaining("to: must be later than `from`"),
  });
  expect(await statement("--csv", "--json")).toMatchObject({ code: 2 });
});

test("`amana payments statement` exits with code 3 when the connection closes before the end of the statement", async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/csv", "x-statement-until": "2026-11-25T10:00:00.000Z" });
    response.write("at,type\r\n", () => response.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = ["payments", "statement", "--from", "2026-11-01", "--csv", "--url", url];
  const { code, out, err } = await amanaBusiness(...args);
  server.close();
  expect({ code, out }).toEqual({ code: 3, out: "at,type\r\n" });
  expect(err).toContain("incomplete");
});

test("`amana refunds decide` exits with code 1 for an unknown refund, and `amana payments refund` exits with code 5 if it gets no response", async () => {
  expect((await amanaLocal("refunds", "list", "--to-decide")).out).toBe("No refund needs a decision.\n");
  const decide = ["refunds", "decide", uuidv7(), "--outcome", "ACCEPTED", "--note", "seen", "--yes"];
  expect(await amanaLocal(...decide)).toMatchObject({ code: 1, err: expect.stringContaining("not_found") });
  expect(await amanaLocal("refunds", "decide", uuidv7(), "--outcome", "PERHAPS", "--note", "n")).toMatchObject({ code: 2 });
  expect((await amanaLocal("payments", "changed")).out).toBe("No changed payments found.\n");

  const paid = await aPaidPayment(running.system, business);
  await callSandbox(running.system, "PUT", "/sandbox/faults", { operation: "refund", mode: "late:60000", times: 1 });
  const unanswered = await amanaBusiness("payments", "refund", paid.id, "--yes", "--timeout", "1");
  expect(unanswered).toMatchObject({ code: 5, out: "" });
  expect(unanswered.err).toContain(`The change may have been executed. Check this first: amana payments show ${paid.id}`);
  expect(unanswered.err).toMatch(/--idempotency-key [0-9a-f-]{36}$/m);
});

test("`amana payments show` lists PAYMENT_COMPLETED before PAYMENT_REFUNDED when one transaction emitted both, and warns when entries are omitted", async () => {
  type Shown = { entries: { kind: string; name: string }[] };
  // The payment is paid and refunded before its first refresh, so one transaction emits both
  // events.
  const ids = [];
  for (let i = 0; i < 3; i++) {
    const { id, processor_order_id } = await business.amana.payments.create(anOrder);
    await callSandbox(running.system, "POST", `/sandbox/payments/${processor_order_id}/pay`, validCard);
    await callSandbox(running.system, "POST", `/sandbox/payments/${processor_order_id}/refund`, {});
    expect(await jsonOf(amanaBusiness("payments", "refresh", id, "--json"))).toMatchObject({ status: "REFUNDED" });
    ids.push(id);
  }
  for (const run of [amanaLocal, amanaBusiness])
    for (const id of ids)
      await eventually(async () => {
        const { entries } = await jsonOf<Shown>(run("payments", "show", id, "--json"));
        const emitted = entries.flatMap(({ kind, name }) => (kind === "event" ? [name] : []));
        expect(emitted).toEqual(["PAYMENT_COMPLETED", "PAYMENT_REFUNDED"]);
      });

  const [id] = ids;
  const owner = new Client({ connectionString: running.system.ownerDatabaseUrls["payments"] });
  await owner.connect();
  await owner.query(
    `insert into processor_call (id, business_id, payment_id, operation, outcome, at, duration_ms)
     select uuid_at(now() + n * interval '1 ms'), $1, $2, 'STATUS', 'UNKNOWN', now(), 1 from generate_series(1, 600) n`,
    [business.id, id],
  );
  await owner.end();
  const { code, out, err } = await amanaLocal("payments", "show", String(id));
  expect({ code, err }).toEqual({
    code: 0,
    err: expect.stringMatching(/^Only the first and the newest calls.*\nEvents or attempts may be missing.*\n$/),
  });
  expect(out.match(/processor call/g)).toHaveLength(200);
  expect(out).toMatch(/ event +PAYMENT_REFUNDED /);
});

test("`amana kyc show` does not print the application's secret link, and `amana kyc review` exits with code 2 without an operator key", async () => {
  const created = await business.call("POST", "/api/v1/kyc/applications", { external_id: "a-1" });
  const id = String(created.body["id"]);
  expect(await jsonOf(amanaBusiness("kyc", "list", "--external-id", "a-1", "--json"))).toMatchObject([{ id }]);
  const shownOutput = await amanaBusiness("kyc", "show", id);
  expect(shownOutput.out).toContain(id);
  expect(shownOutput.out).not.toContain(String(created.body["link_url"]));
  const review = ["kyc", "review", id, "--outcome", "APPROVED", "--note", "seen", "--yes"];
  expect(await amanaLocal(...review)).toMatchObject({ code: 1, err: expect.stringContaining("kyc_review_not_open") });
  expect(await amanaBusiness(...review)).toMatchObject({
    code: 2,
    err: expect.stringContaining("The command needs an operator's key"),
  });
  for (const verb of ["approve", "decline"])
    expect(await amanaLocal("onboarding", verb, uuidv7(), "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("not_found"),
    });
});

test("`amana events show` lists delivery attempts, and `amana events redeliver` and `amana deliveries replay` deliver events again", async () => {
  const tested = await jsonOf(amanaBusiness("webhooks", "test", business.endpointId, "--json"));
  const id = String(tested["id"]);
  expect(await jsonOf(amanaBusiness("webhooks", "list", "--json"))).toMatchObject([{ id: business.endpointId }]);
  expect((await amanaBusiness("webhooks", "show", business.endpointId)).out).toMatch(/^status +ACTIVE$/m);
  await eventually(async () =>
    expect((await amanaBusiness("events", "show", id)).out).toMatch(/delivery attempt +WEBHOOK_TEST +204/),
  );
  expect(await jsonOf(amanaBusiness("events", "list", "--type", "WEBHOOK_TEST", "--json"))).toMatchObject([{ id }]);
  expect(await jsonOf(amanaBusiness("events", "redeliver", id, "--endpoint", business.endpointId, "--json"))).toHaveLength(1);
  const replay = ["deliveries", "replay", business.endpointId, "--since", "2020-01-01", "--types", "PAYMENT_REFUNDED"];
  expect(await jsonOf(amanaBusiness(...replay, "--statuses", "succeeded", "--json"))).toMatchObject({ status: "DONE" });
});

test("`amana dead-letters` rejects database options without --databases, and API options with --databases", async () => {
  expect((await amanaLocal("dead-letters", "list")).out).toBe("There are no dead-lettered messages.\n");
  expect((await amanaLocal("dead-letters", "list", "--databases")).out).toBe("There are no dead-lettered messages.\n");
  expect(await amanaLocal("dead-letters", "show", uuidv7())).toMatchObject({
    code: 1,
    err: expect.stringContaining("not_found"),
  });
  expect(await jsonOf(amanaLocal("dead-letters", "retry", "--all", "--json"))).toEqual([]);
  const drop = ["dead-letters", "drop", uuidv7(), "--reason", "r"];
  expect(await amanaLocal(...drop)).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
  expect(await amanaLocal(...drop, "--as", "amina")).toMatchObject({ code: 2, err: "--as requires --databases.\n" });
  expect(await amanaLocal(...drop, "--databases", "--key", "x")).toMatchObject({
    code: 2,
    err: "--key cannot be used with --databases.\n",
  });
});

/** Runs the command as a business through a proxy that drops every response except the first. */
async function amanaWithOneResponse(...args: string[]): Promise<CommandResult> {
  let responses = 0;
  await using lossy = createServer(async ({ url = "", method = "", headers }, response) => {
    const target = new URL(url, running.system.gatewayUrl);
    const upstream = await fetch(target, { method, headers: { authorization: headers.authorization ?? "" } });
    if (responses++ > 0) response.destroy();
    else response.writeHead(upstream.status).end(await upstream.text());
  }).listen(0, "127.0.0.1");
  await once(lossy, "listening");
  const url = `http://127.0.0.1:${(lossy.address() as AddressInfo).port}`;
  return await execAmana({ ...businessSettings(), AMANA_URL: url }, ...args);
}

test("`amana api-keys revoke` prints the completed revocations when a later revocation gets no response", async () => {
  const ids = [];
  for (const name of ["one", "two"])
    ids.push(String((await jsonOf(amanaBusiness("api-keys", "create", "--name", name, "--json")))["id"]));
  const { code, out, err } = await amanaWithOneResponse("api-keys", "revoke", ...ids, "--yes");
  expect(out).toMatch(new RegExp(`^ID +OUTCOME\n${ids[0]} +REVOKED\n$`));
  expect({ code, err }).toEqual({
    code: 5,
    err: expect.stringMatching(/The change may have been executed.*amana api-keys list\n$/),
  });
});

test("`amana payments show` prints the payment and exits with code 1 when the request for the payment's events gets no response", async () => {
  const { id } = await aPaidPayment(running.system, business);
  const { code, out, err } = await amanaWithOneResponse("payments", "show", id);
  expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^Events and deliveries could not be read.*\n$/) });
  expect(out).toMatch(/ payment +PAID\n/);
});

test("`amana` prints the name of an invalid option or setting, but no API key, and exits with the documented code", async () => {
  const otherDeployment = "https://elsewhere.example";
  const incompleteDir = await mkdtemp(join(dir, "incomplete-"));
  await writeFile(join(incompleteDir, "dev.json"), `{"business":{"api_key":"${business.key}`);
  // With an address and a key, the command does not read the file of the local system.
  expect(await execAmana({ ...businessSettings(), AMANA_DIR: incompleteDir }, "payments", "list")).toMatchObject({ code: 0 });
  const cases: [number, string, Promise<CommandResult>][] = [
    [2, "start a system", execAmana({}, "payments", "list")],
    // Keys of the local system are not sent to another deployment.
    [2, "The command needs a business's key", execAmana({ AMANA_DIR: dir, AMANA_URL: otherDeployment }, "payments", "list")],
    [2, "Copy the complete key", amanaLocal("payments", "list", "--key", business.key.slice(0, -1))],
    [2, "not both", amanaLocal("payments", "list", "--key", business.key, "--key-file", "x")],
    [2, "--key-file cannot be read: ENOENT", amanaLocal("payments", "list", "--key-file", join(dir, "none"))],
    [2, "without a user name", amanaLocal("payments", "list", "--url", `http://x:${business.key}@127.0.0.1/`)],
    [2, "dev.json is incomplete", execAmana({ AMANA_DIR: incompleteDir }, "payments", "list")],
    [2, "dev.json is incomplete", execAmana({ AMANA_DIR: incompleteDir }, "stuck")],
    // Over http://, the command would send the key unencrypted.
    [
      2,
      "Use its https:// address",
      execAmana({ ...businessSettings(), AMANA_URL: "http://elsewhere.example" }, "payments", "list"),
    ],
    [
      3,
      "No response from",
      execAmana({ ...businessSettings(), AMANA_URL: "http://0.0.0.0:1" }, "payments", "list", "--allow-http"),
    ],
    [2, "must not be empty", amanaBusiness("payments", "list", "--order-ref", "")],
    [2, "must not be empty", amanaLocal("dead-letters", "retry", "--all", "--topic", " ")],
    [2, "argument 'id'", amanaBusiness("payments", "show", "nope")],
    [2, "--status", amanaBusiness("payments", "list", "--status", "NOPE")],
    [2, "--amount", amanaBusiness("payments", "refund", uuidv7(), "--amount", "1,5")],
    [2, "--from", amanaBusiness("payments", "list", "--from", "yesterday")],
    [2, "--from", amanaBusiness("payments", "list", "--from", "2026-02-31")],
    [2, "--limit", amanaBusiness("payments", "list", "--limit", "2.5")],
    [2, "--limit", amanaBusiness("payments", "list", "--limit", "0x10")],
    [2, "unknown command 'constructor'", amanaBusiness("constructor")],
    // All words after "--" are arguments.
    [2, "argument 'id'", amanaBusiness("payments", "show", "--", "--json")],
    [3, "No response from", execAmana({ ...businessSettings(), AMANA_URL: "http://127.0.0.1:1" }, "payments", "list")],
    [1, "not_found", amanaBusiness("payments", "show", uuidv7())],
  ];
  for (const [expectedCode, text, result] of cases) {
    const { err, out, code } = await result;
    expect({ code, out, err }).toMatchObject({ code: expectedCode, out: "", err: expect.stringContaining(text) });
    expect(err).not.toContain(business.key.slice(12));
  }
});

test("`amana` replaces control characters, limits tables to the terminal's width, and exits with code 0 when the reader closes the pipe", async () => {
  const hostile = await jsonOf(
    amanaLocal(
      "businesses",
      "create",
      "--name",
      `a\u202eb 漢字漢字 e${"\u0301".repeat(90)} \u{20000}\u{20001} and so on and on and on`,
      "--json",
    ),
  );
  for (const COLUMNS of ["60", "200"]) {
    const { out } = await execAmana({ AMANA_DIR: dir, COLUMNS }, "businesses", "list");
    expect(out).toContain(hostile["id"]);
    expect(out).not.toMatch(/[^\P{C}\n]/u);
    expect(out).not.toMatch(/\p{M}{5}/u);
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(Number(COLUMNS));
  }
  const unconfirmed = await amanaLocal("businesses", "disable", String(hostile["id"]));
  expect(unconfirmed.err).toContain('"a?b 漢字漢字');
  expect(unconfirmed.err).not.toMatch(/[^\P{C}\n]/u);
  const child = start({ AMANA_DIR: dir }, "payments", "--help");
  child.stdout?.destroy();
  const errors = buffer(child.stderr as NodeJS.ReadableStream);
  expect(await exitOf(child)).toBe(0);
  expect((await errors).toString()).toBe("");
});

const entry = join(import.meta.dirname, "..", "src", "amana.ts");
/** Waits until the process has ended and its output is complete, and returns the exit code. */
const exitOf = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once("close", resolve));

function start(env: Record<string, string>, ...args: string[]): ChildProcess {
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  const child = spawn(process.execPath, [entry, ...args], { env: { PATH, NODE_COMPILE_CACHE, ...env } });
  stack.defer(() => void child.kill("SIGKILL"));
  return child;
}

/** Starts the webhook receiver of an integrator on this machine. */
async function aLocalReceiver() {
  const received: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  let status = 204;
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await buffer(request) });
    response.writeHead(status, { "retry-after": "1" }).end("received");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stack.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, port, received, respondWith: (code: number) => (status = code) };
}

/** Starts `amana webhooks listen --json` and collects its output. */
const listening = (...args: string[]) => listeningAs(businessSettings(), ...args);

async function listeningAs(env: Record<string, string>, ...args: string[]) {
  const child = start(env, "webhooks", "listen", "--json", ...args);
  const lines: Record<string, unknown>[] = [];
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => lines.push(JSON.parse(line)));
  let errors = "";
  child.stderr?.on("data", (part: Buffer) => (errors += part.toString()));
  await eventually(() => expect(lines[0], errors).toHaveProperty("listening"));
  const endpoint = lines[0]?.["listening"] as Record<"endpoint_id" | "secret" | "url", string> | undefined;
  const { secret = "", url = "", endpoint_id: endpointId } = endpoint ?? {};
  return { child, lines, secret, url, endpointId, errors: () => errors };
}

const endpointIds = async () =>
  (JSON.parse((await business.call("GET", "/api/v1/webhook-endpoints")).text) as { id: string }[]).map(({ id }) => id);

test("`amana webhooks listen` forwards signed webhooks unchanged, returns the receiver's response, and deletes its endpoint at Ctrl-C or at the next start", async () => {
  const receiver = await aLocalReceiver();
  const revokedKey = await jsonOf<{ id: string; api_key: string }>(
    amanaBusiness("api-keys", "create", "--name", "short", "--json"),
  );
  const { AMANA_URL } = businessSettings();
  const withRevokedKey = await listeningAs({ AMANA_URL, AMANA_KEY: revokedKey.api_key }, "--skip-forward");
  const exitWithRevokedKey = exitOf(withRevokedKey.child);
  await jsonOf(amanaBusiness("api-keys", "revoke", revokedKey.id, "--yes", "--json"));
  const firstRun = await listening("--forward-to", receiver.url, "--events", "PAYMENT_COMPLETED", "--print");
  const paid = await aPaidPayment(running.system, business);
  await eventually(() => expect(firstRun.lines).toHaveLength(2));
  const [delivery] = receiver.received;
  const webhook = verifyWebhook(delivery?.headers ?? {}, delivery?.body ?? "", { secrets: [firstRun.secret] });
  expect(delivery?.headers.host).toBe(`127.0.0.1:${receiver.port}`);
  expect(firstRun.lines[1]).toMatchObject({
    ...{ type: "PAYMENT_COMPLETED", id: webhook.id, about: paid.id, status: 204, ms: expect.any(Number), body: webhook.body },
  });

  receiver.respondWith(500);
  await business.call("POST", `/api/v1/webhook-endpoints/${firstRun.endpointId}/test`);
  await eventually(() => expect(firstRun.lines.filter(({ status }) => status === 500).length).toBeGreaterThan(1));
  receiver.respondWith(204);
  await eventually(() => expect(firstRun.lines.at(-1)).toMatchObject({ type: "WEBHOOK_TEST", status: 204 }));

  expect(await exitWithRevokedKey).toBe(1);
  expect(withRevokedKey.errors()).toMatch(/could not be removed \(401 api_key_revoked.*The next start of the command removes it/);
  expect(withRevokedKey.errors()).toContain(`"code":"api_key_revoked"`);

  const otherRun = await listening("--skip-forward");
  await eventually(() => expect(otherRun.errors()).toContain(`Removed the endpoint ${withRevokedKey.endpointId}`));
  expect(await endpointIds()).toEqual(expect.arrayContaining([firstRun.endpointId, otherRun.endpointId]));
  firstRun.child.kill("SIGKILL");
  await exitOf(firstRun.child);
  const nextRun = await listening("--forward-to", "http://127.0.0.1:1/");
  await eventually(() => expect(nextRun.errors()).toContain(`Removed the endpoint ${firstRun.endpointId}`));
  expect(await endpointIds()).toEqual([nextRun.endpointId, otherRun.endpointId, business.endpointId]);
  await business.call("POST", `/api/v1/webhook-endpoints/${nextRun.endpointId}/test`);
  await eventually(() => expect(nextRun.lines[1]).toMatchObject({ status: 502, error: "no response (ECONNREFUSED)" }));

  // A request without a signature is neither forwarded nor printed as an event.
  expect((await fetch(nextRun.url, { method: "POST", body: "{}" })).status).toBe(401);
  expect((await fetch(new URL("/", nextRun.url), { method: "POST", body: "{}" })).status).toBe(404);
  expect((await fetch(nextRun.url, { method: "POST", body: "x".repeat(1024 * 1024 + 1) })).status).toBe(413);

  for (const { child } of [nextRun, otherRun]) {
    child.kill("SIGINT");
    expect(await exitOf(child)).toBe(0);
  }
  expect(await endpointIds()).toEqual([business.endpointId]);
});

test("`amana webhooks listen` reports that a deployment with ALLOW_INSECURE_WEBHOOKS=false cannot reach this machine", async () => {
  const { webhooks } = running.system.services;
  const { id } = await aPaidPayment(running.system, business);
  await webhooks.stop();
  try {
    // While webhooks is down, the command shows the payment without its events.
    for (const run of [amanaLocal, amanaBusiness]) {
      const { code, out, err } = await run("payments", "show", id);
      expect({ run: run.name, code, err }).toEqual({
        run: run.name,
        code: 1,
        err: expect.stringMatching(/^Events and deliveries could not be read.*$/m),
      });
      expect(out).toMatch(/ payment +PAID\n/);
    }
    expect(await amanaBusiness("webhooks", "listen", "--skip-forward", "--timeout", "2")).toMatchObject({ code: 3, out: "" });
    await webhooks.start({ ALLOW_INSECURE_WEBHOOKS: "false" });
    await running.system.waitUntilReady();
    const refused = await amanaBusiness("webhooks", "listen", "--skip-forward");
    expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining("cannot reach this machine") });
  } finally {
    await webhooks.stop();
    await webhooks.start();
    await running.system.waitUntilReady();
  }
});
