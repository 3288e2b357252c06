import { join } from "node:path";
import { type Migration, readMigrations } from "./migrations.ts";

/**
 * Migrations that a service with row-level security lists before its own. Each table of the service
 * with a business_id then needs `select keep_to_tenants('<table>')` in a migration.
 */
export const tenantMigrations = readMigrations(join(import.meta.dirname, "..", "migrations"), "tenants-");

/** Returns whether a service with these migrations has tables with row-level security. */
export const hasTenantTables = (migrations: readonly Migration[]): boolean =>
  tenantMigrations.some((migration) => migrations.includes(migration));
