import { AsyncLocalStorage } from "node:async_hooks";

/** For operators' calls, searches for what is due, and other services' events. */
export const allTenants = "*";

const current = new AsyncLocalStorage<string>();

/**
 * Does work for one business, by its id, or for all of them: `everyTenant`. The database shows it
 * the rows of no other. Work that is done for nobody sees none.
 */
export const forTenant = <T>(tenant: string, work: () => T): T => current.run(tenant, work);

/** For whom work is done; undefined: for nobody. */
export const currentTenant = (): string | undefined => current.getStore();
