import type { Orm } from "@amana/database";
import { type Logger, poll } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

const timeline = "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)";
/**
 * SQL: a name for the history that the database's rows are of. A restore to an earlier time and a
 * standby that takes over begin a new timeline, a copy on another server has another cluster, one
 * that was filled from a dump another database.
 */
const history = `(select system_identifier from pg_control_system()) || '.' ||
  (select oid from pg_database where datname = current_database()) || '.' || ${timeline}`;
/**
 * SQL: the rows are of another history than the one remembered. A backup from before there was
 * anything to remember in tells nothing; then whatever is not the first timeline counts as another.
 */
const isAnother = `case when history is null then ${timeline} <> '00000001' and exists (select from payment)
  else history <> ${history} end`;
const byPerson = "held by a person";

/** Whether refunds may be sent, by the database's clock. */
export interface Hold {
  readonly now: Date;
  /** Until when none may; undefined: they may. */
  readonly heldUntil: Date | undefined;
}

/**
 * What was sent may be missing in rows of another history, and may take effect at the processor
 * for `refundLateEffectSeconds` more: until then a read that shows nothing proves nothing. Asked
 * before the read that decides, and again in the transaction that says "sent".
 */
export async function readHold(em: SqlEntityManager, schedule: { refundLateEffectSeconds: number }): Promise<Hold> {
  const [row] = await em.execute<{ now: string; held_until: string | null }[]>(
    `select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now, floor(extract(epoch from
       case when ${isAnother} then clock_timestamp() + make_interval(secs => ?::float8) else held_until end) * 1000)::bigint as held_until
     from refund_hold`,
    [String(schedule.refundLateEffectSeconds)],
  );
  if (!row) throw new Error("refund_hold has lost its row: insert into refund_hold default values");
  const untilMs = Number(row.held_until ?? 0);
  return { now: new Date(Number(row.now)), heldUntil: untilMs > Number(row.now) ? new Date(untilMs) : undefined };
}

interface Context {
  readonly orm: Orm;
  readonly logger: Logger;
  readonly schedule: { refundLateEffectSeconds: number };
}

/** Remembers the history of the database, and holds refunds when it is another than before. */
export async function noteHistory({ orm, logger, schedule }: Context): Promise<number> {
  const rows = await orm.em.fork().execute<{ before: string | null; held_until: Date | null; is_held: boolean }[]>(
    `update refund_hold set history = ${history},
       held_until = case when ${isAnother} then greatest(held_until, now() + make_interval(secs => ?::float8)) else held_until end
     where history is distinct from (${history})
     returning old.history as before, held_until, coalesce(held_until > now(), false) as is_held`,
    [String(schedule.refundLateEffectSeconds)],
  );
  for (const { before, held_until, is_held } of rows) {
    if (!is_held) continue;
    logger.error(
      { alert: true, before, held_until },
      "the database was restored, or another one has taken over: refunds are held until what may have been lost has shown",
    );
  }
  return 0;
}

/**
 * By a person who knows of a restore that cannot be seen here. Answers until when at least: the
 * service holds them for as long as its settings say once more, from when it sees this.
 */
export async function holdRefunds(em: SqlEntityManager, seconds: number): Promise<Date> {
  const [row] = await em.execute<{ until: string }[]>(
    `update refund_hold set history = '${byPerson}', held_until = greatest(held_until, now() + make_interval(secs => ?::float8))
     returning to_json(held_until) #>> '{}' as until`,
    [String(seconds)],
  );
  return new Date(row?.until ?? "");
}

/** By a person who knows that nothing was lost. False: nothing is held. */
export async function releaseRefunds(em: SqlEntityManager): Promise<boolean> {
  const rows = await em.execute<object[]>(
    `update refund_hold set history = ${history}, held_until = null where held_until > now() or ${isAnother} returning 1`,
  );
  return rows.length > 0;
}

const lookMs = 2_000;

/** Looks for as long as the service runs, for a database may be restored under it. */
export const watchHistory = (context: Context): AsyncDisposable =>
  poll("watch-history", context.logger, () => noteHistory(context), lookMs);
