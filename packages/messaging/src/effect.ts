import { preparedQuery } from "@amana/database";
import type { Logger } from "@amana/runtime";
import type { DescMessage } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { eventIdOf, type Message, type Subscription, uuidArray } from "./message.ts";

/**
 * The effect of new messages, as a function or a statement. Most consumers use a function, which
 * runs in the transaction of the inbox rows and uses only `em`. The webhooks service uses a
 * statement, which writes inbox rows, events and deliveries in one round trip. With ten endpoints
 * for each event, the statement writes 3 900 deliveries a second. A function wrote only 2 008.
 */
export type Effect<Result = unknown> = FunctionEffect<Result> | StatementEffect<never, Result>;

/** Runs in the transaction of the inbox rows. */
export type FunctionEffect<Result = unknown> = (em: SqlEntityManager, messages: readonly Message[]) => Promise<Result>;

/**
 * An effect that is one SQL statement. Its CTEs can read two relations: `fresh (event_id)` contains
 * the events that were not in the inbox, and `input (doc)` contains one row with the result of
 * `documentOf` as jsonb.
 */
export interface StatementEffect<Row extends object, Result> {
  readonly ctes: string;
  /** Name of the CTE whose rows are passed to `resultOf`. */
  readonly resultCte: string;
  documentOf(messages: readonly Message[]): object;
  resultOf(rows: readonly Row[], document: object): Result;
}

/** A topic and the effect of its messages. */
export interface TopicHandler<Result = unknown> extends Subscription {
  /** Throws UnknownEventTypeError for an event type that only a later version supports. */
  readonly effect: Effect<Result>;
  /** Receives the effect's result after the commit, for example to wake a worker. */
  afterCommit?(result: Result): void;
  /**
   * The schema of the payload. It is needed to show the payload of a dead-lettered message to
   * operators.
   */
  readonly schema?: DescMessage;
}

export interface ApplyResult<Result> {
  /** Number of messages that were new. */
  readonly count: number;
  readonly result: Result | undefined;
}

/** Calls the handler's `afterCommit`. Logs its error, because the effect is already committed. */
export function callAfterCommit<Result>(topicHandler: TopicHandler<Result>, result: Result, logger: Logger): void {
  try {
    topicHandler.afterCommit?.(result);
  } catch (error) {
    logger.error({ err: error, topic: topicHandler.topic }, "work after the commit of messages failed");
  }
}

/**
 * Inserts inbox rows and runs the effect of the messages that are not in the inbox yet. If the
 * effect is a function, the caller must call `applyNewMessages` inside a transaction of `em`. If
 * the effect is a statement, no transaction is necessary.
 */
export async function applyNewMessages<Result>(
  em: SqlEntityManager,
  { consumer, effect }: TopicHandler<Result>,
  messages: readonly Message[],
): Promise<ApplyResult<Result>> {
  // A batch can contain a message twice, because a new relay publishes some messages again after a
  // failover.
  const byId = new Map(messages.map((message) => [requireEventId(message), message]));
  if (typeof effect !== "function") {
    return await runStatement(em, consumer, effect as StatementEffect<object, Result>, byId);
  }
  const insertedIds = await insertInboxRows(em, consumer, [...byId.keys()]);
  const newMessages = [...byId].filter(([id]) => insertedIds.has(id)).map(([, message]) => message);
  return { count: newMessages.length, result: newMessages.length > 0 ? await effect(em, newMessages) : undefined };
}

/** Inserts inbox rows in the caller's transaction. Returns the ids that were not in the inbox. */
export async function insertInboxRows(
  em: SqlEntityManager,
  consumer: string,
  eventIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await em.execute<{ event_id: string }[]>(
    "insert into inbox (consumer, event_id) select ?, unnest(?::uuid[]) on conflict do nothing returning event_id",
    [consumer, inLockOrder(eventIds)],
  );
  return new Set(rows.map((row) => row.event_id));
}

async function runStatement<Row extends object, Result>(
  em: SqlEntityManager,
  consumer: string,
  statement: StatementEffect<Row, Result>,
  byId: ReadonlyMap<string, Message>,
): Promise<ApplyResult<Result>> {
  const text = `with input as (select $1::jsonb as doc), fresh as (
      insert into inbox (consumer, event_id) select $2::text, unnest($3::uuid[]) on conflict do nothing returning event_id
    ), ${statement.ctes}
    select s.count, a.* from (select count(*)::int as count from fresh) s
    left join (select true as has_result, * from ${statement.resultCte}) a on true`;
  const document = statement.documentOf([...byId.values()]);
  const values = [JSON.stringify(document), consumer, inLockOrder([...byId.keys()])];
  type ResultRow = Row & { count: number; has_result: boolean | null };
  const rows = em.isInTransaction()
    ? await em.execute<ResultRow[]>(text.replaceAll(/\$\d/g, "?"), values)
    : await preparedQuery<ResultRow>(em, text, values);
  const [firstRow] = rows as [ResultRow];
  return { count: firstRow.count, result: statement.resultOf(firstRow.has_result ? rows : [], document) };
}

/** Sorts ids, so that two consumers of the same messages cannot deadlock. */
const inLockOrder = (ids: readonly string[]) => uuidArray(ids.toSorted());

function requireEventId(message: Message): string {
  const id = eventIdOf(message);
  if (id === undefined) throw new Error("the message has no event id (header ce_id)");
  return id;
}
