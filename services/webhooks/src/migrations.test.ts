import { migrate } from "@amana/database";
import { createLogger } from "@amana/runtime";
import { createTestDatabase } from "@amana/testing";
import { expect, test } from "vitest";
import { database } from "./orm.ts";

const frozenMigrationName = "0014-tenants-of-earlier-rows";

/** Returns the database settings with only the migrations before the migration `name`. */
const databaseBefore = (name: string) => ({
  ...database,
  migrations: database.migrations.slice(
    0,
    database.migrations.findIndex((migration) => migration.name.startsWith(name.slice(0, 4))),
  ),
});

/**
 * Selects the tables `…_earlier`, which contain the rows that existed before the tables were
 * partitioned.
 */
const earlierTables =
  "select relname::text as name, relispartition as is_partition, relrowsecurity as is_kept from pg_class where relname ~ '^(event|delivery_attempt)_earlier$' order by 1";

test("the function `migrate` of the webhooks service succeeds if retention has dropped one or both tables with the suffix _earlier", async () => {
  for (const droppedTables of [["event_earlier"], ["delivery_attempt_earlier"], ["event_earlier", "delivery_attempt_earlier"]]) {
    await using oldDatabase = await createTestDatabase("webhooks_before_0014", databaseBefore(frozenMigrationName));
    const em = oldDatabase.orm.em.fork();
    for (let done: unknown = ""; done; ) {
      [{ done }] = (await em.execute("select keep_partitions() as done")) as [{ done: unknown }];
    }
    // `keep_partitions` drops such a table when all of its rows are old.
    for (const table of droppedTables) await em.execute(`drop table ${table}`);
    await migrate({ ...database, url: oldDatabase.url }, createLogger("test", "silent"));
    const remainingTables = ["delivery_attempt_earlier", "event_earlier"].filter((table) => !droppedTables.includes(table));
    expect(await em.execute(earlierTables)).toEqual(remainingTables.map((name) => ({ name, is_partition: true, is_kept: true })));
  }
});

test("the function `migrate` of the webhooks service does not recreate the tables with the suffix _earlier that retention dropped after migration 0014", async () => {
  const olderMigrations = databaseBefore(frozenMigrationName).migrations;
  const frozenMigration = database.migrations.find(({ name }) => name === frozenMigrationName);
  if (!frozenMigration) throw new Error("the frozen migration is missing");
  await using oldDatabase = await createTestDatabase("webhooks_at_0014", {
    ...database,
    migrations: [...olderMigrations, frozenMigration],
  });
  const em = oldDatabase.orm.em.fork();
  for (const [table, rest] of [
    ["event", "event_earlier"],
    ["delivery_attempt", "delivery_attempt_earlier"],
  ])
    await em.execute(`alter table ${table} detach partition ${rest}; drop table ${rest}`);
  await migrate({ ...database, url: oldDatabase.url }, createLogger("test", "silent"));
  expect(await em.execute(earlierTables)).toEqual([]);
});

test("the function `migrate` of the webhooks service creates the tables with the suffix _earlier in a new database", async () => {
  await using newDatabase = await createTestDatabase("webhooks", database);
  expect(await newDatabase.orm.em.fork().execute(earlierTables)).toEqual([
    { name: "delivery_attempt_earlier", is_partition: true, is_kept: true },
    { name: "event_earlier", is_partition: true, is_kept: true },
  ]);
});
