import { afterCommit } from "@amana/database";
import { currentTrace, uuidv7 } from "@amana/runtime";
import { defineEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";

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
 * Puts an event into the caller's transaction. `key` orders: events of one key reach consumers in
 * the order in which their transactions took the lock on what they are about. Returns the event's
 * id, the same on every delivery. Throws for a payload above 256 KiB.
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
