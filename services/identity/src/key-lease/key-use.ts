import type { Orm } from "@amana/database";
import { allTenants, forTenant, type Logger } from "@amana/runtime";
import { recordKeyUse } from "./queries.ts";

/** Uses beyond this, while a statement is under way, are left to a later look-up. */
const pendingMax = 10_000;

/**
 * Keeps the last_used_at of keys, off the path of the answer: one statement at a time; uses noted
 * meanwhile go together into the next.
 */
export function trackKeyUse(orm: Orm, logger: Logger) {
  const pending = new Set<string>();
  let running: Promise<void> | undefined;

  const writePending = async () => {
    while (pending.size > 0) {
      const batch = [...pending];
      pending.clear();
      try {
        await recordKeyUse(orm.em.fork(), batch);
      } catch (error) {
        logger.warn({ err: error, keys: batch.length }, "the last use of keys could not be recorded");
      }
    }
    running = undefined;
  };

  /** Resolves when everything noted before the call has been written or given up. */
  const settled = async () => {
    await running;
  };
  return {
    /** Never fails; a use that cannot be recorded is recorded with one of the next. */
    note(keyIds: readonly string[]): void {
      for (const id of keyIds) if (pending.size < pendingMax) pending.add(id);
      if (pending.size > 0) running ??= forTenant(allTenants, writePending);
    },
    settled,
    [Symbol.asyncDispose]: settled,
  };
}
