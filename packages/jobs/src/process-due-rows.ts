import { type Orm, pollWhenDue } from "@amana/database";
import { FairSemaphore, forTenant, inSpan, inTrace, type Logger, secondsSince, sleep, waitAtMost } from "@amana/runtime";
import { claimDue, createDueSearch, type DueTable } from "./claim.ts";
import { type Lease, leaseIsFreeSql, leaseSeconds, withClaimedLease } from "./lease.ts";
import { showDueRows, workDuration } from "./metrics.ts";

/** Delay before a failed row is retried, so that failing rows do not starve others. */
const retryDelaySeconds = 10;

/** The rows of a job and its limits. All SQL strings come from code, never from a request. */
export interface DueRows {
  /** The job's name in logs, traces and metrics. */
  readonly name: string;
  readonly table: string;
  /** The column with the time from which a row is due. Rows with null are never due. */
  readonly dueColumn: string;
  /** SQL condition. Rows that match it are processed after all other rows of their business. */
  readonly lowPriorityWhen?: string;
  /** The column that orders the rows of a business, earliest first; `dueColumn` by default. */
  readonly orderColumn?: string;
  /** Maximum number of rows that are processed at the same time. */
  readonly concurrency: number;
  /**
   * Maximum number of rows of one business that are processed at the same time; half of
   * `concurrency` by default. If it equals `concurrency`, one business can use all slots, and
   * another business must wait until a slot is free. Use that value only if the work on each row is
   * short, so that the wait is short.
   */
  readonly perBusiness?: number;
  /**
   * If true, the work continues the trace in the column `traceparent` of the row. Default: false.
   */
  readonly isTraced?: boolean;
  /** True if the table has the ORM's column `version`. Default: false. */
  readonly hasVersion?: boolean;
  /**
   * Rate limit: maximum number of rows on which work begins within one `pauseMs`. No limit by
   * default.
   */
  readonly rowsPerPauseMax?: number;
}

interface ClaimedRow {
  readonly id: string;
  readonly businessId: string;
  readonly token: string;
  readonly traceparent: string | null;
}

/**
 * Claims due rows and runs `work` on each, until disposed. `work` must change the row's due time or
 * set it to null. A free slot is used immediately, so that slow rows do not delay other rows. The
 * slot goes to the business that uses the fewest slots. Thousands of due rows of one business
 * therefore delay a row of another business only until the next slot is free. The rows of a
 * business are processed in the order of `lowPriorityWhen` and `orderColumn`.
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

  const processRow = async (claimed: ClaimedRow) => {
    const { table, dueColumn, name: task } = rows;
    const startedMs = performance.now();
    try {
      await inSpan("internal", task, async (span) => {
        span?.set({ [`amana.${table}_id`]: claimed.id, "amana.business_id": claimed.businessId });
        await withClaimedLease(orm, { table, ...claimed }, (lease) => work(claimed.id, lease));
      });
      workDuration.observe({ task, outcome: "done" }, secondsSince(startedMs));
    } catch (error) {
      workDuration.observe({ task, outcome: "failed" }, secondsSince(startedMs));
      logger.error({ err: error, job: rows.name, [`${table}_id`]: claimed.id }, "due row failed, retry scheduled");
      // Skips a row without a due time. The work on that row has committed, although the response
      // to the commit was lost. A new due time would make the finished row due again and again.
      const postpone = `${dueColumn} = now() + interval '${retryDelaySeconds} seconds' where id = ? and ${dueColumn} is not null`;
      const em = orm.em.fork();
      await em.execute(`update ${table} set ${postpone}`, [claimed.id]).catch(() => {});
    }
  };

  const anyRowEnds = () => Promise.race(inFlight.values());

  const claimAndStart = async () => {
    const nowMs = performance.now();
    if (nowMs >= period.endsMs) {
      period = { endsMs: nowMs + pauseMs, left: rows.rowsPerPauseMax ?? Number.POSITIVE_INFINITY };
    }
    const freeSlots = Math.min(rows.concurrency - inFlight.size, period.left);
    if (freeSlots === 0) {
      if (period.left === 0) await sleep(period.endsMs - nowMs, stop.signal);
      else await anyRowEnds();
      return 1;
    }
    const { groups, hasMore } = await search();
    const limits = { limit: freeSlots, leaseMs: leaseSeconds * 1_000, except: [...inFlight.keys()] };
    const claims = await claimDue<ClaimedRow>(orm, source, groups, slots, limits);
    for (const claimed of claims) {
      const trace = claimed.traceparent ? { traceparent: claimed.traceparent } : undefined;
      // Takes a slot without waiting, because `claimDue` claims only as many rows as a business has
      // free slots.
      slots.acquire(claimed.businessId, 0);
      const processing = inTrace(trace, () => forTenant(claimed.businessId, () => processRow(claimed))).finally(() => {
        slots.release(claimed.businessId);
        inFlight.delete(claimed.id);
      });
      inFlight.set(claimed.id, processing);
    }
    period.left -= claims.length;
    if (claims.length > 0 || hasMore) return 1;
    if (inFlight.size === 0) return 0;
    // A business that uses all its slots may have more due rows. Work on the next of these rows
    // begins as soon as the work on a row in flight ends.
    await waitAtMost(pauseMs, anyRowEnds());
    return 1;
  };

  const due = { name: rows.name, nextDue: nextDueOf(rows), everyMs: 4 * pauseMs };
  const polling = pollWhenDue(orm, logger, due, claimAndStart);
  const metrics = showDueRows(orm, rows);
  return {
    async [Symbol.asyncDispose]() {
      metrics[Symbol.dispose]();
      stop.abort();
      await polling[Symbol.asyncDispose]();
      await Promise.all(inFlight.values());
    },
  };
}

/**
 * Returns the SQL expression for the next due time: now if a row without a lease is due, otherwise
 * the due time of the next row.
 */
const nextDueOf = ({ table, dueColumn }: DueRows): string =>
  `coalesce((select now() from ${table} where ${dueColumn} <= now() and ${leaseIsFreeSql} limit 1),
    (select ${dueColumn} from ${table} where ${dueColumn} > now() order by ${dueColumn} limit 1))`;

const dueTable = ({
  table,
  dueColumn,
  lowPriorityWhen,
  orderColumn = dueColumn,
  isTraced = false,
  hasVersion = false,
}: DueRows): DueTable => ({
  table,
  dueAt: dueColumn,
  hasVersion,
  order: lowPriorityWhen ? `${lowPriorityWhen}, ${orderColumn}` : orderColumn,
  select: `select id, business_id as "businessId", lease_token as token, ${isTraced ? "traceparent" : "null as traceparent"} from claimed`,
});
