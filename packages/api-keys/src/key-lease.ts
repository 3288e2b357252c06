/**
 * Maximum time for which a gateway caches identity's result for a key. The time begins when the
 * gateway sends its request to identity. Before identity confirms a revocation, it waits for this
 * time, because it cannot see leases that another replica of identity granted. The value must
 * therefore be equal in all running versions.
 */
export const keyLeaseMsMax = 500;
