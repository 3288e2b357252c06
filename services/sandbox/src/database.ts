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
    reference text not null,
    due_at_ms integer,
    body text not null
  ) strict;
  create index if not exists kyc_application_by_reference on kyc_application (reference);
  create index if not exists kyc_application_by_due_at on kyc_application (due_at_ms) where due_at_ms is not null;

  create table if not exists kyc_link (token text primary key, link_token text not null) strict;

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

/** Opens the database and creates its tables. Each statement outside a transaction is atomic. */
export function openDatabase(dataDir: string | undefined): Database {
  if (dataDir) mkdirSync(dataDir, { recursive: true });
  const database = new DatabaseSync(dataDir ? join(dataDir, "sandbox.sqlite") : ":memory:");
  database.exec("pragma journal_mode = wal; pragma synchronous = normal; pragma busy_timeout = 2000;");
  database.exec(tables);
  return database;
}

/** Prepares a query. The query's column names must be the field names of `Row`. */
export function query<Row>(database: Database, sql: string): (...values: SQLInputValue[]) => Row[] {
  const statement = database.prepare(sql);
  return (...values) => statement.all(...values) as Row[];
}

/** Prepares a query for the JSON in the column `body` and returns the first result. */
export function queryBody<Resource>(database: Database, sql: string): (...values: SQLInputValue[]) => Resource | undefined {
  const rows = query<{ body: string }>(database, sql);
  return (...values) => rows(...values).map(({ body }) => JSON.parse(body) as Resource)[0];
}

/**
 * Prepares a search by a column. Calls `update` with the found resource to apply changes that are
 * due.
 */
export function findBy<Resource>(database: Database, table: string, column: string, update: (resource: Resource) => void) {
  const find = queryBody<Resource>(database, `select body from ${table} where ${column} = ? order by rowid desc limit 1`);
  return (value: string) => {
    const resource = find(value);
    if (resource) update(resource);
    return resource;
  };
}

/**
 * Runs `work` in a transaction, or in the current transaction if there is one. `work` must be
 * synchronous.
 */
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
