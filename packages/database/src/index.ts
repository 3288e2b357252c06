/** PostgreSQL through MikroORM: connections, migrations, transactions and prepared reads. */
export { changeRows } from "./change-rows.ts";
export { assignChanges, type Changes, changesOf, hasChanges } from "./changes.ts";
export { databaseTime } from "./database-time.ts";
export { readDatabaseUrl } from "./database-url.ts";
export { deleteOld } from "./delete-old.ts";
export { isDatabaseReachable } from "./is-database-reachable.ts";
export { defineList, type List } from "./list.ts";
export { listPage } from "./list-page.ts";
export { lockRow } from "./lock-row.ts";
export { type MigrateOptions, migrate, migrationsOf, requireMigrated } from "./migrate.ts";
export { runMigrateCommand } from "./migrate-command.ts";
export { checksumOf, readMigrations } from "./migrations.ts";
export { namedQuery } from "./named-query.ts";
export { createOrm, type Orm, plansByIndex } from "./orm.ts";
export { keepPartitions, partitionMigrations } from "./partitions.ts";
export { rowsCountedMax, showRows } from "./row-gauges.ts";
export type { StuckRows } from "./stuck-rows.ts";
export { noTenantOption } from "./tenant-client.ts";
export { hasTenantTables, tenantMigrations } from "./tenants.ts";
<<<<<<< HEAD
export { afterCommit, isDatabaseUnavailable, transaction } from "./transaction.ts";
export { allBusinesses, defineView, type Owner, type RowOf } from "./view.ts";
export { checkDue, pollWhenDue, watchDue } from "./watch-due.ts";
=======
export { afterCommit, isDatabaseUnavailable, refuseDuplicates, transaction } from "./transaction.ts";
export { allBusinesses, defineView, type Owner, type RowOf, type View } from "./view.ts";
export { checkDue, type DueTask, pollWhenDue, watchDue } from "./watch-due.ts";
>>>>>>> p-statements
