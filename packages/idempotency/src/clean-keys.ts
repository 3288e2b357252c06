import type { Orm } from "@amana/database";
import { type Logger, poll } from "@amana/runtime";

const everyMs = 60 * 60 * 1000;
/** Short enough for the bound on statements, however many there are in all. */
const batchKeys = 5_000;

/** At the start and then once an hour. A failure is logged and made good an hour later. */
export function startKeyCleaning(orm: Orm, logger: Logger): AsyncDisposable {
  return poll("clean-keys", logger, () => cleanKeys(orm), everyMs);
}

/** Deletes finished keys a day after their first use, one batch of them; answers how many. Unfinished ones stay until they are resolved. */
export async function cleanKeys(orm: Orm, batch = batchKeys): Promise<number> {
  const rows = await orm.em.fork().execute<{ id: string }[]>(
    `delete from idempotency_key where id = any (array(
       select id from idempotency_key
       where created_at < now() - interval '24 hours' and (answer is not null or refusal is not null)
       order by created_at limit ? for update skip locked
     )) returning id`,
    [batch],
  );
  return rows.length;
}
