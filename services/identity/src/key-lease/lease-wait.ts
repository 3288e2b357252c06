import { keyLeaseMsMax } from "@amana/api-keys";
import type { Logger } from "@amana/runtime";

/** Margin for timers that fire early and for clocks with slightly different speeds. */
const marginMs = 50;

/**
 * Creates the wait for the end of the leases under which gateways cache keys. A request that
 * removes access waits before its response. Granted leases are not recorded, so each wait lasts as
 * long as the longest possible lease.
 */
export const createLeaseWait = ({ leaseMs, wait }: { leaseMs: number; wait: (ms: number) => Promise<void> }) => ({
  /** Duration of the leases of this replica. With 0, gateways cache no key. */
  leaseMs,
  /**
   * Resolves when all leases that any replica granted before the call have expired. Call it between
   * the commit that removes access and the response, so that no gateway accepts the key after the
   * response. Repeated requests must also wait, because the first request may still wait or may
   * have crashed before its response.
   */
  waitUntilExpired: () => wait(keyLeaseMsMax + marginMs),
});

/**
 * Logs the removal of access. If the database is restored to an earlier time, only the log contains
 * the later removals.
 */
export function logAccessRemoval(
  logger: Logger,
  subject: { readonly [name in "business_id" | "api_key_id" | "admin_key_id" | "status"]?: string | undefined },
): void {
  logger.info(subject, "access revoked");
}
