import { createTestDatabase } from "@amana/testing";
import { defineEntity, p } from "@mikro-orm/postgresql";

const Thing = defineEntity({ name: "Thing", tableName: "thing", properties: { id: p.uuid().primary() } });

const thingTable = {
  name: "0001-thing",
  sql: `
    create table thing (
      id uuid primary key,
      business_id uuid not null,
      urgent boolean not null default false,
      since timestamptz(3) not null default now(),
      due_at timestamptz(3),
      leased_until timestamptz(3),
      lease_token uuid
    );
    create index on thing (business_id, since) where due_at is not null;
    create index on thing (due_at) where due_at is not null;
  `,
};

/** Something with work that is due. */
export async function startThings() {
  const database = await createTestDatabase("due_work", {
    entities: [Thing],
    migrations: [thingTable],
  });
  return {
    ...database,
    sql: async <Row = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> =>
      await database.orm.em.fork().execute<Row[]>(text, values),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
