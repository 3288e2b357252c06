import { preparedQuery } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

/** Maximum number of lines in a page. */
export const linesPerPage = 2_000;

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

/**
 * Cursor of a page in a statement. `at` and `id` are those of the last line before the page.
 * `until` is the exclusive end of the whole statement.
 */
export interface StatementCursor {
  readonly until: Date;
  readonly at: Date;
  readonly id: string;
}

/**
 * Returns the cursor before all lines from the time `from`. Its id is lower than the id of every
 * line.
 */
export const firstCursor = (from: Date, until: Date): StatementCursor => ({
  until,
  at: from,
  id: "00000000-0000-0000-0000-000000000000",
});

/**
 * Returns the end of the statement, or undefined while the job inserts the movements of earlier
 * payments. The end is the earliest of three times: `to`, the start of this SQL statement, and the
 * start of the oldest open transaction of this service. An open transaction adds only lines after
 * its start. Therefore, no transaction can later add a line before the end.
 *
 * Callers must read the pages in later SQL statements. A transaction may end after this statement
 * takes its snapshot and before this statement reads `pg_stat_activity`. The snapshot then lacks
 * the lines of that transaction, and `pg_stat_activity` does not list it. A transaction that begins
 * after this statement adds only lines after `now()`. If the setting `track_activities` is off, the
 * end is at least a minute ago.
 */
export async function readUntil(em: SqlEntityManager, to: Date): Promise<Date | undefined> {
  const [row] = await preparedQuery<{ ms: string; is_filling: boolean }>(
    em,
    `select floor(extract(epoch from least($1::timestamptz, now(),
         case when not current_setting('track_activities')::boolean then now() - interval '1 minute' end,
         (select min(xact_start) from pg_stat_activity
          where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()))) * 1000)::bigint as ms,
       exists (select from money_movement_fill) as is_filling`,
    [to],
  );
  return row && !row.is_filling ? new Date(Number(row.ms)) : undefined;
}

/**
 * Returns the page after a cursor. PostgreSQL reads the lines of the page in the order of the
 * primary key, and reads the payment of each line by its id. PostgreSQL may estimate few lines for
 * a business that has many. The plan must not depend on this estimate:
 *
 * - With `limit (select …)`, the limit is not available to the planner, which then assumes that a
 *   tenth of the lines is read. With a literal limit above the estimate, PostgreSQL would read and
 *   sort all lines after the cursor.
 * - With `offset 0`, PostgreSQL does not merge the subquery on `payment` into the outer query.
 *   Otherwise PostgreSQL could read the payments of all businesses for a hash join.
 */
export async function readLines(
  em: SqlEntityManager,
  businessId: string,
  { until, at, id }: StatementCursor,
): Promise<LineRow[]> {
  return await preparedQuery<LineRow>(
    em,
    `select m.at, m.id, m.type, m.payment_id, p.payment_link_id, p.order_ref, p.processor_order_number, m.amount_minor, p.currency, m.origin
     from (
       select * from money_movement
       where business_id = $1 and (at, id) > ($2::timestamptz, $3::uuid) and at < $4::timestamptz
       order by at, id limit (select ${linesPerPage})
     ) m cross join lateral (
       select * from payment where id = m.payment_id and (business_id = $1) is true offset 0
     ) p
     order by m.at, m.id`,
    [businessId, at, id, until],
  );
}
