import { namedQuery } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Subscription } from "./dead-letter.ts";
import { eventIdOf, uuidArray } from "./event-id.ts";
import { claimFromInbox } from "./inbox.ts";
import type { Message } from "./message.ts";

/** What a consumer does with new messages, in the transaction that marks them as seen. */
export type Effect<Result = unknown> = (em: SqlEntityManager, messages: readonly Message[]) => Promise<Result>;

/** The effect of those messages that were not seen before, which from this transaction on are. */
export async function applyFresh<Result>(
  em: SqlEntityManager,
  { consumer, effect }: { readonly consumer: string; readonly effect: Effect<Result> },
  messages: readonly Message[],
): Promise<{ fresh: readonly Message[]; result: Result | undefined }> {
  const fresh = await claimFromInbox(em, consumer, messages);
  return { fresh, result: fresh.length > 0 ? await effect(em, fresh) : undefined };
}

/**
 * An effect that is one statement, and so costs one round trip together with the inbox. Its CTEs
 * read `fresh (event_id)`, the events that were not seen before, and `given (doc)`, one row with
 * what `documentOf` makes of the messages, as jsonb.
 */
export interface StatementEffect<Row extends object, Result> {
  /** Unique in the database's connections: it is prepared under this name. */
  readonly name: string;
  readonly ctes: string;
  /** The CTE whose rows are the answer. */
  readonly answer: string;
  documentOf(messages: readonly Message[]): object;
  resultOf(rows: readonly Row[], document: object): Result;
}

/** Runs the statement inside a transaction, for messages that are known to be fresh. */
export function effectOf<Row extends object, Result>(statement: StatementEffect<Row, Result>): Effect<Result> {
  const text = `with given as (select ?::jsonb as doc), fresh as (select unnest(?::uuid[]) as event_id), ${statement.ctes}
    select * from ${statement.answer}`;
  return async (em, messages) => {
    const document = statement.documentOf(messages);
    const ids = uuidArray(messages.map(eventIdOf).filter((id) => id !== undefined));
    return statement.resultOf(await em.execute<Row[]>(text, [JSON.stringify(document), ids]), document);
  };
}

/**
 * Inbox and effect in one statement that commits by itself. It answers undefined, and nothing is
 * done, when something of the topic is set aside: then each message has to be looked at.
 */
export function atOnce<Row extends object, Result>(
  em: SqlEntityManager,
  { topic, consumer }: Subscription,
  statement: StatementEffect<Row, Result>,
): (messages: readonly Message[]) => Promise<{ count: number; result: Result } | undefined> {
  const text = `with given as (select $1::jsonb as doc), standing as (
      select not exists (select 1 from dead_letter where consumer = $2 and topic = $3 and status in ('RETRYING', 'WAITING'))
        and not exists (select 1 from dead_letter where consumer = $2 and event_id = any($4::uuid[]) and status = 'PARKED') as is_clear
    ), fresh as (
      insert into inbox (consumer, event_id) select $2, id from unnest($4::uuid[]) as id where (select is_clear from standing)
      on conflict do nothing returning event_id
    ), ${statement.ctes}
    select s.is_clear, (select count(*)::int from fresh) as count, a.* from standing s
    left join (select true as is_answer, * from ${statement.answer}) a on true`;

  return async (messages) => {
    // A relay that took over may have published one twice, side by side.
    const byId = new Map(messages.map((message) => [eventIdOf(message), message]));
    if (byId.has(undefined)) return undefined;
    const document = statement.documentOf([...byId.values()]);
    // Sorted, so that two consumers of the same messages do not wait in a circle.
    const values = [JSON.stringify(document), consumer, topic, [...byId.keys()].sort()];
    const rows = await namedQuery<Row & { count: number; is_clear: boolean; is_answer: boolean | null }>(
      em,
      statement.name,
      text,
      values,
    );
    const [first] = rows as [(typeof rows)[number]];
    if (!first.is_clear) return undefined;
    return { count: first.count, result: statement.resultOf(first.is_answer ? rows : [], document) };
  };
}
