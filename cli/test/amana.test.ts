import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ActionRecordedSchema } from "@amana/contracts/identity/v1/audit_events_pb";
import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { transaction } from "@amana/database";
import { execAmana } from "@amana/e2e/run-amana";
import { addToOutbox, consume, createTransport, type Effect, type Message } from "@amana/messaging";
import { repair as payments } from "@amana/payments/repair";
import { createLogger, uuidv7 } from "@amana/runtime";
import { createTestDatabase, eventually, startTestServer, type TestDatabase, testEventKeys } from "@amana/testing";
import { repair as webhooks } from "@amana/webhooks/repair";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { serviceDescriptions } from "../src/database/service-descriptions.ts";

const logger = createLogger("test", "silent");
let stack: AsyncDisposableStack;
let db: TestDatabase;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  db = stack.use(await createTestDatabase("webhooks", webhooks.database));
});
afterEach(() => stack.disposeAsync());

const amana = (...args: string[]) => execAmana({ WEBHOOKS_DATABASE_URL: db.url }, ...args);

/** Runs the command on the database of webhooks and returns the printed JSON. */
async function jsonOf<T>(...args: string[]): Promise<T> {
  const { out, err } = await amana(...args, "--service", "webhooks", "--json");
  if (out === "") throw new Error(err);
  return JSON.parse(out) as T;
}

type DeadLetters = { id: string; key: string; status: string; reason: string; payload?: unknown }[];
const listDeadLetters = () => jsonOf<DeadLetters>("dead-letters", "list");
const sql = async <Row>(text: string, values: unknown[] = []) => await db.orm.em.fork().execute<Row[]>(text, values);

/** Ids of the messages that the test consumer processed, in order. */
let processedIds: string[];
/** The test consumer fails to process messages with these keys. */
let failingKeys: Set<string>;

/** Starts a consumer of payments.v1. `deliver` publishes messages to it. */
async function aConsumer() {
  processedIds = [];
  failingKeys = new Set();
  const effect: Effect = async (_em, messages) => {
    for (const { key } of messages) if (failingKeys.has(key)) throw new Error("handler failed");
    processedIds.push(...messages.map(({ headers }) => headers["ce_id"] ?? ""));
  };
  const openTransport = (subscribers: Record<string, string[]>) =>
    createTransport({ kind: "direct", subscribers, keys: testEventKeys("payments.v1") }, { clientId: "test", logger });
  const transport = stack.use(await openTransport({}));
  const topicHandler = { topic: "payments.v1", consumer: "webhooks", schema: PaymentEventSchema, effect };
  const runningConsumer = stack.use(await consume(topicHandler, { orm: db.orm, transport, logger, retrySeconds: [0.01, 0.01] }));
  const { url } = stack.use(await startTestServer([...transport.services]));
  const publisher = stack.use(await openTransport({ "payments.v1": [url] }));
  return {
    stop: () => runningConsumer[Symbol.asyncDispose](),
    deliver: (...messages: Message[]) => publisher.publish("payments.v1", messages),
  };
}

const aMessage = (key: string): Message => ({
  key,
  payload: toBinary(
    PaymentEventSchema,
    create(PaymentEventSchema, {
      type: PaymentEventType.PAYMENT_COMPLETED,
      payment: { id: key, businessId: uuidv7(), description: "a secret wish" },
    }),
  ),
  headers: { ce_id: uuidv7(), ce_type: "payments.v1.PaymentCompleted", ce_time: new Date().toISOString() },
});

/** Delivers a message whose effect fails until the consumer sets the status PARKED. */
async function aParkedDeadLetter(deliver: (...messages: Message[]) => Promise<unknown>, key = uuidv7()) {
  failingKeys.add(key);
  const message = aMessage(key);
  await deliver(message);
  const id = await eventually(async () => {
    const [row] = await sql<{ id: string; status: string }>("select id, status from dead_letter where event_id = ?", [
      message.headers["ce_id"],
    ]);
    expect(row?.status).toBe("PARKED");
    return row?.id ?? "";
  });
  return { id, key, eventId: message.headers["ce_id"] ?? "" };
}

async function auditTrail() {
  const rows = await sql<{ payload: Buffer }>("select payload from outbox where topic = 'audit.v1' order by id");
  return rows.map(({ payload }) => fromBinary(ActionRecordedSchema, payload));
}

test("`amana dead-letters show` prints no free text of a message, and concurrent retries by two operators process the message once", async () => {
  const { deliver } = await aConsumer();
  const { id, key, eventId } = await aParkedDeadLetter(deliver);
  expect(await listDeadLetters()).toMatchObject([
    { id, key, status: "PARKED", reason: expect.stringContaining("handler failed") },
  ]);
  const shownOutput = await amana("dead-letters", "show", id, "--service", "webhooks");
  expect(shownOutput.out).toContain("PAYMENT_COMPLETED");
  expect(shownOutput.out).not.toContain("secret wish");

  expect(await jsonOf("dead-letters", "retry", id, "--as", "amina")).toMatchObject([
    { id, outcome: expect.stringContaining("failed again: Error: handler failed") },
  ]);
  failingKeys.clear();
  const [first, second] = await Promise.all(
    ["amina", "yanis"].map((as) => jsonOf("dead-letters", "retry", id, "--as", as, "--wait", "20")),
  );
  expect([first, second]).toMatchObject([[{ outcome: "DELIVERED" }], [{ outcome: "DELIVERED" }]]);
  expect(processedIds.filter((id) => id === eventId)).toEqual([eventId]);
  const trail = await auditTrail();
  expect(trail.length).toBeGreaterThanOrEqual(2);
  for (const action of trail) expect(action).toMatchObject({ action: "dead_letter.retried", entityId: id });
  expect(trail[0]).toMatchObject({ actor: "command:amina", before: { fields: { status: "PARKED", service: "webhooks" } } });
});

test("`amana dead-letters retry`, run while the consumer is stopped, makes the consumer process the message after its next start", async () => {
  const { deliver, stop } = await aConsumer();
  const { id, eventId } = await aParkedDeadLetter(deliver);
  await stop();
  failingKeys.clear();
  expect(await jsonOf("dead-letters", "retry", id, "--wait", "0")).toMatchObject([
    { outcome: expect.stringContaining("when the service runs") },
  ]);
  await aConsumer();
  await eventually(() => expect(processedIds).toContain(eventId));
});

test("`amana dead-letters drop` requires a reason, and inserts one audit row when two operators drop the same message", async () => {
  const { deliver } = await aConsumer();
  const { id, eventId } = await aParkedDeadLetter(deliver);
  const withoutReason = await amana("dead-letters", "drop", id, "--service", "webhooks");
  expect(withoutReason).toMatchObject({ code: 2, err: expect.stringContaining("--reason") });
  await Promise.all(["a", "b"].map((as) => jsonOf("dead-letters", "drop", id, "--reason", "sent in error", "--as", as)));
  expect(await auditTrail()).toMatchObject([{ action: "dead_letter.dropped", entityId: id, reason: "sent in error" }]);
  expect(await sql("select 1 from inbox where event_id = ?", [eventId])).toHaveLength(1);
  expect(await jsonOf("dead-letters", "retry", id)).toMatchObject([{ outcome: expect.stringContaining("DROPPED") }]);
});

test("`amana stuck` exits with code 4 if work is overdue, `amana migrate status` exits with code 4 if a migration is missing, and both list what they found", async () => {
  expect(await amana("stuck", "--service", "webhooks")).toMatchObject({
    code: 0,
    out: expect.stringContaining("No overdue work"),
  });
  await sql(`insert into delivery (id, business_id, event_id, endpoint_id, status, next_attempt_at)
    select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'PENDING', now() - interval '1 hour'`);
  const stuck = await amana("stuck", "--service", "webhooks");
  expect(stuck).toMatchObject({ code: 4, out: expect.stringContaining("deliveries that are due and not attempted") });
  expect(await amana("migrate", "status", "--service", "webhooks")).toMatchObject({ code: 0 });
  await sql("delete from mikro_orm_migrations where name = '0008-endpoint-check'");
  expect(await amana("migrate", "status", "--service", "webhooks")).toMatchObject({
    code: 4,
    out: expect.stringContaining("0008"),
  });
  expect(await jsonOf("stuck")).toMatchObject([{ what: "missing migrations", ids: ["0008-endpoint-check"] }]);
});

test("`amana stuck` runs without SQL errors on the schema of each service", async () => {
  for (const [name, load] of Object.entries(serviceDescriptions)) {
    const { repair } = await load();
    await using serviceDb = await createTestDatabase(name, repair.database);
    const env = { [`${name.toUpperCase()}_DATABASE_URL`]: serviceDb.url };
    expect(await execAmana(env, "stuck", "--service", name)).toMatchObject({ code: 0, err: "" });
  }
});

test("`amana outbox republish` adds events to the outbox again, selects events by time range or id and all events by default, adds one audit row per command, and rejects another service's topic", async () => {
  await using serviceDb = await createTestDatabase("payments", payments.database);
  const emit = (key: string) =>
    transaction(serviceDb.orm, async (em) =>
      addToOutbox(em, {
        topic: "payments.v1",
        key,
        type: "t",
        source: "payments",
        payload: Buffer.from(key),
        occurredAt: new Date(),
      }),
    );
  const ids = [await emit("a"), await emit("b"), await emit("c")];
  const env = { PAYMENTS_DATABASE_URL: serviceDb.url };
  const run = (...args: string[]) => execAmana(env, "outbox", "republish", "--service", "payments", "--json", ...args);
  const byId = await run("--topic", "payments.v1", "--ids", ids[1] ?? "", "--reason", "lost in Kafka");
  expect(JSON.parse(byId.out)).toMatchObject([{ service: "payments", events: 1 }]);
  expect(JSON.parse((await run("--topic", "payments.v1", "--to", "2020-01-01T00:00Z")).out)).toMatchObject([{ events: 0 }]);
  expect(JSON.parse((await run("--topic", "payments.v1", "--from", "2020-01-01T00:00Z")).out)).toMatchObject([{ events: 4 }]);
  expect(JSON.parse((await run("--topic", "payments.v1")).out)).toMatchObject([{ events: 8 }]);
  const rows = await serviceDb.orm.em
    .fork()
    .execute<{ id: string }[]>("select headers ->> 'ce_id' as id from outbox where topic = 'payments.v1' order by outbox.id");
  const afterByTime = [...ids, ids[1], ...ids, ids[1]];
  expect(rows.map(({ id }) => id)).toEqual([...afterByTime, ...afterByTime]);
  const trail = await serviceDb.orm.em.fork().execute<object[]>("select 1 from outbox where topic = 'audit.v1'");
  expect(trail).toHaveLength(4);
  expect(await run("--topic", "kyc.v1")).toMatchObject({ code: 1 });
  expect(await run("--topic", "payments.v1", "--ids", ids[1] ?? "", "--to", "2020-01-01T00:00Z")).toMatchObject({ code: 2 });
});

test("`amana refunds hold` starts a refund hold, `amana refunds release` ends the hold, and each command adds an audit row", async () => {
  await using serviceDb = await createTestDatabase("payments", payments.database);
  const env = { PAYMENTS_DATABASE_URL: serviceDb.url };
  const run = (...args: string[]) => execAmana(env, "refunds", ...args, "--as", "amina");
  const em = () => serviceDb.orm.em.fork();
  expect(await run("release", "--reason", "r")).toMatchObject({ code: 1, err: expect.stringContaining("no refund hold exists") });
  expect(await run("hold", "--reason", "a disk's snapshot")).toMatchObject({ code: 0 });
  expect(await em().execute("select 1 from refund_hold where held_until > now() + interval '24 minutes'")).toHaveLength(1);
  expect(await execAmana(env, "stuck", "--service", "payments")).toMatchObject({ code: 4, out: expect.stringContaining("held") });
  expect(await run("release", "--reason", "nothing was lost")).toMatchObject({ code: 0 });
  expect(await em().execute("select 1 from refund_hold where held_until is null")).toHaveLength(1);
  const rows = await em().execute<{ payload: Buffer }[]>("select payload from outbox where topic = 'audit.v1' order by id");
  expect(rows.map(({ payload }) => fromBinary(ActionRecordedSchema, payload))).toMatchObject([
    { actor: "command:amina", action: "refunds.held", reason: "a disk's snapshot" },
    { actor: "command:amina", action: "refunds.released", reason: "nothing was lost" },
  ]);
});

test("`amana dead-letters` prints the control characters of a message only with --json, and then escaped", async () => {
  const hostileText = "turned \u202e round\u2028\u009b31m\nstatus          DELIVERED";
  const id = uuidv7();
  await sql(
    `insert into dead_letter (id, consumer, topic, key, event_type, payload, headers, status, reason)
     overriding system value values (?, 'webhooks', 'payments.v1', ?, ?, '', '{}', 'FORGED', ?)`,
    [id, hostileText, hostileText, hostileText],
  );
  const [list, show, json] = await Promise.all([
    amana("dead-letters", "list", "--service", "webhooks"),
    amana("dead-letters", "show", id, "--service", "webhooks"),
    amana("dead-letters", "show", id, "--service", "webhooks", "--json"),
  ]);
  for (const { out } of [list, show, json]) {
    expect(out).toContain("turned");
    expect(out).not.toMatch(/[^\P{Cc}\n]|[\p{Cf}\u2028]/u);
    expect(out).not.toMatch(/^status +DELIVERED/m);
  }
  expect(JSON.parse(json.out)).toMatchObject({ key: hostileText, event_type: hostileText, reason: hostileText });
});

test.each([
  ["dead-letters", "retry", uuidv7(), "--wait", "soon"],
  ["dead-letters", "retry", uuidv7(), "--wait", "Infinity"],
  ["dead-letters", "list", "--limit", ""],
  ["refunds", "hold", "--reason", "r", "--minutes", "1e99"],
])("`amana %s %s` exits with code 2 if a numeric option is invalid or out of range", async (...args) => {
  expect(await amana(...args)).toMatchObject({ code: 2, err: expect.stringContaining("It must be a number from") });
});

test("`amana` reads the database password from a setting or a file, and never prints the password", async () => {
  const url = new URL(db.url);
  const password = url.password;
  url.password = "";
  const dir = await mkdtemp(join(tmpdir(), "amana-password-"));
  stack.defer(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, "password"), password);
  const settings = {
    WEBHOOKS_DATABASE_PASSWORD: { WEBHOOKS_DATABASE_URL: url.href, WEBHOOKS_DATABASE_PASSWORD: password },
    DATABASE_PASSWORD_FILE: { DATABASE_URL: url.href, DATABASE_PASSWORD_FILE: join(dir, "password") },
  };
  for (const [name, env] of Object.entries(settings))
    expect(await execAmana(env, "stuck", "--service", "webhooks"), name).toMatchObject({ code: 0, err: "" });
  const twoPasswords = await execAmana({ DATABASE_URL: db.url, DATABASE_PASSWORD: "hidden" }, "stuck", "--service", "webhooks");
  expect(twoPasswords).toMatchObject({ code: 1, err: expect.stringContaining("remove one of them") });
  for (const secret of ["hidden", password]) expect(twoPasswords.err).not.toContain(secret);
});

test("`amana api-keys revoke --databases` revokes business and operator keys, and adds one audit row with the actor for each revoked key", async () => {
  const description = (await import("@amana/identity/repair")).repair;
  await using serviceDb = await createTestDatabase("identity", description.database);
  const sql = (text: string, values: unknown[] = []) => serviceDb.orm.em.fork().execute<object[]>(text, values);
  const [business, key, operatorKey] = [uuidv7(), uuidv7(), uuidv7()];
  await sql("insert into business (id, name, status, created_at, updated_at) values (?, 'b', 'ACTIVE', now(), now())", [
    business,
  ]);
  await sql(
    "insert into api_key (id, business_id, name, prefix, hash, created_at) values (?, ?, 'till', 'sk_test_12345678', sha256('x'), now())",
    [key, business],
  );
  await sql(
    "insert into admin_key (id, name, prefix, hash, created_at) values (?, 'amina', 'ak_1234567890123', sha256('y'), now())",
    [operatorKey],
  );
  const revoke = (...ids: string[]) =>
    execAmana(
      { IDENTITY_DATABASE_URL: serviceDb.url },
      "api-keys",
      "revoke",
      ...ids,
      "--databases",
      "--reason",
      "as before",
      "--as",
      "amina",
    );
  expect(await revoke(key)).toMatchObject({ code: 0, out: expect.stringMatching(new RegExp(`${key} +REVOKED`)) });
  expect(await revoke(operatorKey)).toMatchObject({ code: 0, out: expect.stringMatching(new RegExp(`${operatorKey} +REVOKED`)) });
  expect(await sql("select 1 from api_key where revoked_at is null")).toEqual([]);
  expect(await sql("select 1 from admin_key where revoked_at is null")).toEqual([]);
  expect(await revoke(key)).toMatchObject({ code: 0, out: expect.stringContaining("already revoked") });
  expect(await revoke(business)).toMatchObject({ code: 1, out: expect.stringContaining("not found") });
  expect(await sql("select actor, action, entity_id, business_id, reason from audit_event order by at, id")).toEqual([
    { actor: "command:amina", action: "api_key.revoked", entity_id: key, business_id: business, reason: "as before" },
    { actor: "command:amina", action: "admin_key.revoked", entity_id: operatorKey, business_id: null, reason: "as before" },
  ]);
});

test("`amana stuck` exits with code 3 when some or all databases are unreachable, and prints no password", async () => {
  const unreachable = "postgres://amana:wrong-secret@127.0.0.1:9/none";
  const others = Object.fromEntries(
    ["CLIENTS", "IDENTITY", "KYC", "PAYMENTS"].map((name) => [`${name}_DATABASE_URL`, unreachable]),
  );
  const oneReachable = await execAmana({ WEBHOOKS_DATABASE_URL: db.url, ...others }, "stuck");
  expect(oneReachable).toMatchObject({ code: 3, out: expect.stringContaining("No overdue work") });
  const noneReachable = await execAmana({ DATABASE_URL: unreachable }, "stuck", "--service", "payments");
  expect(noneReachable).toMatchObject({ code: 3, out: "" });
  for (const text of [oneReachable.err, noneReachable.err]) expect(text).not.toContain("wrong-secret");
});
