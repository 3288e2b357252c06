import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { type Lease, withLease } from "../lease.ts";

/** How many rows one round takes up, all at the same time. */
const roundMax = 10;
/** A row whose check fails on a fault of ours waits, so that a few such rows cannot keep all others from their turn. */
const faultPauseSeconds = 10;

/** Works on the rows whose time has come and that nobody else works on. Answers how many it worked on. */
export async function takeDue(
  context: Context,
  table: "payment" | "refund",
  work: (id: string, lease: Lease) => Promise<unknown>,
): Promise<number> {
  const em = context.orm.em.fork() as SqlEntityManager;
  const due = `next_check_at <= now() and (leased_until is null or leased_until < now())`;
  const rows = await em.execute<{ id: string }[]>(
    `select id from ${table} where ${due} order by next_check_at limit ${roundMax}`,
  );
  const worked = await Promise.all(
    rows.map(({ id }) =>
      withLease(context.orm, table, id, async (lease) => {
        // Another replica may have done it between the two statements.
        const still = await em.fork().execute(`select 1 from ${table} where id = ? and next_check_at <= now()`, [id]);
        if (still.length > 0) await work(id, lease);
      }).catch(async (error: unknown) => {
        context.logger.error({ err: error, [`${table}_id`]: id }, "a due check failed");
        await em
          .fork()
          // Not of a row that has ended, by a commit whose answer was lost: it would stay due for ever.
          .execute(
            `update ${table} set next_check_at = now() + interval '${faultPauseSeconds} seconds' where id = ? and next_check_at is not null`,
            [id],
          );
        return undefined;
      }),
    ),
  );
  return worked.filter((done) => done !== undefined).length;
}
