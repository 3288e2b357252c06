import { join } from "node:path";
import { type Migration, readMigrations } from "./migrations.ts";

/**
 * What a service lists before its own whose tables PostgreSQL keeps to their tenants. Each of its
 * tables with a business_id then needs `select keep_to_tenants('<table>')` in a migration.
 */
export const tenantMigrations = readMigrations(join(import.meta.dirname, "..", "migrations"), "tenants-");

/** Whether a service with these migrations has such tables. */
export const hasTenantTables = (migrations: readonly Migration[]): boolean =>
  tenantMigrations.some((migration) => migrations.includes(migration));
