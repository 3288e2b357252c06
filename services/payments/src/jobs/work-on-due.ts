import { poll } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { type Lease, withLease } from "../lease.ts";

/** A row whose check fails on a fault of ours waits, so that a few such rows cannot keep all others from their turn. */
const faultPauseSeconds = 10;

export interface DueWork {
  readonly name: string;
  readonly table: "payment" | "refund";
  /** The column that says when a row's time has come. */
  readonly due: "next_check_at" | "next_reread_at";
  /** Rows for which this holds come after all others of their business; SQL. */
  readonly isLess?: string;
  /** The column by which the rest of a business's rows are ordered, the earliest first. */
  readonly since: "created_at" | "next_check_at" | "next_reread_at";
  /** How many rows are worked on at the same time, of one business at most half of them. */
  readonly concurrency: number;
  /** Begins no more than `concurrency` rows between two pauses, however fast they end. */
  readonly isPaced?: boolean;
}

/**
 * Works on rows whose time has come and that nobody else works on, until disposed. A place that becomes free is taken at once:
 * a slow row holds up no other. The places go to the businesses by turns, so that one with thousands of due rows costs
 * another's only the wait for one place; among a business's own rows the most urgent is first.
 */
export function workOnDue(
  context: Context,
  due: DueWork,
  work: (id: string, lease: Lease) => Promise<unknown>,
  pauseMs = 1_000,
): AsyncDisposable {
  const inFlight = new Map<string, { businessId: string; done: Promise<unknown> }>();
  const polling = poll(
    due.name,
    context.logger,
    async () => {
      const free = due.concurrency - inFlight.size;
      if (free === 0) await Promise.race([...inFlight.values()].map(({ done }) => done));
      const rows = free === 0 ? [] : await nextRows(context, due, inFlight, free);
      for (const { id, businessId } of rows) {
        const done = workOne(context, due, id, work).finally(() => inFlight.delete(id));
        inFlight.set(id, { businessId, done });
      }
      if (due.isPaced) return 0;
      return free === 0 ? 1 : rows.length;
    },
    pauseMs,
  );
  return {
    async [Symbol.asyncDispose]() {
      await polling[Symbol.asyncDispose]();
      await Promise.all([...inFlight.values()].map(({ done }) => done));
    },
  };
}

/** The businesses that have anything planned are walked through the index, one probe each; of each, a share at most is read. */
async function nextRows(
  context: Context,
  { table, due, isLess = "false", since, concurrency }: DueWork,
  inFlight: ReadonlyMap<string, { businessId: string }>,
  limit: number,
): Promise<{ id: string; businessId: string }[]> {
  const share = Math.max(1, Math.floor(concurrency / 2));
  const busy: Record<string, number> = {};
  for (const { businessId } of inFlight.values()) busy[businessId] = (busy[businessId] ?? 0) + 1;
  return await (context.orm.em.fork() as SqlEntityManager).execute(
    `with recursive business (id) as (
       (select business_id from ${table} where ${due} is not null order by business_id limit 1)
       union all
       select (
         select next.business_id from ${table} next
         where next.${due} is not null and next.business_id > business.id order by next.business_id limit 1
       ) from business where business.id is not null
     )
     select turns.id, business.id as "businessId" from business cross join lateral (
       select candidate.id, candidate.is_less, candidate.since,
         row_number() over (order by candidate.is_less, candidate.since) + coalesce((?::jsonb ->> business.id::text)::int, 0) as turn
       from (
         select id, ${isLess} as is_less, ${since} as since from ${table}
         where business_id = business.id and ${due} is not null and ${due} <= now()
           and (leased_until is null or leased_until < now()) and id <> all(?::uuid[])
         order by is_less, since limit ${share}
       ) candidate
     ) turns
     where business.id is not null and turns.turn <= ${share}
     order by turns.turn, turns.is_less, turns.since limit ${limit}`,
    [JSON.stringify(busy), `{${[...inFlight.keys()].join()}}`],
  );
}

async function workOne(
  context: Context,
  { table, due }: DueWork,
  id: string,
  work: (id: string, lease: Lease) => Promise<unknown>,
): Promise<void> {
  const sql = (text: string) => (context.orm.em.fork() as SqlEntityManager).execute(text, [id]);
  try {
    await withLease(context.orm, table, id, async (lease) => {
      // Another replica may have done it between the two statements.
      const still = await sql(`select 1 from ${table} where id = ? and ${due} <= now()`);
      if (still.length > 0) await work(id, lease);
    });
  } catch (error) {
    context.logger.error({ err: error, [`${table}_id`]: id }, "a due check failed");
    // Not of a row that has ended, by a commit whose answer was lost: it would stay due for ever.
    const later = `now() + interval '${faultPauseSeconds} seconds'`;
    await sql(`update ${table} set ${due} = ${later} where id = ? and ${due} is not null`).catch(() => {});
  }
}
