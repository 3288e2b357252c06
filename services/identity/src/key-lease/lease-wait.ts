import { keyLeaseMsMax } from "@amana/api-keys";
import type { Logger } from "@amana/runtime";

/** Margin for timers that fire early and for clocks with slightly different speeds. */
const marginMs = 50;

/**
 * Returns the lease duration of this replica and a function that waits until all key leases have
 * expired. An RPC that removes access must call this function before it responds. identity does not
 * record the leases that it grants to gateways, so each wait lasts as long as the longest possible
 * lease.
 */
export const createLeaseWait = ({ leaseMs, wait }: { leaseMs: number; wait: (ms: number) => Promise<void> }) => ({
  /**
   * Duration of the leases that this replica grants. If 0, gateways do not cache the keys that this
   * replica resolves.
   */
  leaseMs,
  /**
   * Resolves when all leases that any replica granted before the call have expired. Call this
   * function after the commit that removes access and before the response, so that no gateway
   * accepts the key after the response. Repeated requests must also wait. The earlier request may
   * still be waiting, or its process may have crashed before the response.
   */
  waitUntilExpired: () => wait(keyLeaseMsMax + marginMs),
});

/**
 * Logs a removal of access. After a restore of the database to an earlier time, operators can find
 * the lost removals only in the log.
 */
export function logAccessRemoval(
  logger: Logger,
  subject: { readonly [name in "business_id" | "api_key_id" | "admin_key_id" | "status"]?: string },
): void {
  logger.info(subject, "access revoked");
}
