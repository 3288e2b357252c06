/** PostgreSQL through MikroORM: one way to connect, migrate, run a transaction and read fast. */
export { type Changes, changesOf, differs, takeOver } from "./changes.ts";
export { databaseAnswers } from "./database-answers.ts";
export { databaseTime } from "./database-time.ts";
export { readDatabaseUrl } from "./database-url.ts";
export { deleteOld } from "./delete-old.ts";
export { flushUnique } from "./flush-unique.ts";
export { defineList, type List } from "./list.ts";
export { type ListPage, listPage, searchTotalMax } from "./list-page.ts";
export { lockRow } from "./lock-row.ts";
export { type MigrateOptions, type MigrationsStatus, migrate, migrationsOf, requireMigrated } from "./migrate.ts";
export { runMigrateCommand } from "./migrate-command.ts";
export { checksumOf, type Migration, readMigrations } from "./migrations.ts";
export { namedQuery } from "./named-query.ts";
export { createOrm, type DatabaseOptions, type Orm } from "./orm.ts";
export { foldTally, readTally, startTallyFolding, type Tally } from "./tally.ts";
export { afterCommit, isDatabaseUnavailable, transaction } from "./transaction.ts";
export { defineView, everyBusiness, type Owner, type RowOf, type View } from "./view.ts";
export type { Waiting } from "./waiting.ts";
