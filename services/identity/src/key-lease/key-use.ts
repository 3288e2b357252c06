import type { Orm } from "@amana/database";
import { allTenants, forTenant, inOperation, type Logger } from "@amana/runtime";
import { recordKeyUse } from "./queries.ts";

/** Maximum number of waiting uses. Further uses are dropped; a later use of the key is recorded. */
const pendingMax = 10_000;

/**
 * Updates last_used_at of keys without delaying responses. One statement runs at a time; uses that
 * are added during a statement are written together by the next one.
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
        logger.warn({ err: error, keys: batch.length }, "last use of keys not recorded");
      }
    }
    running = undefined;
  };

  /** Resolves when all uses added before the call are written or failed. */
  const settled = async () => {
    await running;
  };
  return {
    /** Adds uses. Never throws; a failed write is logged, and a later use of the key is written. */
    add(keyIds: readonly string[]): void {
      for (const id of keyIds) if (pending.size < pendingMax) pending.add(id);
      if (pending.size > 0) running ??= forTenant(allTenants, () => inOperation("record-key-use", writePending));
    },
    settled,
    [Symbol.asyncDispose]: settled,
  };
}
