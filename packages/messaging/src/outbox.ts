import { afterCommit, type Orm, transaction } from "@amana/database";
import { currentTrace, uuidv7 } from "@amana/runtime";
import { defineEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import { uuidArray } from "./message.ts";

const schema = defineEntity({
  name: "OutboxMessage",
  tableName: "outbox",
  properties: {
    id: p.bigint().primary().autoincrement(),
    topic: p.text(),
    key: p.text(),
    payload: p.blob(),
    headers: p.json<Record<string, string>>(),
  },
});

/**
 * Maximum payload. An event that is too large for Kafka would delay all later events of its topic.
 */
const payloadBytesMax = 256 * 1024;

/** An event that is committed in the transaction of its change. */
export class OutboxMessage extends schema.class {}
schema.setClass(OutboxMessage);

/**
 * Inserts an event in the caller's transaction. `key` is the id of the event's subject. Returns the
 * id of the event, which is the same in all of its deliveries. Throws RangeError for a payload
 * above 256 KiB.
 */
export function addToOutbox(
  em: SqlEntityManager,
  event: {
    topic: string;
    key: string;
    /** For example "payments.v1.PaymentRefunded". */
    type: string;
    /** The emitting service. */
    source: string;
    payload: Uint8Array;
    /** Time of the event. The time in the id of the event is this time or later. */
    occurredAt: Date;
    /** Trace context of the event. Default: the current trace context. */
    traceparent?: string;
  },
): string {
  if (event.payload.length > payloadBytesMax) {
    throw new RangeError(`the payload of ${event.type} has ${event.payload.length} bytes; the maximum is ${payloadBytesMax}`);
  }
  // Uses the later of the two times, because the clock of this process may be far behind. Consumers
  // reject an event whose id is older than the retention of their inboxes.
  const id = uuidv7(Math.max(Date.now(), event.occurredAt.getTime()));
  const traceparent = event.traceparent ?? currentTrace()?.traceparent;
  em.persist(
    em.create(OutboxMessage, {
      topic: event.topic,
      key: event.key,
      payload: Buffer.from(event.payload),
      headers: {
        ce_specversion: "1.0",
        ce_id: id,
        ce_type: event.type,
        ce_source: event.source,
        ce_time: event.occurredAt.toISOString(),
        "content-type": "application/protobuf",
        ...(traceparent ? { traceparent } : {}),
      },
    }),
  );
  afterCommit(em, () => {
    for (const listener of listeners) listener(event.topic);
  });
  return id;
}

const listeners = new Set<(topic: string) => void>();

/**
 * Calls `listener` with the topic of each event that this process has committed. Returns a function
 * that removes the listener.
 */
export function onCommit(listener: (topic: string) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Maximum number of rows that one statement of `republish` reads. */
const republishBatchMax = 2_000;

/** Selects events of a topic by the time of their commit or by their ids. */
type RepublishRange = { readonly topic: string } & (
  | { readonly from: Date; readonly to: Date }
  | { readonly eventIds: readonly string[] }
);

/**
 * Publishes events again, after a broker lost acknowledged messages or a consumer's database was
 * restored to an earlier time. Inserts their outbox rows again with the same event ids; the relay
 * of the running service publishes them. Consumers skip events that they have processed. `record`
 * runs in the transaction of the first batch, for example to add an audit entry. Events committed
 * after the start of the call are excluded. Returns the number of events.
 */
export async function republish(orm: Orm, range: RepublishRange, record: (em: SqlEntityManager) => void): Promise<number> {
  const condition =
    "eventIds" in range
      ? { sql: "(headers ->> 'ce_id')::uuid = any(?::uuid[])", values: [uuidArray(range.eventIds)] }
      : { sql: "created_at >= ? and created_at < ?", values: [range.from, range.to] };
  const [newestRow] = await orm.em.fork().execute<{ id: string }[]>("select coalesce(max(id), 0) as id from outbox");
  let republished = 0;
  for (let afterId: string | null = "0", isFirst = true; afterId !== null; isFirst = false) {
    const [batch]: { after_id: string | null; count: number }[] = await transaction(orm, async (em) => {
      if (isFirst) record(em);
      return await em.execute(
        `with batch as (
           select * from outbox where topic = ? and id > ? and id <= ? order by id limit ${republishBatchMax}
         ), again as (
           insert into outbox (topic, key, payload, headers)
           select topic, key, payload, headers from batch where ${condition.sql} order by id returning 1
         )
         select (select max(id) from batch) as after_id, (select count(*)::int from again) as count`,
        [range.topic, afterId, newestRow?.id ?? "0", ...condition.values],
      );
    });
    afterId = batch?.after_id ?? null;
    republished += batch?.count ?? 0;
  }
  return republished;
}
