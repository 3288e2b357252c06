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
import { amanaWith, type Ended } from "@amana/e2e/run-amana";
import {
  aBusiness,
  anOrder,
  aPaidPayment,
  sandbox,
  startTestSystem,
  type TestBusiness,
  type TestSystem,
  validCard,
} from "@amana/e2e/test-system";
import { uuidv7 } from "@amana/runtime";
import { eventually } from "@amana/testing";
import type { Command } from "commander";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { byApi, createProgram } from "../src/program.ts";

const stack = new AsyncDisposableStack();
let running: TestSystem;
let business: TestBusiness;
let dir: string;

beforeAll(async () => {
  running = stack.use(await startTestSystem("direct"));
  business = await aBusiness(running.system, "Épicerie");
  stack.use(business.receiver);
  dir = await mkdtemp(join(tmpdir(), "amana-cli-"));
  stack.defer(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, "dev.json"), JSON.stringify(devFileOf(running.system)));
  await writeFile(join(dir, "key"), `${business.key}\n`);
});
afterAll(() => stack.disposeAsync());

/** As an operator beside the started system, who gives neither address nor key. */
const here = (...args: string[]): Promise<Ended> => amanaWith({ AMANA_DIR: dir }, ...args);
/** As a business of its own, from anywhere. */
const settings = () => ({ AMANA_URL: running.system.gatewayUrl, AMANA_KEY_FILE: join(dir, "key") });
const there = (...args: string[]): Promise<Ended> => amanaWith(settings(), ...args);

async function jsonOf<T = Record<string, unknown>>(ended: Promise<Ended>): Promise<T> {
  const { code, out, err } = await ended;
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return JSON.parse(out) as T;
}

const leaves = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap((one) => leaves(one));

test("every command says in its help where it goes, and has an example", async () => {
  for (const command of leaves(await createProgram())) {
    let text = "";
    command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
    expect(text, command.name()).toMatch(/Goes (through the API|straight at|at files)|Asks nobody/);
    expect(text, command.name()).toMatch(/Example:\n {2}amana \w/);
  }
});

test("what goes by the API starts at once: it loads no schemas and nothing that databases need", async () => {
  const tell = `import { registerHooks } from "node:module";
    const load = (url, context, next) => (/typebox|mikro-orm|prom-client/.test(url) && console.error(url), next(url, context));
    registerHooks({ load });`;
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(tell)}` };
  const loadedBy = async (noun: string) => (await amanaWith(env, noun, "--help")).err;
  for (const noun of Object.keys(byApi)) expect(await loadedBy(noun), noun).toBe("");
  expect(await loadedBy("outbox")).toContain("mikro-orm");
});

test("businesses are made, found, moved and renamed with the key of the system that runs here", async () => {
  const made = await jsonOf(here("businesses", "create", "--name", "Neuve", "--pending", "--json"));
  const id = String(made["id"]);
  expect(made).toMatchObject({ status: "PENDING", api_key: expect.stringContaining("sk_test_") });
  expect(await jsonOf(here("businesses", "approve", id, "--json"))).toMatchObject({ status: "ACTIVE" });
  expect(await jsonOf(here("businesses", "rename", id, "Autre", "--json"))).toMatchObject({ name: "Autre" });
  const rotated = await jsonOf(here("businesses", "rotate-key", id, "--yes", "--json"));
  expect(rotated["api_key"]).not.toBe(made["api_key"]);
  const asked = await here("businesses", "disable", id);
  expect(asked).toMatchObject({ code: 2, out: "", err: expect.stringContaining('"Autre" (ACTIVE): disable it?') });
  expect(asked.err).toContain("--yes");
  expect((await here("businesses", "show", id)).out).toMatch(/^status +ACTIVE$/m);
  expect(await jsonOf(here("businesses", "disable", id, "--yes", "--json"))).toMatchObject({ status: "DISABLED" });
  expect(await jsonOf(here("businesses", "list", "--status", "DISABLED", "--json"))).toMatchObject([{ id }]);
  const again = await here("businesses", "reject", id, "--yes", "--json");
  expect(again).toMatchObject({ code: 1, out: "" });
  expect(JSON.parse(again.err)).toMatchObject({ error: { code: "invalid_status_transition", status: 409, exit_code: 1 } });
});

test("keys and invitations are issued, listed and revoked, by an operator and by a business", async () => {
  const { id: invitation } = await jsonOf(here("invitations", "create", "--name", "x", "--json"));
  await jsonOf(here("invitations", "revoke", String(invitation), "--yes", "--json"));
  expect((await here("invitations", "list")).out).toMatch(new RegExp(`${invitation} +REVOKED`));
  const { id: operator } = await jsonOf(here("operator-keys", "create", "--name", "amina", "--json"));
  await jsonOf(here("operator-keys", "revoke", String(operator), "--yes", "--reason", "left", "--json"));
  expect((await here("operator-keys", "list")).out).toMatch(new RegExp(`${operator} +REVOKED`));

  const ofOperator = await jsonOf(here("api-keys", "create", "--business", business.id, "--name", "a", "--json"));
  const own = await jsonOf(there("api-keys", "create", "--name", "b", "--json"));
  expect((await here("api-keys", "revoke", String(own["id"]), "--yes")).out).toContain("REVOKED");
  expect((await there("api-keys", "revoke", String(ofOperator["id"]), "--yes")).out).toContain("REVOKED");
  // A refusal stops none of the others, and shows in the exit code.
  const [none, other] = [uuidv7(), await jsonOf(there("api-keys", "create", "--name", "c", "--json"))];
  const both = await here("api-keys", "revoke", none, String(other["id"]), "--yes", "--json");
  expect(both.code).toBe(1);
  expect(JSON.parse(both.out)).toEqual([
    { id: none, outcome: expect.stringContaining("Not found") },
    { id: other["id"], outcome: "REVOKED" },
  ]);
  const listed = await jsonOf<{ id: string; revoked_at?: string }[]>(
    here("api-keys", "list", "--business", business.id, "--json"),
  );
  expect(listed.filter(({ revoked_at }) => revoked_at).map(({ id }) => id)).toEqual([other["id"], own["id"], ofOperator["id"]]);

  await eventually(async () => {
    const trail = await here("audit", "list", "--entity", String(ofOperator["id"]));
    expect(trail.out.split("\n").map((line) => line.trim().split(/ {2,}/)[1])).toEqual([
      "ACTION",
      "api_key.revoked",
      "api_key.created",
      undefined,
    ]);
  });
});

test("payments are listed page by page, refunded once asked for, and shown with what happened", async () => {
  const paid = await aPaidPayment(running.system, business);
  for (let i = 0; i < 104; i++) await business.call("POST", "/api/v1/payments", { ...anOrder, order_ref: `o-${i}` });
  const lines = (await there("payments", "list", "--all", "--json")).out.trim().split("\n");
  const all = lines.map((line) => JSON.parse(line) as { id: string });
  expect(new Set(all.map(({ id }) => id)).size).toBe(105);
  const some = await jsonOf<{ id: string }[]>(there("payments", "list", "--limit", "103", "--json"));
  expect(some.map(({ id }) => id)).toEqual(all.slice(0, 103).map(({ id }) => id));
  expect((await there("payments", "list", "--all")).out).toContain("  o-103  ");
  expect((await there("payments", "list", "--order-ref", "nosuch")).out).toBe("No payments found.\n");
  expect(await there("payments", "list", "--limit", "2")).toMatchObject({
    code: 0,
    err: "2 of 105: --limit or --all shows more.\n",
  });

  const refused = await there("payments", "refund", paid.id, "--amount", "9000.00", "--yes");
  expect(refused).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringMatching(/^ {2}\/amount: .*\n\(422 refund_amount_invalid, request /m),
  });
  expect(await there("payments", "refund", paid.id)).toMatchObject({ code: 2, err: expect.stringContaining("5000.00 DZD") });
  expect(await jsonOf(there("payments", "refund", paid.id, "--yes", "--json"))).toMatchObject({ status: "REFUNDED" });
  const attempts = ["COMPLETED", "REFUNDED"].map(
    (what) => new RegExp(`delivery attempt +PAYMENT_${what} +204 +\\d+ +${business.endpointId}`),
  );
  await eventually(async () => {
    const shown = (await there("payments", "show", paid.id)).out;
    for (const attempt of attempts) expect(shown).toMatch(attempt);
    expect(shown).not.toContain("processor call");
  });
  const { out } = await here("payments", "show", paid.id);
  for (const attempt of attempts) expect(out).toMatch(attempt);
  const { entries } = await jsonOf<{ entries: { kind: string; name: string; outcome?: string }[] }>(
    here("payments", "show", paid.id, "--json"),
  );
  const told = entries.map(({ kind, name, outcome = "" }) => `${kind} ${name} ${outcome}`.trim());
  // Which of two stands first goes by when a call began, to the millisecond.
  expect(new Set(told)).toEqual(
    new Set([
      ...["payment PENDING", "payment PAID", "payment REFUNDED", "refund REQUESTED", "refund SENT", "refund ACCEPTED"],
      ...["REGISTER", "CONFIRM", "STATUS", "REFUND"].map((operation) => `processor_call ${operation} ACCEPTED`),
      ...["event PAYMENT_COMPLETED", "event PAYMENT_REFUNDED"],
      ...["delivery_attempt PAYMENT_COMPLETED 204", "delivery_attempt PAYMENT_REFUNDED 204"],
    ]),
  );
  expect(await there("payments", "refresh", paid.id)).toMatchObject({ code: 0 });
});

test("a refund that waits is decided, and a lost answer is told as one", async () => {
  expect((await here("refunds", "list", "--to-decide")).out).toBe("None waits for a decision.\n");
  const decide = ["refunds", "decide", uuidv7(), "--outcome", "ACCEPTED", "--note", "seen", "--yes"];
  expect(await here(...decide)).toMatchObject({ code: 1, err: expect.stringContaining("not_found") });
  expect(await here("refunds", "decide", uuidv7(), "--outcome", "PERHAPS", "--note", "n")).toMatchObject({ code: 2 });
  expect((await here("payments", "changed")).out).toBe("None did.\n");

  const paid = await aPaidPayment(running.system, business);
  await sandbox(running.system, "PUT", "/sandbox/faults", { operation: "refund", mode: "late:60000", times: 1 });
  const lost = await there("payments", "refund", paid.id, "--yes", "--timeout", "1");
  expect(lost).toMatchObject({ code: 5, out: "" });
  expect(lost.err).toContain(`may have been done all the same. Ask before anything else: amana payments show ${paid.id}`);
  expect(lost.err).toMatch(/--idempotency-key [0-9a-f-]{36}$/m);
});

test("a timeline has causes before what they brought about, and says what it leaves out", async () => {
  type Shown = { entries: { kind: string; name: string }[] };
  // Paid and given back at the processor before we look: both are told by one transaction.
  const ids = [];
  for (let i = 0; i < 3; i++) {
    const { id, processor_order_id } = await business.amana.payments.create(anOrder);
    await sandbox(running.system, "POST", `/sandbox/payments/${processor_order_id}/pay`, validCard);
    await sandbox(running.system, "POST", `/sandbox/payments/${processor_order_id}/refund`, {});
    expect(await jsonOf(there("payments", "refresh", id, "--json"))).toMatchObject({ status: "REFUNDED" });
    ids.push(id);
  }
  for (const who of [here, there])
    for (const id of ids)
      await eventually(async () => {
        const { entries } = await jsonOf<Shown>(who("payments", "show", id, "--json"));
        const told = entries.flatMap(({ kind, name }) => (kind === "event" ? [name] : []));
        expect(told).toEqual(["PAYMENT_COMPLETED", "PAYMENT_REFUNDED"]);
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
  const { code, out, err } = await here("payments", "show", String(id));
  expect({ code, err }).toEqual({
    code: 0,
    err: expect.stringMatching(/^There were more calls of the card processor.*\nThere may be more events or attempts.*\n$/),
  });
  expect(out.match(/processor call/g)).toHaveLength(200);
  expect(out).toMatch(/ event +PAYMENT_REFUNDED /);
});

test("applications are listed, shown without their secret link, and reviewed by operators only", async () => {
  const made = await business.call("POST", "/api/v1/kyc/applications", { external_id: "a-1" });
  const id = String(made.body["id"]);
  expect(await jsonOf(there("kyc", "list", "--external-id", "a-1", "--json"))).toMatchObject([{ id }]);
  const shown = await there("kyc", "show", id);
  expect(shown.out).toContain(id);
  expect(shown.out).not.toContain(String(made.body["link_url"]));
  const review = ["kyc", "review", id, "--outcome", "APPROVED", "--note", "seen", "--yes"];
  expect(await here(...review)).toMatchObject({ code: 1, err: expect.stringContaining("kyc_review_not_open") });
  expect(await there(...review)).toMatchObject({ code: 2, err: expect.stringContaining("This needs an operator's key") });
  for (const verb of ["approve", "decline"])
    expect(await here("onboarding", verb, uuidv7(), "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("not_found"),
    });
});

test("events, deliveries and endpoints are shown; what was missed is delivered again", async () => {
  const tested = await jsonOf(there("webhooks", "test", business.endpointId, "--json"));
  const id = String(tested["id"]);
  expect(await jsonOf(there("webhooks", "list", "--json"))).toMatchObject([{ id: business.endpointId }]);
  expect((await there("webhooks", "show", business.endpointId)).out).toMatch(/^status +ACTIVE$/m);
  await eventually(async () => expect((await there("events", "show", id)).out).toMatch(/delivery attempt +WEBHOOK_TEST +204/));
  expect(await jsonOf(there("events", "list", "--type", "WEBHOOK_TEST", "--json"))).toMatchObject([{ id }]);
  expect(await jsonOf(there("events", "redeliver", id, "--endpoint", business.endpointId, "--json"))).toHaveLength(1);
  const replay = ["deliveries", "replay", business.endpointId, "--since", "2020-01-01", "--types", "PAYMENT_REFUNDED"];
  expect(await jsonOf(there(...replay, "--statuses", "succeeded", "--json"))).toMatchObject({ status: "DONE" });
});

test("dead letters go by the API unless databases are spoken of, and each way refuses the other's options", async () => {
  expect((await here("dead-letters", "list")).out).toBe("No message is set aside.\n");
  expect((await here("dead-letters", "list", "--databases")).out).toBe("No message is set aside.\n");
  expect(await here("dead-letters", "show", uuidv7())).toMatchObject({ code: 1, err: expect.stringContaining("not_found") });
  expect(await jsonOf(here("dead-letters", "retry", "--all", "--json"))).toEqual([]);
  const drop = ["dead-letters", "drop", uuidv7(), "--reason", "r"];
  expect(await here(...drop)).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
  expect(await here(...drop, "--as", "amina")).toMatchObject({ code: 2, err: "--as goes with --databases.\n" });
  expect(await here(...drop, "--databases", "--key", "x")).toMatchObject({
    code: 2,
    err: "--key goes by the API, without --databases.\n",
  });
});

/** As `there`, by a way on which every answer but the first is lost. */
async function afterOneAnswer(...args: string[]): Promise<Ended> {
  let answered = 0;
  await using lossy = createServer(async ({ url = "", method = "", headers }, response) => {
    const target = new URL(url, running.system.gatewayUrl);
    const answer = await fetch(target, { method, headers: { authorization: headers.authorization ?? "" } });
    if (answered++ > 0) response.destroy();
    else response.writeHead(answer.status).end(await answer.text());
  }).listen(0, "127.0.0.1");
  await once(lossy, "listening");
  const url = `http://127.0.0.1:${(lossy.address() as AddressInfo).port}`;
  return await amanaWith({ ...settings(), AMANA_URL: url }, ...args);
}

test("what was done before a call went unanswered is shown", async () => {
  const ids = [];
  for (const name of ["one", "two"])
    ids.push(String((await jsonOf(there("api-keys", "create", "--name", name, "--json")))["id"]));
  const { code, out, err } = await afterOneAnswer("api-keys", "revoke", ...ids, "--yes");
  expect(out).toMatch(new RegExp(`^ID +OUTCOME\n${ids[0]} +REVOKED\n$`));
  expect({ code, err }).toEqual({ code: 5, err: expect.stringMatching(/It may have been done.*amana api-keys list\n$/) });
});

test("a payment is shown to its business also when nobody answers for its events", async () => {
  const { id } = await aPaidPayment(running.system, business);
  const { code, out, err } = await afterOneAnswer("payments", "show", id);
  expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^Events and deliveries could not be read.*\n$/) });
  expect(out).toMatch(/ payment +PAID\n/);
});

test("what cannot work is refused before a call, naming the option, and no key is ever printed", async () => {
  const stranger = "https://elsewhere.example";
  const half = await mkdtemp(join(dir, "half-"));
  await writeFile(join(half, "dev.json"), `{"business":{"api_key":"${business.key}`);
  // Told whole where and as whom, it reads nothing of this machine.
  expect(await amanaWith({ ...settings(), AMANA_DIR: half }, "payments", "list")).toMatchObject({ code: 0 });
  const cases: [number, string, Promise<Ended>][] = [
    [2, "start one here", amanaWith({}, "payments", "list")],
    // The keys of the system that runs here go nowhere else.
    [2, "This needs a business's key", amanaWith({ AMANA_DIR: dir, AMANA_URL: stranger }, "payments", "list")],
    [2, "Copy it whole", here("payments", "list", "--key", business.key.slice(0, -1))],
    [2, "not both", here("payments", "list", "--key", business.key, "--key-file", "x")],
    [2, "--key-file cannot be read: ENOENT", here("payments", "list", "--key-file", join(dir, "none"))],
    [2, "without a key in it", here("payments", "list", "--url", `http://x:${business.key}@127.0.0.1/`)],
    [2, "dev.json cannot be read", amanaWith({ AMANA_DIR: half }, "payments", "list")],
    // The key would go in clear.
    [2, "Give its https:// address", amanaWith({ ...settings(), AMANA_URL: "http://elsewhere.example" }, "payments", "list")],
    [3, "gave no answer", amanaWith({ ...settings(), AMANA_URL: "http://0.0.0.0:1" }, "payments", "list", "--allow-http")],
    [2, "must not be empty", there("payments", "list", "--order-ref", "")],
    [2, "must not be empty", here("dead-letters", "retry", "--all", "--topic", " ")],
    [2, "argument 'id'", there("payments", "show", "nope")],
    [2, "--status", there("payments", "list", "--status", "NOPE")],
    [2, "--amount", there("payments", "refund", uuidv7(), "--amount", "1,5")],
    [2, "--from", there("payments", "list", "--from", "yesterday")],
    [2, "--from", there("payments", "list", "--from", "2026-02-31")],
    [2, "--limit", there("payments", "list", "--limit", "2.5")],
    [2, "--limit", there("payments", "list", "--limit", "0x10")],
    [2, "unknown command 'constructor'", there("constructor")],
    // Behind it all words are arguments, and none is an option.
    [2, "argument 'id'", there("payments", "show", "--", "--json")],
    [3, "gave no answer", amanaWith({ ...settings(), AMANA_URL: "http://127.0.0.1:1" }, "payments", "list")],
    [1, "not_found", there("payments", "show", uuidv7())],
  ];
  for (const [code, words, ended] of cases) {
    const { err, out, code: was } = await ended;
    expect({ was, out, err }).toMatchObject({ was: code, out: "", err: expect.stringContaining(words) });
    expect(err).not.toContain(business.key.slice(12));
  }
});

test("names drive no terminal, a narrow one gets what fits, and a reader who has seen enough ends it", async () => {
  const hostile = await jsonOf(
    here(
      "businesses",
      "create",
      "--name",
      `a\u202eb 漢字漢字 e${"\u0301".repeat(90)} \u{20000}\u{20001} and so on and on and on`,
      "--json",
    ),
  );
  for (const COLUMNS of ["60", "200"]) {
    const { out } = await amanaWith({ AMANA_DIR: dir, COLUMNS }, "businesses", "list");
    expect(out).toContain(hostile["id"]);
    expect(out).not.toMatch(/[^\P{C}\n]/u);
    expect(out).not.toMatch(/\p{M}{5}/u);
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(Number(COLUMNS));
  }
  const asked = await here("businesses", "disable", String(hostile["id"]));
  expect(asked.err).toContain('"a?b 漢字漢字');
  expect(asked.err).not.toMatch(/[^\P{C}\n]/u);
  const child = start({ AMANA_DIR: dir }, "payments", "--help");
  child.stdout?.destroy();
  const errors = buffer(child.stderr as NodeJS.ReadableStream);
  expect(await exitOf(child)).toBe(0);
  expect((await errors).toString()).toBe("");
});

const entry = join(import.meta.dirname, "..", "src", "amana.ts");
const exitOf = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once("exit", resolve));

function start(env: Record<string, string>, ...args: string[]): ChildProcess {
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  const child = spawn(process.execPath, [entry, ...args], { env: { PATH, NODE_COMPILE_CACHE, ...env } });
  stack.defer(() => void child.kill("SIGKILL"));
  return child;
}

/** A receiver of somebody who builds on the API, on this machine. */
async function aLocalReceiver() {
  const got: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  let status = 204;
  const server = createServer(async (request, response) => {
    got.push({ headers: request.headers, body: await buffer(request) });
    response.writeHead(status, { "retry-after": "1" }).end("seen");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stack.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, port, got, answer: (code: number) => (status = code) };
}

/** `amana webhooks listen`, and what it has printed for programs. */
const listening = (...args: string[]) => listeningAs(settings(), ...args);

async function listeningAs(env: Record<string, string>, ...args: string[]) {
  const child = start(env, "webhooks", "listen", "--json", ...args);
  const lines: Record<string, unknown>[] = [];
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => lines.push(JSON.parse(line)));
  let errors = "";
  child.stderr?.on("data", (part: Buffer) => (errors += part.toString()));
  await eventually(() => expect(lines[0], errors).toHaveProperty("listening"));
  const told = lines[0]?.["listening"] as Record<"endpoint_id" | "secret" | "url", string> | undefined;
  return { child, lines, secret: told?.secret ?? "", url: told?.url ?? "", endpointId: told?.endpoint_id, errors: () => errors };
}

const endpointIds = async () =>
  (JSON.parse((await business.call("GET", "/api/v1/webhook-endpoints")).text) as { id: string }[]).map(({ id }) => id);

test("listen forwards byte for byte with the signatures, passes the answer on, and is gone after Ctrl-C or a crash", async () => {
  const receiver = await aLocalReceiver();
  const short = await jsonOf<{ id: string; api_key: string }>(there("api-keys", "create", "--name", "short", "--json"));
  const { AMANA_URL } = settings();
  const cutOff = await listeningAs({ AMANA_URL, AMANA_KEY: short.api_key }, "--skip-forward");
  const cutOffEnds = exitOf(cutOff.child);
  await jsonOf(there("api-keys", "revoke", short.id, "--yes", "--json"));
  const first = await listening("--forward-to", receiver.url, "--events", "PAYMENT_COMPLETED", "--print");
  const paid = await aPaidPayment(running.system, business);
  await eventually(() => expect(first.lines).toHaveLength(2));
  const [delivery] = receiver.got;
  const webhook = verifyWebhook(delivery?.headers ?? {}, delivery?.body ?? "", { secrets: [first.secret] });
  expect(delivery?.headers.host).toBe(`127.0.0.1:${receiver.port}`);
  expect(first.lines[1]).toMatchObject({
    ...{ type: "PAYMENT_COMPLETED", id: webhook.id, about: paid.id, status: 204, ms: expect.any(Number), body: webhook.body },
  });

  receiver.answer(500);
  await business.call("POST", `/api/v1/webhook-endpoints/${first.endpointId}/test`);
  await eventually(() => expect(first.lines.filter(({ status }) => status === 500).length).toBeGreaterThan(1));
  receiver.answer(204);
  await eventually(() => expect(first.lines.at(-1)).toMatchObject({ type: "WEBHOOK_TEST", status: 204 }));

  expect(await cutOffEnds).toBe(1);
  expect(cutOff.errors()).toMatch(/could not be removed \(401 api_key_revoked.*The next start does/);
  expect(cutOff.errors()).toContain(`"code":"api_key_revoked"`);

  const other = await listening("--skip-forward");
  expect(other.errors()).toContain(`Removed the endpoint ${cutOff.endpointId}`);
  expect(await endpointIds()).toEqual(expect.arrayContaining([first.endpointId, other.endpointId]));
  first.child.kill("SIGKILL");
  await exitOf(first.child);
  const next = await listening("--forward-to", "http://127.0.0.1:1/");
  expect(next.errors()).toContain(`Removed the endpoint ${first.endpointId}`);
  expect(await endpointIds()).toEqual([next.endpointId, other.endpointId, business.endpointId]);
  await business.call("POST", `/api/v1/webhook-endpoints/${next.endpointId}/test`);
  await eventually(() => expect(next.lines[1]).toMatchObject({ status: 502, error: "no answer (ECONNREFUSED)" }));

  // What nobody has signed is not forwarded, nor shown as an event.
  expect((await fetch(next.url, { method: "POST", body: "{}" })).status).toBe(401);
  expect((await fetch(new URL("/", next.url), { method: "POST", body: "{}" })).status).toBe(404);

  for (const { child } of [next, other]) {
    child.kill("SIGINT");
    expect(await exitOf(child)).toBe(0);
  }
  expect(await endpointIds()).toEqual([business.endpointId]);
});

test("listen says in words that a deployment with public addresses only cannot reach this machine", async () => {
  const { webhooks } = running.system.services;
  const { id } = await aPaidPayment(running.system, business);
  await webhooks.stop();
  // Whoever looks for a payment is told of it all the same.
  for (const who of [here, there]) {
    const { code, out, err } = await who("payments", "show", id);
    expect({ who: who.name, code, err }).toEqual({
      who: who.name,
      code: 1,
      err: expect.stringMatching(/^Events and deliveries could not be read.*$/m),
    });
    expect(out).toMatch(/ payment +PAID\n/);
  }
  expect(await there("webhooks", "listen", "--skip-forward", "--timeout", "2")).toMatchObject({ code: 3, out: "" });
  await webhooks.start({ ALLOW_INSECURE_WEBHOOKS: "false" });
  await running.system.ready();
  const refused = await there("webhooks", "listen", "--skip-forward");
  expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining("cannot reach this machine") });
});
