import { checkDay, genesis, type Head, headColumns, signHead } from "@amana/audit-chain";
import { createLogger } from "@amana/runtime";
import { eventually, forAllTenants } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest } from "../../test/harness.ts";
import { sealedUntil } from "../metrics.ts";
import { sealRows, startSealing } from "./seal-rows.ts";

let identity: Identity;
let replica: Awaited<ReturnType<Identity["addReplica"]>>;
beforeAll(async () => {
  identity = await startIdentityForTest();
  replica = await identity.addReplica(0);
});
afterAll(() => identity[Symbol.asyncDispose]());

const logger = createLogger("test", "silent");
type Replica = Pick<Identity, "context" | "sql">;
const seal = async ({ context }: Replica = identity) => await forAllTenants(sealRows)({ ...context, logger });
async function sealAll(): Promise<void> {
  while ((await seal()).sealed > 0);
}
const countRows = async (table: string) =>
  Number((await identity.sql<{ n: string }>(`select count(*) as n from ${table}`))[0]?.n);
const readLinks = (day: string, { sql }: Replica) =>
  sql<{ number: number; leaf: string; hash: string }>(
    "select number::int as number, encode(leaf, 'hex') as leaf, encode(hash, 'hex') as hash from audit_link where day = ? order by number",
    [day],
  );
const readHeads = ({ sql }: Replica = identity) => sql<Head>(`select ${headColumns} from audit_head order by day, links, final`);

/** Verifies all days of the chain and returns the errors. */
async function findErrors(replicaToCheck: Replica = identity): Promise<string[]> {
  const errors: string[] = [];
  const allHeads = await readHeads(replicaToCheck);
  let previousHash: string | undefined;
  for (const day of new Set(allHeads.map((head) => head.day))) {
    const dayCheck = checkDay({
      day,
      previous: previousHash,
      heads: allHeads.filter((head) => head.day === day),
      trusted: undefined,
      report: ({ detail }) => errors.push(detail),
    });
    for (const link of await readLinks(day, replicaToCheck)) dayCheck.add(link);
    previousHash = dayCheck.end();
  }
  return errors;
}

test("sealRows links each committed audit row exactly once while two replicas seal rows and other rows are inserted", async () => {
  await Promise.all(Array.from({ length: 20 }, (_, i) => identity.aBusiness({ name: `Shop ${i}` })));
  const rounds = await Promise.all(Array.from({ length: 8 }, (_, i) => seal(i % 2 ? identity : replica)));
  expect(rounds.filter(({ sealed }) => sealed > 0)).not.toEqual([]);
  await Promise.all([identity.aBusiness(), seal(), identity.aBusiness(), seal(replica)]);
  await sealAll();
  expect(await countRows("audit_link")).toBe(await countRows("audit_event"));
  expect(await identity.sql("select event_id from audit_link group by 1 having count(*) > 1")).toEqual([]);
  expect(await findErrors()).toEqual([]);
  expect((await readHeads()).at(-1)).toMatchObject({ links: await countRows("audit_event"), final: false });
});

test("startSealing does not advance the metric `sealedUntil` while another database session has locked the audit chain", async () => {
  const readSealedUntilMs = async () => ((await sealedUntil.get()).values[0]?.value ?? 0) * 1000;
  const em = identity.orm.em.fork();
  await forAllTenants(() => em.begin())();
  await em.execute("select pg_advisory_xact_lock(hashtext('audit chain'))");
  await identity.aBusiness();
  const sealing = startSealing({ ...identity.context, logger });
  try {
    const initialMs = await readSealedUntilMs();
    await identity.sql(
      "alter table audit_unsealed disable trigger user; update audit_unsealed set since = now() + interval '1 day'",
    );
    await identity.sql(
      "alter table audit_unsealed enable always trigger keep_row; alter table audit_unsealed enable always trigger append_only",
    );
    expect(await seal(replica)).toEqual({ sealed: 0 });
    expect(await readSealedUntilMs()).toBe(initialMs);
    await em.rollback();
    const releasedMs = Date.now();
    await eventually(async () => expect(await readSealedUntilMs()).toBeGreaterThan(releasedMs));
    expect(await countRows("audit_unsealed")).toBe(0);
  } finally {
    await sealing[Symbol.asyncDispose]();
  }
});

test("sealRows links an audit row that is committed after newer rows were sealed", async () => {
  const countBefore = await countRows("audit_link");
  const em = identity.orm.em.fork();
  await forAllTenants(() => em.begin())();
  await em.execute(
    `insert into audit_event (id, at, actor, action, entity_type, entity_id, request_id, address)
     values (uuidv7(), now() - interval '1 year', 'ak', 'business.created', 'business', uuidv7(), 'r', 'a')`,
  );
  await identity.aBusiness();
  await sealAll();
  await em.commit();
  await sealAll();
  expect((await countRows("audit_link")) - countBefore).toBe(3);
  expect(await findErrors()).toEqual([]);
});

test("sealRows links audit rows that an earlier version inserted without a queue entry", async () => {
  await identity.aBusiness();
  await identity.sql(
    "alter table audit_unsealed disable trigger user; delete from audit_unsealed; alter table audit_unsealed enable always trigger keep_row",
  );
  await identity.sql("insert into audit_sweep values ('00000000-0000-0000-0000-000000000000')");
  await sealAll();
  expect(await countRows("audit_link")).toBe(await countRows("audit_event"));
  expect([await countRows("audit_unsealed"), await countRows("audit_sweep")]).toEqual([0, 0]);
});

test("sealRows writes a final head of the audit chain for each completed day, including days without audit rows", async () => {
  await using newIdentity = await startIdentityForTest();
  const dayOf = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
  const tail = { day: dayOf(3), links: 0, hash: genesis, previous: genesis, final: false, made_at: `${dayOf(3)}T10:00:00.000Z` };
  const head = signHead(tail, newIdentity.context.auditSigningKey.privateKey);
  await newIdentity.sql(
    `insert into audit_head (day, links, final, hash, previous, made_at, public_key, signature)
     values (?, 0, false, decode(?, 'hex'), decode(?, 'hex'), ?, ?, ?)`,
    [head.day, head.hash, head.previous, head.made_at, head.public_key, head.signature],
  );
  await newIdentity.aBusiness();
  await seal(newIdentity);
  const headFields = (await readHeads(newIdentity)).map(({ day, links, final }) => ({ day, links, final }));
  expect(headFields).toEqual([
    { day: dayOf(3), links: 0, final: false },
    ...[3, 2, 1].map((daysAgo) => ({ day: dayOf(daysAgo), links: 0, final: true })),
    { day: dayOf(0), links: 2, final: false },
  ]);
  expect(await findErrors(newIdentity)).toEqual([]);
});

test.each(["audit_link", "audit_head"])(
  "the table %s of the audit chain rejects updates, deletions and truncation",
  async (table) => {
    const countBefore = await countRows(table);
    expect(countBefore).toBeGreaterThan(0);
    for (const statement of [`update ${table} set hash = ''`, `delete from ${table}`, `truncate ${table}`]) {
      for (const prefix of ["", "set local session_replication_role = replica; "])
        await expect(identity.sql(prefix + statement), statement).rejects.toThrow(/append-only|permission denied/);
    }
    expect(await countRows(table)).toBe(countBefore);
  },
);

test("sealRows links each audit row of a business also to that business's previous audit row", async () => {
  const { id } = await identity.aBusiness();
  await identity.apiKeys.createApiKey({ businessId: id, name: "till" }, asAdmin);
  await sealAll();
  const rows = await identity.sql(
    `select business_number::int as number, encode(business_previous, 'hex') as previous, encode(leaf, 'hex') as leaf
     from audit_link where business_id = ? order by business_number`,
    [id],
  );
  expect(rows.map(({ number }) => number)).toEqual([1, 2, 3]);
  expect(rows.map(({ previous }) => previous)).toEqual([null, rows[0]?.["leaf"], rows[1]?.["leaf"]]);
});
