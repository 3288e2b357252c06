import type { Orm } from "@amana/database";
import type { Logger } from "@amana/runtime";

const everyMs = 60 * 60 * 1000;

/** Deletes finished keys a day after their first use, once an hour. Unfinished ones stay until they are resolved. */
export function startKeyCleaning(orm: Orm, logger: Logger): Disposable {
  const timer = setInterval(() => {
    orm.em
      .fork()
      .getConnection()
      .execute(
        `delete from idempotency_key where created_at < now() - interval '24 hours' and (answer is not null or refusal is not null)`,
      )
      .catch((error: unknown) => logger.warn({ err: error }, "old idempotency keys could not be deleted"));
  }, everyMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
