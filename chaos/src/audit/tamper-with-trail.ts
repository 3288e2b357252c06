import type pg from "pg";
import type { Random } from "../random.ts";

const tables = ["audit_event", "audit_link", "audit_head"] as const;

/** A change by the owner of the database, and the problem that `amana audit verify` must report. */
interface Change {
  readonly name: string;
  readonly problem: string;
  readonly statements: (random: Random, ids: readonly string[]) => string[];
}

const columns = {
  actor: "'ak_another'",
  actor_name: "'another actor'",
  action: "'another.done'",
  entity_type: "'another'",
  entity_id: "uuidv7()",
  business_id: "uuidv7()",
  request_id: "'another'",
  address: "'192.0.2.99'",
  reason: "coalesce(reason, '') || '.'",
  before: `'{"name": "another"}'`,
  after: `'{"name": "another"}'`,
  at: "at + interval '1 ms'",
};

const changes: readonly Change[] = [
  ...Object.entries(columns).map(([column, value]) => ({
    name: `${column} of a row changed`,
    problem: "row_changed",
    statements: (random: Random, ids: readonly string[]) => [
      `update audit_event set ${column} = ${value} where id = '${random.pick(ids)}'`,
    ],
  })),
  {
    name: "a row deleted",
    problem: "row_deleted",
    statements: (random, ids) => [`delete from audit_event where id = '${random.pick(ids)}'`],
  },
  {
    name: "a row deleted with its link",
    problem: "link_broken",
    statements: (random, ids) => {
      // Does not delete the newest row, because `amana audit verify` does not report link_broken
      // for its deletion, but another problem.
      const id = random.pick(ids.slice(0, -1));
      return [`delete from audit_event where id = '${id}'`, `delete from audit_link where event_id = '${id}'`];
    },
  },
  {
    name: "a row inserted without its entry in audit_unsealed",
    problem: "row_past_chain",
    statements: () => [
      `insert into audit_event (id, at, actor, action, entity_type, entity_id, request_id, address)
       values (uuidv7(), now(), 'ak_another', 'business.created', 'business', uuidv7(), 'r', '192.0.2.1')`,
    ],
  },
  {
    name: "the links of two rows swapped",
    problem: "row_changed",
    statements: (random, ids) => {
      const index = random.integer(0, ids.length - 2);
      const [a = "", b = ""] = [ids[index], ids[index + 1]];
      const placeholder = "00000000-0000-7000-8000-000000000000";
      const move = (from: string, to: string) => `update audit_link set event_id = '${to}' where event_id = '${from}'`;
      return [move(a, placeholder), move(b, a), move(placeholder, b)];
    },
  },
  {
    name: "the leaf of a link changed",
    problem: "link_broken",
    statements: (random, ids) => [
      `update audit_link set leaf = set_byte(leaf, 0, 255 - get_byte(leaf, 0)) where event_id = '${random.pick(ids)}'`,
    ],
  },
  {
    name: "the newest rows, links and heads deleted",
    problem: "links_missing",
    statements: (random, ids) => {
      const newest = `(select id from audit_link order by day desc, number desc limit ${random.integer(1, Math.min(5, ids.length - 1))})`;
      return [
        `delete from audit_event where id in (select event_id from audit_link where id in ${newest})`,
        `delete from audit_link where id in ${newest}`,
        "delete from audit_head h where not final and links > (select count(*) from audit_link l where l.day = h.day)",
      ];
    },
  },
  {
    name: "a head changed",
    problem: "head_not_signed",
    statements: () => [
      `update audit_head set hash = set_byte(hash, 3, 255 - get_byte(hash, 3))
       where (day, links) = (select day, links from audit_head order by random() limit 1)`,
    ],
  },
  {
    name: "the newest head deleted",
    problem: "head_missing",
    statements: () => [
      "delete from audit_head where (day, links) = (select day, max(links) from audit_head group by day order by day desc limit 1)",
    ],
  },
];

/**
 * Makes one random change to the trail, calls `verify`, and reverts the change. Returns the change
 * and the problems that `verify` found.
 */
export async function tamperWithTrail(
  owner: pg.Client,
  random: Random,
  verify: () => Promise<string[]>,
): Promise<{ change: string; expectedProblem: string; problems: string[] }> {
  const { rows } = await owner.query<{ id: string }>("select event_id as id from audit_link order by day, number");
  const { name, problem, statements: statementsOf } = random.pick(changes);
  const statements = statementsOf(
    random,
    rows.map(({ id }) => id),
  );
  const states = await readTriggerStates(owner);
  for (const table of tables) {
    await owner.query(`grant all on ${table} to current_user`);
    await owner.query(`alter table ${table} disable trigger user`);
  }
  for (const table of tables) await owner.query(`create temporary table saved_${table} as table ${table}`);
  try {
    for (const statement of statements) await owner.query(statement);
    return { change: name, expectedProblem: problem, problems: await verify() };
  } finally {
    for (const table of tables) {
      await owner.query(`delete from ${table}`);
      await owner.query(`insert into ${table} select * from saved_${table}`);
      await owner.query(`drop table saved_${table}`);
    }
    for (const { table, trigger, state } of states)
      await owner.query(`alter table ${table} enable ${state === "A" ? "always " : ""}trigger ${trigger}`);
  }
}

/**
 * Returns the state of each trigger of the audit tables. State A means that the trigger also runs
 * during replication.
 */
export async function readTriggerStates(owner: pg.Client): Promise<{ table: string; trigger: string; state: string }[]> {
  const { rows } = await owner.query<{ table: string; trigger: string; state: string }>(
    `select tgrelid::regclass::text as table, tgname as trigger, tgenabled::text as state from pg_trigger
     where tgrelid in (select unnest($1::regclass[]) union select relid from unnest($1::regclass[]) t, pg_partition_tree(t))
       and not tgisinternal order by 1, 2`,
    [tables],
  );
  return rows;
}

/**
 * Inserts a row with a future date, as the database owner with enabled triggers. Must be called at
 * the end of a run, because identity seals the row, which then stays in the chain. A past date
 * would not be reported, because the chain of a run is new and may contain older rows.
 */
export async function insertThroughTrigger(owner: pg.Client, random: Random): Promise<void> {
  await owner.query(
    `insert into audit_event (id, at, actor, action, entity_type, entity_id, request_id, address)
     values (uuidv7(), now() + $1 * interval '1 minute', 'ak_another', 'another.done', $2, uuidv7(), 'r', '192.0.2.1')`,
    [random.integer(15, 100_000), random.pick(["api_key", "refund"])],
  );
}
