import type { Orm } from "@amana/database";
import { type Logger, poll } from "@amana/runtime";

const everyMs = 60 * 60 * 1000;

/** At the start and then once an hour. A failure is logged and made good an hour later. */
export function startKeyCleaning(orm: Orm, logger: Logger): AsyncDisposable {
  const round = async () => {
    await cleanKeys(orm);
    return 0;
  };
  return poll("clean-keys", logger, round, everyMs);
}

/** Deletes finished keys a day after their first use. Unfinished ones stay until they are resolved. */
export async function cleanKeys(orm: Orm): Promise<void> {
  await orm.em
    .fork()
    .execute(
      `delete from idempotency_key where created_at < now() - interval '24 hours' and (answer is not null or refusal is not null)`,
    );
}
