import { type Database, query } from "./database.ts";

export interface ReceivedCall {
  readonly operation: string;
  readonly at: string;
  readonly parameters: object;
}

export type ReceivedCalls = ReturnType<typeof createReceivedCalls>;

/**
 * Creates the record of all calls that a provider received. `id` and `reference` are the names of
 * the columns with the provider's id and the caller's reference of a resource.
 */
export function createReceivedCalls(database: Database, table: string, id: string, reference: string) {
  database.exec(`
    create table if not exists ${table} (
      id integer primary key,
      ${id} text,
      ${reference} text,
      operation text not null,
      at text not null,
      parameters text not null
    ) strict;
    create index if not exists ${table}_by_${id} on ${table} (${id});
    create index if not exists ${table}_by_${reference} on ${table} (${reference});
  `);
  const insert = database.prepare(`insert into ${table} (${id}, ${reference}, operation, at, parameters) values (?, ?, ?, ?, ?)`);
  const select = query<{ operation: string; at: string; parameters: string }>(
    database,
    `select operation, at, parameters from ${table} where ${id} = ? or ${reference} = ? order by id`,
  );
  return {
    record(operation: string, parameters: object, resource: { id?: string; reference?: string }) {
      const at = new Date().toISOString();
      insert.run(resource.id ?? null, resource.reference ?? null, operation, at, JSON.stringify(parameters));
    },
    of: (resource: { id?: string; reference: string }): ReceivedCall[] =>
      select(resource.id ?? null, resource.reference).map((row) => ({ ...row, parameters: JSON.parse(row.parameters) })),
  };
}
