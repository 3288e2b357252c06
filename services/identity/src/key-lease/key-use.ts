import type { Orm } from "@amana/database";
import { createBatcher, inOperation, type Logger } from "@amana/runtime";
import { recordKeyUse } from "./queries.ts";

/** Maximum number of keys that wait for the next write. Uses of further keys are dropped. */
const pendingMax = 10_000;

/**
 * Updates last_used_at of keys without delaying responses. At most one statement runs at a time.
 * The next statement writes all uses that were added during the previous statement.
 */
export function trackKeyUse(orm: Orm, logger: Logger) {
  const pending = new Set<string>();
  let lastWrite: Promise<void> | undefined;
  const write = createBatcher<string>(pendingMax, async (keyIds) => {
    for (const id of keyIds) pending.delete(id);
    try {
      await inOperation("record-key-use", () => recordKeyUse(orm.em.fork(), keyIds));
    } catch (error) {
      logger.warn({ err: error, keys: keyIds.length }, "last use of keys not recorded");
    }
  });

  /**
   * Resolves after the uses that were added before this call are written, or their write has
   * failed.
   */
  const flush = async () => {
    await lastWrite;
  };
  return {
    /**
     * Adds one use of each key to the next write. Never throws. If the write fails, the error is
     * logged and the uses are lost.
     */
    add(keyIds: readonly string[]): void {
      const added = [...new Set(keyIds)].filter((id) => !pending.has(id)).slice(0, pendingMax - pending.size);
      for (const id of added) pending.add(id);
      if (added.length > 0) lastWrite = write(added);
    },
    flush,
    [Symbol.asyncDispose]: flush,
  };
}
