import { randomUUID } from "node:crypto";
import type { Orm } from "@amana/database";
import { forTenant, inTrace, type Logger, poll, secondsSince, sleep, traced, waitAtMost } from "@amana/runtime";
import { isFree, keepLease, type Lease, leaseEnd } from "./lease.ts";
import { showDue, worked } from "./metrics.ts";

/** After a fault of ours a row waits: a few such must not keep the others from their turn. */
const faultPauseSeconds = 10;

/** Which rows are due and how they are taken. All texts are SQL of ours, never of a request. */
export interface DueRows {
  /** The job's name in logs. */
  readonly name: string;
  readonly table: string;
  /** The column that says when a row's time has come; null: never. */
  readonly due: string;
  /** Rows for which this holds come after all others of their business. */
  readonly isLess?: string;
  /** The column that orders the rest of a business's rows, earliest first; `due` when left out. */
  readonly since?: string;
  /** Maximum number of rows that are processed at the same time. */
  readonly concurrency: number;
  /**
   * Maximum number of rows of one business that are processed at the same time; half of
   * `concurrency` by default. With the value of `concurrency`, a business alone uses all slots, and
   * another business gets the next free slot. Use that only if work takes equally long for all.
   */
  readonly perBusiness?: number;
  /** The table keeps, as `traceparent`, the trace that began a row: the work goes on in it. */
  readonly isTraced?: boolean;
  /** Rate limit: at most this many rows begin within one `pauseMs`. None by default. */
  readonly perPause?: number;
}

interface Claimed {
  readonly id: string;
  readonly businessId: string;
  readonly token: string;
  readonly traceparent: string | null;
}

/**
 * Works on rows whose time has come and that nobody else works on, until disposed. A place that
 * becomes free is taken at once: a slow row holds up no other. The places go to the businesses by
 * turns, so that one with thousands of due rows costs another's only the wait for one place; among
 * a business's own rows the most urgent is first.
 */
export function workOnDue(
  { orm, logger }: { orm: Orm; logger: Logger },
  rows: DueRows,
  work: (id: string, lease: Lease) => Promise<unknown>,
  pauseMs = 1_000,
): AsyncDisposable {
  const inFlight = new Map<string, { businessId: string; done: Promise<unknown> }>();
  const search = createSearch(orm, rows);
  const stop = new AbortController();
  let period = { endsMs: 0, left: 0 };

  const workOne = async (claimed: Claimed) => {
    const { table, due, name: task } = rows;
    const startedMs = performance.now();
    try {
      await traced("internal", task, async (span) => {
        span?.set({ [`amana.${table}_id`]: claimed.id, "amana.business_id": claimed.businessId });
        await keepLease(orm, { table, ...claimed }, (lease) => work(claimed.id, lease));
      });
      worked.observe({ task, outcome: "done" }, secondsSince(startedMs));
    } catch (error) {
      worked.observe({ task, outcome: "failed" }, secondsSince(startedMs));
      logger.error({ err: error, job: rows.name, [`${table}_id`]: claimed.id }, "a due row could not be worked on");
      // Not of a row that has ended, by a commit whose answer was lost: it would stay due for ever.
      const later = `${due} = now() + interval '${faultPauseSeconds} seconds' where id = ? and ${due} is not null`;
      const em = orm.em.fork();
      await em.execute(`update ${table} set ${later}`, [claimed.id]).catch(() => {});
    }
  };

  const oneEnds = () => Promise.race([...inFlight.values()].map(({ done }) => done));

  const round = async () => {
    const nowMs = performance.now();
    if (nowMs >= period.endsMs) {
      period = { endsMs: nowMs + pauseMs, left: rows.perPause ?? Number.POSITIVE_INFINITY };
    }
    const free = Math.min(rows.concurrency - inFlight.size, period.left);
    if (free === 0) {
      if (period.left === 0) await sleep(period.endsMs - nowMs, stop.signal);
      else await oneEnds();
      return 1;
    }
    const { businesses, hasMore } = await search();
    const claims = await claim(orm, rows, businesses, inFlight, free);
    for (const claimed of claims) {
      const trace = claimed.traceparent ? { traceparent: claimed.traceparent } : undefined;
      const done = inTrace(trace, () => forTenant(claimed.businessId, () => workOne(claimed))).finally(() =>
        inFlight.delete(claimed.id),
      );
      inFlight.set(claimed.id, { businessId: claimed.businessId, done });
    }
    period.left -= claims.length;
    if (claims.length > 0 || hasMore) return 1;
    if (inFlight.size === 0) return 0;
    // A business that uses all its slots may have more due rows: the next begins without a pause.
    await waitAtMost(pauseMs, oneEnds());
    return 1;
  };

  const polling = poll(rows.name, logger, round, pauseMs);
  const showing = showDue(orm, rows);
  return {
    async [Symbol.asyncDispose]() {
      showing[Symbol.dispose]();
      stop.abort();
      await polling[Symbol.asyncDispose]();
      await Promise.all([...inFlight.values()].map(({ done }) => done));
    },
  };
}

/** What is due is looked at one by one up to here. */
const lookAheadMax = 500;
/** So many businesses are walked through at once. */
const walkedMax = 1_000;
const beforeAll = "00000000-0000-0000-0000-000000000000";

/** Businesses that may have due rows. `hasMore`: the next search looks at others. */
interface Found {
  readonly businesses: ReadonlySet<string>;
  readonly hasMore: boolean;
}

/**
 * Finds whose rows to look at. Usually little is due, and an index by the due time tells all of it.
 * Where more is, a flood could hide the others: then businesses that have anything planned are
 * walked through as well, one probe each, the next thousand each time.
 */
function createSearch(orm: Orm, { table, due }: DueRows): () => Promise<Found> {
  let walkedTo = beforeAll;
  return async () => {
    const em = orm.em.fork();
    const soonest = await em.execute<{ id: string }[]>(
      `select business_id as id from ${table} where ${due} <= now() and ${isFree} order by ${due} limit ${lookAheadMax}`,
    );
    if (soonest.length < lookAheadMax) return found(soonest, false);
    const next = (id: string) =>
      `select business_id from ${table} where ${due} is not null and business_id > ${id} order by business_id limit 1`;
    const walked = await em.execute<{ id: string }[]>(
      `with recursive walked (id, place) as (
         (select (${next("?")}), 1) union all
         select (${next("walked.id")}), place + 1 from walked where id is not null and place < ${walkedMax}
       ) select id from walked where id is not null`,
      [walkedTo],
    );
    const hasMore = walked.length === walkedMax;
    walkedTo = (hasMore && walked.at(-1)?.id) || beforeAll;
    return found([...soonest, ...walked], hasMore);
  };
}

const found = (rows: readonly { id: string }[], hasMore: boolean): Found => ({
  businesses: new Set(rows.map(({ id }) => id)),
  hasMore,
});

/** Takes at most `limit` due rows, a share of each business; another replica's are left to it. */
async function claim(
  orm: Orm,
  { table, due, isLess = "false", since = due, concurrency, perBusiness, isTraced = false }: DueRows,
  businesses: ReadonlySet<string>,
  inFlight: ReadonlyMap<string, { businessId: string }>,
  limit: number,
): Promise<Claimed[]> {
  if (businesses.size === 0) return [];
  const share = perBusiness ?? Math.max(1, Math.floor(concurrency / 2));
  const busy: Record<string, number> = {};
  for (const { businessId } of inFlight.values()) busy[businessId] = (busy[businessId] ?? 0) + 1;
  return await orm.em.fork().execute(
    `with turns as (
       select candidates.* from unnest(?::uuid[]) business (id) cross join lateral (
         select candidate.id, candidate.is_less, candidate.since,
           row_number() over (order by candidate.is_less, candidate.since) + coalesce((?::jsonb ->> business.id::text)::int, 0) as turn
         from (
           select id, ${isLess} as is_less, ${since} as since from ${table}
           -- Not "=": only the index that begins with the business has its rows in this order then.
           where business_id between business.id and business.id and ${due} <= now() and ${isFree} and id <> all(?::uuid[])
           order by business_id, is_less, since limit ${share}
         ) candidate
       ) candidates
       where turn <= ${share}
       order by turn, is_less, since limit ${limit}
     ), mine as (
       select id from ${table} where id in (select id from turns) and ${due} <= now() and ${isFree} for update skip locked
     )
     update ${table} t set leased_until = ${leaseEnd}, lease_token = ? from mine where t.id = mine.id
     returning t.id, t.business_id as "businessId", t.lease_token as token, ${isTraced ? "t.traceparent" : "null"} as traceparent`,
    [`{${[...businesses].join()}}`, JSON.stringify(busy), `{${[...inFlight.keys()].join()}}`, randomUUID()],
  );
}
