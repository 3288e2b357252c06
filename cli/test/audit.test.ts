import { createHash, generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Finding, type Head, headColumns, leafOf, linkHash, rowOf, signHead, verifyBundle } from "@amana/audit-chain";
import { transaction } from "@amana/database";
import { execAmana } from "@amana/e2e/run-amana";
import { repair as identity } from "@amana/identity/repair";
import { createLogger, uuidv7 } from "@amana/runtime";
import { startTestProcess } from "@amana/service-host/testing";
import { createTestDatabase, eventually, type TestDatabase } from "@amana/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { auditAction } from "../../services/identity/src/audit/audit-event.ts";
import { sealRows } from "../../services/identity/src/audit/seal-rows.ts";
import { verifyTrail } from "../src/database/audit/verify-trail.ts";

const logger = createLogger("test", "silent");
const aKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return { id: "k", privateKey, publicKey: publicKey.export({ format: "der", type: "spki" }).toString("base64") };
};
const key = aKey();

let db: TestDatabase;
/**
 * Ids of nine sealed rows. Each batch of three contains one row of each of two businesses and one
 * row without a business.
 */
let ids: string[];
beforeEach(async () => {
  db = await createTestDatabase("identity", identity.database);
  const businesses = [uuidv7(), uuidv7(), undefined];
  ids = [];
  // The ids differ by a millisecond, because rows are sealed in the order of their ids.
  const nowMs = Date.now();
  for (let i = 0; i < 9; i++) {
    ids.push(await recordAction(businesses[i % 3], uuidv7(nowMs + i)));
    if (i % 3 === 2) await seal();
  }
  while ((await seal()).sealed > 0);
});
afterEach(() => db[Symbol.asyncDispose]());

async function recordAction(businessId?: string, id = uuidv7()): Promise<string> {
  const by = { actor: "ak_test", requestId: "r", address: "192.0.2.7" };
  const action = {
    by,
    action: "business.updated",
    entity: { type: "business", id: uuidv7() },
    businessId,
    before: { a: null },
    after: { a: "1" },
  };
  await transaction(db.orm, async (em) => auditAction(em, new Date(), action, id));
  return id;
}
const seal = (auditSigningKey = key) => sealRows({ orm: db.orm, logger, auditSigningKey });
const sql = async <Row>(text: string, values: unknown[] = []) => await db.orm.em.fork().execute<Row[]>(text, values);
const heads = () => sql<Head>(`select ${headColumns} from audit_head order by day, links`);

/** Runs statements as the owner of the database, without triggers and with all grants. */
async function tamper(...statements: string[]): Promise<void> {
  const tables = ["audit_event", "audit_link", "audit_head", "audit_unsealed"];
  for (const table of tables) {
    await sql(`alter table ${table} disable trigger user`);
    await sql(`grant all on ${table} to current_user`);
  }
  for (const statement of statements) await sql(statement);
  for (const table of tables) await sql(`alter table ${table} enable trigger user`);
}

interface Options {
  readonly trusted?: Set<string>;
  readonly kept?: Head[];
  readonly from?: string;
  readonly to?: string;
}

async function verify(options: Options = {}): Promise<Finding[]> {
  const foundProblems: Finding[] = [];
  const { trusted, kept = [], from, to } = { trusted: new Set([key.publicKey]), ...options };
  await verifyTrail(db.orm, {
    trustedKeys: trusted,
    keptHeads: kept,
    from,
    to,
    report: (finding) => foundProblems.push(finding),
    progress: () => {},
  });
  return foundProblems;
}
const problemCodes = async (options = {}) => [...new Set((await verify(options)).map(({ problem }) => problem))].sort();

test("verifyTrail reports no problem for an unchanged trail that contains all separately stored heads", async () => {
  expect(await verify({ kept: await heads() })).toEqual([]);
});

test("verifyTrail reports row_changed for each row in which a column was changed", async () => {
  const columns = ["actor", "actor_name", "action", "entity_type", "request_id", "address", "reason"];
  for (const [i, column] of columns.entries()) await tamper(`update audit_event set ${column} = 'other' where id = '${ids[i]}'`);
  await tamper(
    `update audit_event set before = '{}' where id = '${ids[7]}'`,
    `update audit_event set at = at - interval '1 ms' where id = '${ids[8]}'`,
  );
  const foundProblems = await verify();
  expect(foundProblems.map(({ problem, id, number, day }) => [problem, id, number, day])).toEqual(
    ids.map((id, i) => ["row_changed", id, i + 1, expect.any(String)]),
  );
});

test("verifyTrail reports row_deleted for a row that was deleted before or after it was sealed", async () => {
  await tamper(`delete from audit_event where id = '${ids[4]}'`);
  expect(await verify()).toMatchObject([{ problem: "row_deleted", id: ids[4], number: 5 }]);
  const unsealed = await recordAction();
  await tamper(`delete from audit_event where id = '${unsealed}'`);
  await seal();
  expect(await verify()).toMatchObject([{ id: ids[4] }, { problem: "row_deleted", id: unsealed }]);
});

test("sealRows leaves no links if its process is killed before the commit, and other processes later seal the same rows", async () => {
  for (let i = 0; i < 5; i++) await recordAction();
  const settings = { DATABASE_URL: db.url, KEY_MODE: "test" };
  {
    await using killed = await startTestProcess("identity", { ...settings, FAULT_POINT: "audit.linked" });
    expect(await killed.exited).toEqual([null, "SIGKILL"]);
  }
  expect(await sql("select from audit_link")).toHaveLength(ids.length);
  // Two service processes and the test process seal concurrently.
  await using _first = await startTestProcess("identity", settings);
  await using _second = await startTestProcess("identity", settings);
  for (let i = 0; i < 20; i++) await Promise.all([recordAction(), recordAction(), seal()]);
  await eventually(async () => expect(await sql("select from audit_unsealed")).toEqual([]));
  expect(await sql("select from audit_link")).toHaveLength(ids.length + 45);
  expect(await verify({ trusted: undefined })).toEqual([]);
});

test("verifyTrail reports row_deleted for a deleted row whose link was changed to an old event id", async () => {
  await tamper(
    `delete from audit_event where id = '${ids[4]}'`,
    `update audit_link set event_id = '00000000-0000-7000-8000-000000000001' where event_id = '${ids[4]}'`,
  );
  expect(await problemCodes()).toEqual(["row_deleted"]);
});

test.each([0, -1, 9])("verifyTrail reports links_missing for an added row whose link has the number %i", async (number) => {
  const id = uuidv7();
  await tamper(
    `insert into audit_event (id, at, actor, action, entity_type, entity_id, request_id, address)
     values ('${id}', now(), 'ak', 'a.b', 'a', uuidv7(), 'r', 'a')`,
    "delete from audit_unsealed",
    `insert into audit_link (day, number, event_id, leaf, hash)
     select day, ${number}, '${id}', leaf, hash from audit_link where number = 9`,
  );
  expect(await problemCodes()).toContain("links_missing");
});

test("verifyTrail reports row_past_chain for a new row whose entry in audit_unsealed was deleted, even while identity still seals older rows", async () => {
  await tamper("insert into audit_sweep values ('00000000-0000-0000-0000-000000000000')");
  await recordAction();
  await tamper("delete from audit_unsealed");
  expect(await problemCodes()).toEqual(["row_past_chain"]);
});

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Runs `work` while the clock of identity is `ms` ahead of the clock of this machine. */
async function withClockAhead<T>(ms: number, work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

/**
 * Inserts a row as the database's owner. The trigger queues it, and identity seals it three days
 * after the chain began.
 */
const insertThroughTrigger = (at: number | "infinity", entity: string) =>
  withClockAhead(72 * hourMs, async () => {
    const id = uuidv7();
    await sql(
      `insert into audit_event (id, at, actor, action, entity_type, entity_id, request_id, address)
       values (?, ?, 'ak', 'a.b', ?, uuidv7(), 'r', 'a')`,
      [id, at === "infinity" ? at : new Date(Date.now() + at).toISOString(), entity],
    );
    while ((await seal()).sealed > 0);
    return id;
  });

test.each<[problem: string, time: string, entity: string, at: number | "infinity"]>([
  ["row_sealed_late", "11 minutes ago", "api_key", -11 * minuteMs],
  ["row_sealed_late", "25 hours ago", "refund", -25 * hourMs],
  ["row_sealed_early", "in 11 minutes", "refund", 11 * minuteMs],
  ["row_sealed_late", "infinity", "refund", "infinity"],
])("verifyTrail reports %s for an inserted row with the time '%s' and the entity type %s", async (problem, _time, entity, at) => {
  const id = await insertThroughTrigger(at, entity);
  expect(await verify()).toMatchObject([{ problem, id, number: 10 }]);
});

// These times are within the tolerance for late events and clock differences.
test.each([
  ["9 minutes ago", "api_key", -9 * minuteMs],
  ["23 hours ago", "refund", -23 * hourMs],
  ["in 9 minutes", "refund", 9 * minuteMs],
] as const)("verifyTrail accepts an inserted row with the time '%s' and the entity type %s", async (_time, entity, at) => {
  await insertThroughTrigger(at, entity);
  expect(await verify()).toEqual([]);
});

test("verifyTrail reports row_sealed_late for a row that is older than the chain and was sealed more than a day after the chain began", async () => {
  await insertThroughTrigger(-1000 * hourMs, "api_key");
  expect(await problemCodes()).toEqual(["row_sealed_late"]);
  // Starts a new chain. In this chain, identity seals the same row immediately.
  await tamper(
    "delete from audit_head",
    "delete from audit_link",
    "insert into audit_unsealed (event_id) select id from audit_event",
  );
  while ((await seal()).sealed > 0);
  expect(await verify()).toEqual([]);
});

test("verifyTrail reports row_sealed_late for a row that was sealed more than a day after its insertion", async () => {
  const id = await recordAction();
  await withClockAhead(25 * hourMs, async () => {
    while ((await seal()).sealed > 0);
  });
  expect(await verify()).toMatchObject([{ problem: "row_sealed_late", id }]);
});

test.each([
  ["2026-11-20T10:00:00.000Z", []],
  ["2026-11-17T10:00:00.000Z", ["row_sealed_late"]],
  ["2026-11-23T10:00:00.000Z", ["row_sealed_early"]],
  ["soon", ["row_sealed_late"]],
])("verifyBundle, for a row with the time %s that was sealed on 2026-11-20, reports the problems %j", async (at, expected) => {
  const day = "2026-11-20";
  const period = { from: day, to: day };
  const manifest = JSON.stringify({ business_id: "b", ...period, files: {} });
  const after = { manifest_sha256: createHash("sha256").update(manifest).digest("hex"), ...period };
  const entity = { type: "evidence_bundle", id: "e" };
  const place = { day, number: 1, business_number: 1 };
  const row = { id: "r", at, action: "evidence_bundle.created", entity, business_id: "b", after, sealed: place };
  const [leaf, previous] = [leafOf(row), "ab".repeat(32)];
  const head = { day, links: 1, hash: linkHash(previous, leaf), previous, final: true, made_at: `${day}T23:59:59.000Z` };
  const dir = await mkdtemp(join(tmpdir(), "amana-bundle-"));
  try {
    await writeFile(join(dir, "manifest.json"), manifest);
    await writeFile(join(dir, "trail.jsonl"), `${JSON.stringify(row)}\n`);
    await writeFile(join(dir, "links.jsonl"), `${JSON.stringify({ day, number: 1, leaf })}\n`);
    await writeFile(join(dir, "heads.jsonl"), `${JSON.stringify(signHead(head, key.privateKey))}\n`);
    const foundProblems: string[] = [];
    await verifyBundle(dir, { trusted: new Set([key.publicKey]), report: ({ problem }) => foundProblems.push(problem) });
    expect(foundProblems).toEqual(expected);
  } finally {
    await rm(dir, { recursive: true });
  }
});

test("verifyTrail reports row_past_chain for a row that was inserted while the trigger was disabled", async () => {
  await tamper(
    `insert into audit_event (id, at, actor, action, entity_type, entity_id, request_id, address)
     values (uuidv7(), now(), 'ak', 'a.b', 'a', uuidv7(), 'r', 'a')`,
  );
  expect(await problemCodes()).toEqual(["row_past_chain"]);
});

test.each([
  [
    "exchanged",
    `update audit_link l set leaf = o.leaf, event_id = o.event_id from audit_link o where l.number in (4, 5) and o.number = 9 - l.number`,
  ],
  ["renumbered", `update audit_link set number = 9 - number where number in (4, 5)`],
  ["deleted", `delete from audit_link where number = 4`],
  ["deleted at the end", `delete from audit_link where number > 7`],
  ["changed to another leaf", `update audit_link set leaf = sha256('x') where number = 4`],
  ["changed to another hash", `update audit_link set hash = sha256('x') where number = 4`],
  [
    "added at the end",
    `insert into audit_link (day, number, event_id, leaf, hash) select day, 10, event_id, leaf, hash from audit_link where number = 9`,
  ],
])("verifyTrail reports a problem for audit chain links that were %s", async (_change, statement) => {
  await tamper(statement);
  const foundProblems = await problemCodes();
  expect(foundProblems).not.toEqual([]);
  expect(foundProblems.filter((problem) => !/^(link|row|head)/.test(problem))).toEqual([]);
});

test("verifyTrail reports a head that was changed, deleted or signed with another key", async () => {
  await tamper("update audit_head set made_at = made_at - interval '1 second' where links = 6");
  expect(await problemCodes()).toEqual(["head_not_signed"]);
  await tamper("delete from audit_head where links = 9");
  expect(await problemCodes()).toEqual(["head_missing", "head_not_signed"]);
  expect(await problemCodes({ trusted: new Set([aKey().publicKey]) })).toEqual([
    "head_missing",
    "head_not_signed",
    "head_of_unknown_key",
  ]);
});

test("verifyTrail reports a chain that was rewritten with the signing key only if a separately stored head is given", async () => {
  const [, , kept] = await heads();
  await tamper(
    `update audit_event set reason = 'another' where id = '${ids[0]}'`,
    "delete from audit_head",
    "delete from audit_link",
    "insert into audit_unsealed (event_id) select id from audit_event",
  );
  await seal();
  expect(await verify()).toEqual([]);
  expect(await problemCodes({ kept: [kept] })).toEqual(["kept_head_not_in_chain"]);
  await tamper("delete from audit_link where number > 6", "delete from audit_head");
  expect(await problemCodes({ kept: [kept] })).toContain("links_missing");
});

test("PostgreSQL rejects direct changes to the table audit_unsealed, and sealRows deletes each sealed row from this table", async () => {
  const id = await recordAction();
  for (const statement of [
    "delete from audit_unsealed",
    "update audit_unsealed set event_id = uuidv7()",
    "truncate audit_unsealed",
  ])
    await expect(sql(statement), statement).rejects.toThrow(/refused|refuses|permission/);
  while ((await seal()).sealed > 0);
  expect(await sql("select from audit_unsealed")).toEqual([]);
  expect(await sql("select from audit_link where event_id = ?", [id])).toHaveLength(1);
  expect(await verify()).toEqual([]);
});

test.each([
  ["business_number = business_number + 1", "does not follow the previous entry of business"],
  ["business_id = (select business_id from audit_event where id = '%0')", "have different businesses"],
])("verifyTrail reports link_broken after a link is updated with: %s", async (change, detailPart) => {
  await tamper(`update audit_link set ${change.replace("%0", ids[0] ?? "")} where event_id = '${ids[4]}'`);
  const foundProblems = await verify();
  expect(foundProblems.map(({ problem }) => problem)).toContain("link_broken");
  expect(foundProblems.map(({ detail }) => detail).join()).toContain(detailPart);
});

test("sealRows throws when the newest head has an invalid signature", async () => {
  await tamper("update audit_head set signature = 'AAAA' where links = (select max(links) from audit_head)");
  await recordAction();
  await expect(seal()).rejects.toThrow(/has no valid signature, so no later rows are sealed/);
});

test("sealRows writes no final head for the current day when the database clock is days ahead", async () => {
  await tamper("delete from audit_head", "delete from audit_link", "delete from audit_unsealed");
  await recordAction();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 3 * 86_400_000 });
  try {
    const today = new Date().toISOString().slice(0, 10);
    expect(await seal()).toMatchObject({ sealed: 1, aheadOnDay: expect.any(String), head: { final: false } });
    expect(await heads()).toMatchObject([{ final: false, links: 1 }]);
    expect((await heads())[0]?.day.slice(0, 8)).toBe(today.slice(0, 8));
  } finally {
    vi.useRealTimers();
  }
});

test("verifyTrail accepts a day whose rows and links were dropped after five years, but reports a changed head of this day", async () => {
  await tamper("delete from audit_head", "delete from audit_link", "delete from audit_event", "delete from audit_unsealed");
  const dayMs = 86_400_000;
  const business = uuidv7();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - (5 * 366 + 2) * dayMs });
  try {
    for (const ms of [0, dayMs]) {
      vi.setSystemTime(Date.now() + ms);
      for (let i = 0; i < 3; i++) await recordAction(business);
      while ((await seal()).sealed > 0);
    }
  } finally {
    vi.useRealTimers();
  }
  await recordAction(business);
  while ((await seal()).sealed > 0);
  const storedHeads = await heads();
  const age = "interval '5 years'";
  await tamper(
    `delete from audit_event where uuid_time(id) < now() - ${age}`,
    `delete from audit_link where day < now() - ${age}`,
  );
  expect(await sql("select from audit_link")).toHaveLength(1);
  // Checks only the first days and the last day, because the five years between them have no rows.
  const [fifth, last] = [storedHeads[5], storedHeads.at(-1)].map((head) => head?.day);
  for (const range of [{ to: fifth }, { from: last }]) expect(await verify({ kept: storedHeads, ...range })).toEqual([]);

  await tamper(`update audit_head set made_at = made_at + interval '1 s' where day = '${storedHeads[0]?.day}' and final`);
  expect(await problemCodes({ to: fifth })).toEqual(["head_not_signed", "head_of_other_chain"]);
});

test.each([
  ["9007199254740992", "9007199254740993"],
  ["1e400", "2e400"],
  ["0.1", "0.1000000000000000055"],
  ["-0.0001", "-0.00011"],
])("leafOf returns different leaves for rows with the numbers %s and %s", (first, second) => {
  const place = { day: "2026-11-20", number: 1 };
  const leafWithNumber = (number: string) =>
    leafOf({ ...rowOf({ id: "x", entity_type: "a", entity_id: "b", after: `{"a": ${number}}` }), sealed: place });
  expect(leafWithNumber(first)).not.toBe(leafWithNumber(second));
  // Two notations of the same number have the same leaf.
  expect(leafWithNumber("100")).toBe(leafWithNumber("1.00e2"));
});

test("verifyTrail reports head_missing for a day without a head if an earlier and a later day have heads", async () => {
  await tamper("update audit_head set day = day - 2", "update audit_link set day = day - 2");
  for (const { signature, ...head } of await heads())
    await tamper(
      `update audit_head set signature = '${signHead(head, key.privateKey).signature}' where signature = '${signature}'`,
    );
  await recordAction();
  await seal();
  await tamper("delete from audit_head where day = current_date - 1");
  expect((await verify()).filter(({ problem }) => problem === "head_missing")).not.toEqual([]);
});

test("`amana audit verify` prints text or JSON, and exits with code 4 for a problem and code 2 for an invalid day", async () => {
  const dir = await mkdtemp(join(tmpdir(), "amana-audit-"));
  const amana = (...args: string[]) => execAmana({ IDENTITY_DATABASE_URL: db.url }, "audit", "verify", ...args);
  try {
    const file = join(dir, "heads");
    await writeFile(file, (await heads()).map((audit_head) => JSON.stringify({ level: "info", audit_head })).join("\n"));
    const intact = await amana("--public-key", `k:${key.publicKey}`, "--head", file);
    expect(intact).toMatchObject({ code: 0, out: expect.stringContaining("No problems found: 1 days, 9 rows") });
    expect((await amana()).out).toContain(`Signed with ${key.publicKey}`);
    await tamper(`update audit_event set reason = 'other' where id = '${ids[3]}'`);
    expect(await amana()).toMatchObject({
      code: 4,
      out: expect.stringContaining(`row_changed: row ${ids[3]} (audit chain entry 4 of`),
    });
    const { code, out } = await amana("--json", "--head", file);
    expect([code, JSON.parse(out)]).toMatchObject([
      4,
      { rows: 9, problems: 1, findings: [{ problem: "row_changed", id: ids[3] }] },
    ]);
    expect(await amana("--from", "yesterday")).toMatchObject({ code: 2 });
  } finally {
    await rm(dir, { recursive: true });
  }
});
