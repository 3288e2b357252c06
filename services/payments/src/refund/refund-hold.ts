import { type Orm, pollWhenDue } from "@amana/database";
import type { Logger } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

const timeline = "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)";
/**
 * SQL expression for the identity of the database's current history. A restore to an earlier time
 * and a failover both start a new timeline. A copy in another cluster has another system
 * identifier. A database that is loaded from a dump has another oid.
 */
const currentHistory = `(select system_identifier from pg_control_system()) || '.' ||
  (select oid from pg_database where datname = current_database()) || '.' || ${timeline}`;
/**
 * SQL condition: the current history differs from the stored history. A backup that was made before
 * the column `history` existed has no stored history. If such a backup contains payments, every
 * timeline except the first counts as a change.
 */
const hasChanged = `case when history is null then ${timeline} <> '00000001' and exists (select from payment)
  else history <> ${currentHistory} end`;
/**
 * SQL expression: true if refunds are held, by the database's clock. Null if the table
 * `refund_hold` has no row.
 */
export const refundsHeldSql = `(select (${hasChanged}) or coalesce(held_until > clock_timestamp(), false) from refund_hold)`;
const operatorHold = "held by a person";

/** State of the refund hold. Both times are from the database's clock. */
export interface RefundHold {
  readonly now: Date;
  /** End of the hold; undefined if refunds may be sent. */
  readonly heldUntil: Date | undefined;
}

/**
 * Returns the state of the refund hold. After a restore, the database may lack refunds whose
 * requests were sent. Such a request can take effect until `refundLateEffectSeconds` after it was
 * sent. Until then, an order without a refund does not prove that no request was sent. Callers must
 * check the hold before they read the order, and again in the statement that commits SENT.
 */
export async function readRefundHold(em: SqlEntityManager, schedule: { refundLateEffectSeconds: number }): Promise<RefundHold> {
  const [row] = await em.execute<{ now: string; held_until: string | null }[]>(
    `select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now, floor(extract(epoch from
       case when ${hasChanged} then clock_timestamp() + make_interval(secs => ?::float8) else held_until end) * 1000)::bigint as held_until
     from refund_hold`,
    [String(schedule.refundLateEffectSeconds)],
  );
  if (!row) throw new Error("table refund_hold is empty; run: insert into refund_hold default values");
  const untilMs = Number(row.held_until ?? 0);
  return { now: new Date(Number(row.now)), heldUntil: untilMs > Number(row.now) ? new Date(untilMs) : undefined };
}

interface Context {
  readonly orm: Orm;
  readonly logger: Logger;
  readonly schedule: { refundLateEffectSeconds: number };
}

/** Stores the current history of the database, and holds refunds if the history has changed. */
export async function updateHistory({ orm, logger, schedule }: Context): Promise<number> {
  const rows = await orm.em.fork().execute<{ before: string | null; held_until: Date | null; is_held: boolean }[]>(
    `update refund_hold set history = ${currentHistory},
       held_until = case when ${hasChanged} then greatest(held_until, now() + make_interval(secs => ?::float8)) else held_until end
     where history is distinct from (${currentHistory})
     returning old.history as before, held_until, coalesce(held_until > now(), false) as is_held`,
    [String(schedule.refundLateEffectSeconds)],
  );
  for (const { before, held_until, is_held } of rows) {
    if (!is_held) continue;
    logger.error({ alert: true, before, held_until }, "database restored or failed over, refunds are held");
  }
  return 0;
}

/**
 * Holds refunds on an operator's request, after a restore that does not change the history. Returns
 * the earliest end of the hold. The running service extends a hold that is shorter than
 * `refundLateEffectSeconds`.
 */
export async function holdRefunds(em: SqlEntityManager, seconds: number): Promise<Date> {
  const [row] = await em.execute<{ until: string }[]>(
    `update refund_hold set history = '${operatorHold}', held_until = greatest(held_until, now() + make_interval(secs => ?::float8))
     returning to_json(held_until) #>> '{}' as until`,
    [String(seconds)],
  );
  return new Date(row?.until ?? "");
}

/**
 * Ends the hold on an operator's request. The operator must make sure that no commit was lost.
 * Returns false if refunds were not held.
 */
export async function releaseRefunds(em: SqlEntityManager): Promise<boolean> {
  const rows = await em.execute<object[]>(
    `update refund_hold set history = ${currentHistory}, held_until = null where held_until > now() or ${hasChanged} returning 1`,
  );
  return rows.length > 0;
}

const nextDue = `(select now() from refund_hold where history is distinct from (${currentHistory}))`;

/**
 * Checks the database's history until disposed, because the database can be restored while the
 * service runs.
 */
export const watchHistory = (context: Context): AsyncDisposable =>
  pollWhenDue(context.orm, context.logger, { name: "watch-history", nextDue }, () => updateHistory(context));
