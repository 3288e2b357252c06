import { namedQuery } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

/** Number of lines of a page. */
export const pageLines = 2_000;

/** A line as PostgreSQL returns it. */
export interface LineRow {
  readonly at: string;
  readonly id: string;
  readonly type: "PAYMENT" | "REFUND" | "REVERSAL";
  readonly payment_id: string;
  readonly payment_link_id: string | null;
  readonly order_ref: string | null;
  readonly processor_order_number: string;
  readonly amount_minor: string;
  readonly currency: string;
  readonly origin: string | null;
}

/** Position of a page: `until` is the end of the whole statement, exclusive. */
export interface Position {
  readonly until: Date;
  readonly at: Date;
  readonly id: string;
}

/** Returns the position before all lines of a time. Its id is lower than every id of a line. */
export const startOf = (from: Date, until: Date): Position => ({ until, at: from, id: "00000000-0000-0000-0000-000000000000" });

/**
 * Returns the end of the statement, or undefined while the job inserts the movements of earlier
 * payments. The end is the earliest of three times: `to`, the start of this SQL statement, and the
 * start of the oldest open transaction of this service. An open transaction adds only lines after
 * its start. Therefore no line can appear before the end later.
 *
 * Read the pages in later SQL statements. A transaction may end between the snapshot of this SQL
 * statement and its read of `pg_stat_activity`. The snapshot then lacks the lines of the
 * transaction, and `pg_stat_activity` lacks the transaction. A transaction that begins before this
 * read starts after `now()` and has only later lines. Without `track_activities`, the end is at
 * least a minute ago.
 */
export async function readUntil(em: SqlEntityManager, to: Date): Promise<Date | undefined> {
  const [row] = await namedQuery<{ ms: string; is_filling: boolean }>(
    em,
    "statement_until",
    `select floor(extract(epoch from least($1::timestamptz, now(),
         case when not current_setting('track_activities')::boolean then now() - interval '1 minute' end,
         (select min(xact_start) from pg_stat_activity
          where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()))) * 1000)::bigint as ms,
       exists (select from money_movement_fill) as is_filling`,
    [to],
  );
  return row && !row.is_filling ? new Date(Number(row.ms)) : undefined;
}

/** Returns the next page after a position. The limit is a literal: see `listPage`. */
export async function readLines(em: SqlEntityManager, businessId: string, { until, at, id }: Position): Promise<LineRow[]> {
  return await namedQuery<LineRow>(
    em,
    "statement_lines",
    `select m.at, m.id, m.type, m.payment_id, p.payment_link_id, p.order_ref, p.processor_order_number, m.amount_minor, p.currency, m.origin
     from (
       select * from money_movement
       where business_id = $1 and (at, id) > ($2::timestamptz, $3::uuid) and at < $4::timestamptz
       order by at, id limit ${pageLines}
     ) m join payment p on p.id = m.payment_id and (p.business_id = $1) is true
     order by m.at, m.id`,
    [businessId, at, id, until],
  );
}
