import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

export type Database = DatabaseSync;

const tables = `
  create table if not exists setting (name text primary key, value text not null) strict;

  create table if not exists payment_order (
    order_id text primary key,
    order_number text not null unique,
    body text not null
  ) strict;

  create table if not exists payment_order_version (
    id integer primary key,
    order_id text not null,
    order_number text not null,
    at_ms integer not null,
    body text not null
  ) strict;
  create index if not exists payment_order_version_by_order_id on payment_order_version (order_id, id);
  create index if not exists payment_order_version_by_order_number on payment_order_version (order_number, id);

  create table if not exists late_call (
    id integer primary key,
    due_at_ms integer not null,
    path text not null,
    parameters text not null
  ) strict;

  create table if not exists kyc_application (
    link_token text primary key,
    provider_id text not null unique,
    reference text not null unique,
    due_at_ms integer,
    body text not null
  ) strict;
  create index if not exists kyc_application_by_due_at on kyc_application (due_at_ms) where due_at_ms is not null;

  create table if not exists kyc_callback (
    id integer primary key autoincrement,
    provider_id text not null,
    url text not null,
    body text not null,
    state text not null default 'pending',
    held integer not null default 0,
    attempts integer not null default 0,
    due_at_ms integer not null
  ) strict;
  create index if not exists kyc_callback_by_provider_id on kyc_callback (provider_id, id);
  create index if not exists kyc_callback_pending on kyc_callback (due_at_ms) where state = 'pending';

  create table if not exists kyc_callback_attempt (
    id integer primary key,
    callback_id integer not null,
    at text not null,
    result text not null
  ) strict;
  create index if not exists kyc_callback_attempt_by_callback on kyc_callback_attempt (callback_id);
`;

/** A statement outside a transaction commits by itself, so a kill leaves no half change. */
export function openDatabase(dataDir: string | undefined): Database {
  if (dataDir) mkdirSync(dataDir, { recursive: true });
  const database = new DatabaseSync(dataDir ? join(dataDir, "sandbox.sqlite") : ":memory:");
  database.exec("pragma journal_mode = wal; pragma synchronous = normal; pragma busy_timeout = 2000;");
  database.exec(tables);
  return database;
}

/** Reads rows, whose columns are named in the SQL as the fields of the row are. */
export function query<Row>(database: Database, sql: string): (...values: SQLInputValue[]) => Row[] {
  const statement = database.prepare(sql);
  return (...values) => statement.all(...values) as Row[];
}

/** Reads the first thing, kept as JSON in the column `body`, that a query finds. */
export function queryBody<Thing>(database: Database, sql: string): (...values: SQLInputValue[]) => Thing | undefined {
  const rows = query<{ body: string }>(database, sql);
  return (...values) => rows(...values).map(({ body }) => JSON.parse(body) as Thing)[0];
}

/** Finds a thing by a column of its table, and brings it up to date with what time does to it. */
export function findBy<Thing>(database: Database, table: string, column: string, bringUpToDate: (thing: Thing) => void) {
  const find = queryBody<Thing>(database, `select body from ${table} where ${column} = ?`);
  return (value: string) => {
    const thing = find(value);
    if (thing) bringUpToDate(thing);
    return thing;
  };
}

/** All of the work is kept, or none of it, also inside another transaction. It must not wait. */
export function inOneTransaction<T>(database: Database, work: () => T): T {
  if (database.isTransaction) return work();
  database.exec("begin immediate");
  try {
    const result = work();
    database.exec("commit");
    return result;
  } catch (error) {
    database.exec("rollback");
    throw error;
  }
}
