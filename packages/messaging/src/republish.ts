import { type Orm, transaction } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { uuidArray } from "./event-id.ts";

const batchRows = 2_000;

/** Which events of a topic: those committed from one time up to another, or those of these ids. */
export type RepublishRange = { readonly topic: string } & (
  | { readonly from: Date; readonly to: Date }
  | { readonly eventIds: readonly string[] }
);

/**
 * Publishes events again, for when a broker has lost what it had acknowledged or a consumer was
 * restored to an earlier time: their rows are put into the outbox once more, under the same event
 * ids, and the running service relays them. Consumers drop those they know. `record` writes into
 * the first batch's transaction. Answers how many; what is committed after the call began is not
 * among them.
 */
export async function republish(
  orm: Orm,
  range: RepublishRange,
  record: (em: SqlEntityManager) => void,
  progress = (_count: number) => {},
): Promise<number> {
  const which =
    "eventIds" in range
      ? { sql: "(headers ->> 'ce_id')::uuid = any(?::uuid[])", values: [uuidArray(range.eventIds)] }
      : { sql: "created_at >= ? and created_at < ?", values: [range.from, range.to] };
  const [newest] = await orm.em.fork().execute<{ id: string }[]>("select coalesce(max(id), 0) as id from outbox");
  let done = 0;
  for (let afterId: string | undefined = "0"; afterId !== undefined; ) {
    const batch: { after_id: string; count: number }[] = await transaction(orm, async (em) => {
      if (done === 0) record(em);
      return await em.execute(
        `with batch as (
           select * from outbox where topic = ? and ${which.sql} and id > ? and id <= ? order by id limit ${batchRows}
         ), again as (
           insert into outbox (topic, key, payload, headers) select topic, key, payload, headers from batch order by id
         )
         select max(id) as after_id, count(*)::int as count from batch having count(*) > 0`,
        [range.topic, ...which.values, afterId, newest?.id ?? "0"],
      );
    });
    afterId = batch[0]?.after_id;
    done += batch[0]?.count ?? 0;
    progress(done);
  }
  return done;
}
