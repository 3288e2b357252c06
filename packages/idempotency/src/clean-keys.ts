import { deleteOld, type Orm } from "@amana/database";
import { type Logger, poll } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

const everyMs = 60 * 60 * 1000;

/** At the start and then once an hour. A failure is logged and made good an hour later. */
export function startKeyCleaning(orm: Orm, logger: Logger): AsyncDisposable {
  return poll("clean-keys", logger, () => cleanKeys(orm), everyMs);
}

/**
 * Deletes keys that have ended or were abandoned a day after their first use, one batch; answers
 * how many. Others stay until they end.
 */
export const cleanKeys = (orm: Orm, batch?: number): Promise<number> =>
  deleteOld(
    orm.em.fork() as SqlEntityManager,
    {
      table: "idempotency_key",
      since: "created_at",
      olderThan: "24 hours",
      where: "(answer is not null or refusal is not null or held_until < now())",
    },
    batch,
  );
