import type { Orm } from "@amana/database";
import { type Logger, sleep } from "@amana/runtime";

const everyMs = 60 * 60 * 1000;
const batchEvents = 1_000;

/** Deletes events older than 30 days with their deliveries and attempts, in batches short enough to disturb nobody. */
export async function deleteOldEvents(orm: Orm, stop?: AbortSignal): Promise<number> {
  for (let deleted = 0; ; ) {
    const rows = await orm.em.fork().execute<{ id: string }[]>(
      `with old as (
         select id from event where created_at < now() - interval '30 days' order by created_at limit ? for update skip locked
       ), deliveries as (
         delete from delivery where event_id in (select id from old) returning id
       ), attempts as (
         delete from delivery_attempt where delivery_id in (select id from deliveries)
       )
       delete from event where id in (select id from old) returning id`,
      [batchEvents],
    );
    deleted += rows.length;
    if (rows.length < batchEvents || stop?.aborted) return deleted;
  }
}

/** Deletes old events once an hour. */
export function startDeletingOldEvents(orm: Orm, logger: Logger): AsyncDisposable {
  const stop = new AbortController();
  const run = async () => {
    while (!stop.signal.aborted) {
      try {
        const deleted = await deleteOldEvents(orm, stop.signal);
        if (deleted > 0) logger.info({ deleted }, "old events were deleted");
      } catch (error) {
        logger.warn({ err: error }, "old events could not be deleted");
      }
      await sleep(everyMs, stop.signal);
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
