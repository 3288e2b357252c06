import { type Orm, partitionMigrations, transaction } from "@amana/database";
import { IdempotencyRecord, idempotencyMigrations } from "@amana/idempotency";
import type { FunctionEffect } from "../src/effect.ts";
import { addToOutbox, inboxMigrations, OutboxMessage, outboxMigrations } from "../src/index.ts";

// No column is unique, so that a repeated effect adds a second row.
const effectTable = {
  name: "0001-effect",
  sql: `
    create table effect (position bigint generated always as identity, event_id uuid, key text, body text);
    create index effect_key on effect (key);
  `,
};

/** Database settings of a service that emits and consumes. */
export const database = {
  entities: [OutboxMessage, IdempotencyRecord],
  migrations: [...partitionMigrations, ...outboxMigrations, ...inboxMigrations, ...idempotencyMigrations, effectTable],
};

export const topic = "tests.v1";

/** Commits a message for each body in one transaction. Returns the event ids. */
export async function emit(orm: Orm, key: string, ...bodies: string[]): Promise<string[]> {
  return await transaction(orm, async (em) =>
    bodies.map((body) =>
      addToOutbox(em, { topic, key, type: "tests.v1.Test", source: "tests", payload: Buffer.from(body), occurredAt: new Date() }),
    ),
  );
}

/** Inserts a row for each message. Throws for the body "poison". */
export const recordEffect: FunctionEffect = async (em, messages) => {
  for (const { key, payload, headers } of messages) {
    const body = Buffer.from(payload).toString();
    if (body === "poison") throw new Error("this message is poison");
    await em.execute("insert into effect (event_id, key, body) values (?, ?, ?)", [headers["ce_id"], key, body]);
  }
};

const rowsOf = async <Row>(orm: Orm, sql: string): Promise<Row[]> => await orm.em.fork().execute<Row[]>(sql);

/** Returns the bodies of the messages in the order in which they took effect. */
export async function effects(orm: Orm): Promise<string[]> {
  const rows = await rowsOf<{ body: string }>(orm, "select body from effect order by position");
  return rows.map(({ body }) => body);
}

export interface DeadLetter {
  id: string;
  status: string;
  attempts: number;
  event_type: string;
  consumer: string;
  topic: string;
  key: string;
  event_id: string | null;
  payload: Buffer;
  headers: Record<string, string>;
  reason: string;
}

export const deadLetters = (orm: Orm) => rowsOf<DeadLetter>(orm, "select * from dead_letter order by position");

/** Returns the bodies of unpublished messages in order. */
export async function outbox(orm: Orm): Promise<string[]> {
  const rows = await rowsOf<{ payload: Buffer }>(orm, "select payload from outbox_waiting order by id");
  return rows.map(({ payload }) => payload.toString());
}
