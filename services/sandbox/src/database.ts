import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export type Database = DatabaseSync;

const tables = `
  create table if not exists setting (name text primary key, value text not null) strict;

  create table if not exists payment_order (
    order_id text primary key,
    order_number text not null unique,
    body text not null
  ) strict;

  create table if not exists received_call (
    id integer primary key,
    order_id text,
    order_number text,
    operation text not null,
    at text not null,
    parameters text not null
  ) strict;
  create index if not exists received_call_by_order_id on received_call (order_id);
  create index if not exists received_call_by_order_number on received_call (order_number);
`;

/** Every statement commits by itself, so a process killed at any moment leaves whole rows behind. */
export function openDatabase(dataDir: string | undefined): Database {
  if (dataDir) mkdirSync(dataDir, { recursive: true });
  const database = new DatabaseSync(dataDir ? join(dataDir, "sandbox.sqlite") : ":memory:");
  database.exec("pragma journal_mode = wal; pragma synchronous = normal; pragma busy_timeout = 2000;");
  database.exec(tables);
  return database;
}
