/**
 * Maximum time for which a gateway caches identity's result for a key, from the start of its
 * request. Identity waits this time before it confirms a revocation, because it cannot see leases
 * that another replica granted. The value must therefore be equal in all versions and settings.
 */
export const keyLeaseMsMax = 500;
