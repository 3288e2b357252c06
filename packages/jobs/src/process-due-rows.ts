import type { Orm } from "@amana/database";
import { FairSemaphore, forTenant, inTrace, type Logger, poll, secondsSince, sleep, traced, waitAtMost } from "@amana/runtime";
import { claimDue, createDueSearch, type DueTable } from "./claim.ts";
import { keepLease, type Lease, leaseSeconds } from "./lease.ts";
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
 * Claims due rows and runs `work` on each, until disposed. A free slot is used at once, so a slow
 * row delays no other. Businesses are served in turn: thousands of due rows of one delay a row of
 * another by one slot. The rows of a business are worked on in the order of `isLess` and `since`.
 */
export function processDueRows(
  { orm, logger }: { orm: Orm; logger: Logger },
  rows: DueRows,
  work: (id: string, lease: Lease) => Promise<unknown>,
  pauseMs = 1_000,
): AsyncDisposable {
  const inFlight = new Map<string, Promise<unknown>>();
  const { concurrency, perBusiness = Math.max(1, Math.floor(concurrency / 2)) } = rows;
  const slots = new FairSemaphore({ slots: concurrency, perTenant: perBusiness });
  const source = dueTable(rows);
  const search = createDueSearch(orm, source);
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

  const oneEnds = () => Promise.race(inFlight.values());

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
    const { groups, hasMore } = await search();
    const limits = { limit: free, leaseMs: leaseSeconds * 1_000, except: [...inFlight.keys()] };
    const claims = await claimDue<Claimed>(orm, source, groups, slots, limits);
    for (const claimed of claims) {
      const trace = claimed.traceparent ? { traceparent: claimed.traceparent } : undefined;
      // The claim leaves each business within its share, so this never waits.
      slots.enter(claimed.businessId, 0);
      const done = inTrace(trace, () => forTenant(claimed.businessId, () => workOne(claimed))).finally(() => {
        slots.leave(claimed.businessId);
        inFlight.delete(claimed.id);
      });
      inFlight.set(claimed.id, done);
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
      await Promise.all(inFlight.values());
    },
  };
}

const dueTable = ({ name, table, due, isLess, since = due, isTraced = false }: DueRows): DueTable => ({
  name,
  table,
  isPlanned: `${due} is not null`,
  dueAt: due,
  order: isLess ? `${isLess}, ${since}` : since,
  select: `select id, business_id as "businessId", lease_token as token, ${isTraced ? "traceparent" : "null as traceparent"} from claimed`,
});
