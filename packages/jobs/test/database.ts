import { createTestDatabase } from "@amana/testing";
import { defineEntity, p } from "@mikro-orm/postgresql";

const Job = defineEntity({ name: "Job", tableName: "job", properties: { id: p.uuid().primary() } });

const jobTable = {
  name: "0001-job",
  sql: `
    create table job (
      id uuid primary key,
      business_id uuid not null,
      urgent boolean not null default false,
      since timestamptz(3) not null default now(),
      due_at timestamptz(3),
      leased_until timestamptz(3),
      lease_token uuid
    );
    create index on job (business_id, since) where due_at is not null;
    create index on job (due_at) where due_at is not null;
  `,
};

/** Creates a database with a table of due rows. */
export async function createJobDatabase() {
  const database = await createTestDatabase("jobs", {
    entities: [Job],
    migrations: [jobTable],
  });
  return {
    ...database,
    sql: async <Row = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> =>
      await database.orm.em.fork().execute<Row[]>(text, values),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
