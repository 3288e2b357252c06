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

/** An event that does not fit into Kafka would hold up all behind it. */
const payloadBytesMax = 256 * 1024;

/** A message that is committed with the change it announces. */
export class OutboxMessage extends schema.class {}
schema.setClass(OutboxMessage);

/**
 * Inserts an event in the caller's transaction. `key` is the id of what the event is about. Returns
 * the event's id, the same on every delivery. Throws for a payload above 256 KiB.
 */
export function addToOutbox(
  em: SqlEntityManager,
  event: {
    topic: string;
    key: string;
    /** "payments.v1.PaymentRefunded" */
    type: string;
    /** The emitting service. */
    source: string;
    payload: Uint8Array;
    /** The event's id is not older. */
    occurredAt: Date;
    /** The current one unless given. */
    traceparent?: string | undefined;
  },
): string {
  if (event.payload.length > payloadBytesMax) {
    throw new RangeError(`an event may have ${payloadBytesMax} bytes; this ${event.type} has ${event.payload.length}`);
  }
  // Consumers reject events whose ids are older than their inboxes remember. This process's clock
  // may be far behind.
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
    for (const listener of listeners) listener();
  });
  return id;
}

const listeners = new Set<() => void>();

/** Calls `listener` after each commit of this process with an event; answers how to end that. */
export function whenCommitted(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const republishedAtOnce = 2_000;

/** Selects events of a topic by the time of their commit or by their ids. */
type RepublishRange = { readonly topic: string } & (
  | { readonly from: Date; readonly to: Date }
  | { readonly eventIds: readonly string[] }
);

/**
 * Publishes events again, for when a broker lost acknowledged messages or a consumer's database was
 * restored to an earlier time. Inserts their outbox rows once more, under the same event ids, and
 * the running service relays them. Consumers drop known events. `record` writes into the
 * transaction of the first batch. Events that are committed after the call began are left out.
 * Returns the number of events.
 */
export async function republish(
  orm: Orm,
  range: RepublishRange,
  record: (em: SqlEntityManager) => void,
  progress = (_count: number) => {},
): Promise<number> {
  const which =
    "eventIds" in range
      ? { sql: "(headers ->> 'ce_id')::uuid = any(?::uuid[])", values: [uuidArray(range.eventIds)] }
      : { sql: "created_at >= ? and created_at < ?", values: [range.from, range.to] };
  const [newest] = await orm.em.fork().execute<{ id: string }[]>("select coalesce(max(id), 0) as id from outbox");
  let done = 0;
  for (let afterId: string | undefined = "0"; afterId !== undefined; ) {
    const batch: { after_id: string; count: number }[] = await transaction(orm, async (em) => {
      if (done === 0) record(em);
      return await em.execute(
        `with batch as (
           select * from outbox where topic = ? and ${which.sql} and id > ? and id <= ? order by id limit ${republishedAtOnce}
         ), again as (
           insert into outbox (topic, key, payload, headers) select topic, key, payload, headers from batch order by id
         )
         select max(id) as after_id, count(*)::int as count from batch having count(*) > 0`,
        [range.topic, ...which.values, afterId, newest?.id ?? "0"],
      );
    });
    afterId = batch[0]?.after_id;
    done += batch[0]?.count ?? 0;
    progress(done);
  }
  return done;
}
