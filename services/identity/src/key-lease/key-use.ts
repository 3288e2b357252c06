import type { Orm } from "@amana/database";
import { allTenants, forTenant, inOperation, type Logger } from "@amana/runtime";
import { recordKeyUse } from "./queries.ts";

/** Maximum number of keys that wait for the next write. Uses of further keys are dropped. */
const pendingMax = 10_000;

/**
 * Updates last_used_at of keys without delaying responses. At most one statement runs at a time.
 * The next statement writes all uses that were added during the previous statement.
 */
export function trackKeyUse(orm: Orm, logger: Logger) {
  const pending = new Set<string>();
  let activeWrite: Promise<void> | undefined;

  const writePending = async () => {
    while (pending.size > 0) {
      const batch = [...pending];
      pending.clear();
      try {
        await recordKeyUse(orm.em.fork(), batch);
      } catch (error) {
        logger.warn({ err: error, keys: batch.length }, "last use of keys not recorded");
      }
    }
    activeWrite = undefined;
  };

  /**
   * Resolves after the uses that were added before this call are written, or their write has
   * failed.
   */
  const flush = async () => {
    await activeWrite;
  };
  return {
    /**
     * Adds one use of each key to the next write. Never throws. If the write fails, the error is
     * logged and the uses are lost.
     */
    add(keyIds: readonly string[]): void {
      for (const id of keyIds) if (pending.size < pendingMax) pending.add(id);
      if (pending.size > 0) activeWrite ??= forTenant(allTenants, () => inOperation("record-key-use", writePending));
    },
    flush,
    [Symbol.asyncDispose]: flush,
  };
}
