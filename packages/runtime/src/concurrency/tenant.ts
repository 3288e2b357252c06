import { AsyncLocalStorage } from "node:async_hooks";

/**
 * Tenant of work that is not limited to one business: operators' calls, searches for due work, and
 * events of other services.
 */
export const allTenants = "*";

const current = new AsyncLocalStorage<string>();

/**
 * Runs work for the business with the id `tenant`, or for `allTenants`. During the work, the
 * database returns only rows of that tenant. Without a tenant, the database returns no rows.
 */
export const forTenant = <T>(tenant: string, work: () => T): T => current.run(tenant, work);

/** Returns the tenant of the current work, or undefined if the work has no tenant. */
export const currentTenant = (): string | undefined => current.getStore();
