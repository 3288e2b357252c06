import { keyLeaseMsMax } from "@amana/api-keys";
import type { Logger } from "@amana/runtime";

/** For timers that fire a little early and clocks that do not run at quite the same speed. */
const marginMs = 50;

/** How long gateways may believe a key, which is what taking access away has to wait for. */
export const createGrantedLeases = ({ leaseMs, wait }: { leaseMs: number; wait: (ms: number) => Promise<void> }) => ({
  /** What this replica grants; 0: an answer is for one request only. */
  leaseMs,
  /**
   * Call it after the commit that took access away, before answering: resolves once no lease that
   * any replica granted before the commit can still run. So whoever reads the answer finds the
   * access gone everywhere. An answer that only repeats what another call did waits, too: that
   * call's own wait may still be under way, or it died before it answered.
   */
  ended: () => wait(keyLeaseMsMax + marginMs),
});

/** Logs are kept elsewhere: after a restore of this database they alone know what to take away. */
export function logCutOff(
  logger: Logger,
  what: { readonly [name in "business_id" | "api_key_id" | "admin_key_id" | "status"]?: string | undefined },
): void {
  logger.info(what, "access was taken away");
}
