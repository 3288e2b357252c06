/** PostgreSQL through MikroORM: one way to connect, migrate, run a transaction and read fast. */
export { databaseAnswers } from "./database-answers.ts";
export { databaseTime } from "./database-time.ts";
export { type Filter, type List, type ListPage, listPage, searchTotalMax } from "./list-page.ts";
export { migrate } from "./migrate.ts";
export { runMigrateCommand } from "./migrate-command.ts";
export { namedQuery } from "./named-query.ts";
export { createOrm, type DatabaseOptions, type Orm } from "./orm.ts";
export { foldTally, readTally, startTallyFolding, type Tally, tallySql } from "./tally.ts";
export { isDatabaseUnavailable, transaction } from "./transaction.ts";
