import type { Orm } from "@amana/database";
import type { Logger } from "@amana/runtime";

const everyMs = 60 * 60 * 1000;

/** Once an hour. A failure is logged and made good an hour later. */
export function startKeyCleaning(orm: Orm, logger: Logger): Disposable {
  const timer = setInterval(() => {
    cleanKeys(orm).catch((error: unknown) => logger.warn({ err: error }, "old idempotency keys could not be deleted"));
  }, everyMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Deletes finished keys a day after their first use. Unfinished ones stay until they are resolved. */
export async function cleanKeys(orm: Orm): Promise<void> {
  await orm.em
    .fork()
    .execute(
      `delete from idempotency_key where created_at < now() - interval '24 hours' and (answer is not null or refusal is not null)`,
    );
}
