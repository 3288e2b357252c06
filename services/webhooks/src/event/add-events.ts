import { type Message, type StatementEffect, type TopicHandler, traceparentOf } from "@amana/messaging";
import { type EventType, eventTypes } from "@amana/public-api";
import { currentTrace, uuidv7 } from "@amana/runtime";
import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { signingSecretsSql } from "../webhook-endpoint/secrets.ts";
import { type DeliveryJson, deliveryJsonSql, toDelivery } from "./delivery.message.ts";
import type { NewDelivery } from "./new-delivery.ts";

interface NewEvent {
  readonly id: string;
  readonly businessId: string;
  readonly type: EventType;
  /** ISO 8601. */
  readonly occurredAt: string;
  /** The JSON text that every attempt sends unchanged. */
  readonly body: string;
  readonly traceparent: string | null;
}

/** SQL expressions: status and due time of a new delivery to endpoint `e`. */
const initialSchedule =
  "case e.status when 'ACTIVE' then 'PENDING' else 'SKIPPED' end, case e.status when 'ACTIVE' then now() end";

/**
 * Returns the statement effect that inserts events and their deliveries. An event gets a delivery
 * for each endpoint of its business that subscribes to its type. `capacityForNew` computes which
 * deliveries are inserted with a lease, so that their first attempt needs no claim. A delivery to a
 * DISABLED endpoint is inserted as SKIPPED and can be replayed later.
 */
function addEvents(
  { limits, delivery: { leaseMs } }: Context,
  toEvent: (message: Message) => NewEvent | undefined,
): StatementEffect<Omit<NewDelivery, "body" | "traceparent" | "is_first">, readonly NewDelivery[]> {
  return {
    documentOf(messages) {
      const events = messages.map(toEvent).filter((event) => event !== undefined);
      const capacity = limits.capacityForNew(events.map(({ businessId }) => businessId));
      return {
        events: events.map(({ id, businessId, type, occurredAt, body, traceparent }, i) => ({
          id,
          business_id: businessId,
          type,
          created_at: occurredAt,
          body,
          traceparent,
          opt_in: eventTypes[type].optIn,
          ordinal: capacity.ordinals[i],
        })),
        lease_token: uuidv7(),
        lease_ms: leaseMs,
        per_endpoint: capacity.perEndpoint,
        endpoints: capacity.endpoints,
      };
    },
    ctes: `
      new_event as (
        select v.* from input cross join jsonb_to_recordset(doc -> 'events')
          as v (id uuid, business_id uuid, type text, created_at timestamptz, body text, traceparent text, opt_in boolean, ordinal int)
        where v.id in (select event_id from fresh)
      ), added as (
        insert into event (id, business_id, type, body, traceparent, created_at)
        select id, business_id, type, body, traceparent, created_at from new_event on conflict (id) do nothing
      ), target as (
        select t.id as event_id, t.business_id, t.type, e.id as endpoint_id, e.status, e.url, e.slow, e.updated_at::text as endpoint_updated_at,
          ${signingSecretsSql},
          case when e.status = 'ACTIVE' and not e.slow and t.ordinal <= coalesce(leased.free, (doc -> 'per_endpoint')::int)
            then (doc ->> 'lease_token')::uuid end as lease_token,
          now() + (doc -> 'lease_ms')::float8 * interval '1 millisecond' as lease_end
        from input cross join new_event t join webhook_endpoint e on e.business_id = t.business_id
          and case when cardinality(e.events) = 0 then not t.opt_in else t.type = any(e.events) end
        left join jsonb_to_recordset(doc -> 'endpoints') as leased (id uuid, free int) on leased.id = e.id
      ), new_delivery as (
        insert into delivery (id, business_id, event_id, endpoint_id, status, next_attempt_at, lease_token, leased_until)
        select uuidv7(), business_id, event_id, endpoint_id, ${initialSchedule}, lease_token, case when lease_token is not null then lease_end end
        from target e on conflict (event_id, endpoint_id) do nothing
        returning id, event_id, endpoint_id, status, lease_token, attempts
      ), pending as (
        select d.*, t.business_id, t.type, t.slow, t.url, t.endpoint_updated_at, t.secret_ciphertext, t.other_secret_ciphertext
        from new_delivery d join target t on t.event_id = d.event_id and t.endpoint_id = d.endpoint_id where d.status = 'PENDING'
      )`,
    resultCte: "pending",
    resultOf(rows, document) {
      const { events } = document as { events: readonly Pick<NewEvent, "id" | "body" | "traceparent">[] };
      const contents = new Map(events.map(({ id, body, traceparent }) => [id, { body, traceparent }]));
      return rows.map((row) => ({ ...row, ...(contents.get(row.event_id) ?? { body: "", traceparent: null }), is_first: true }));
    },
  };
}

/**
 * Inserts an event that this service creates, and a delivery for each endpoint of the business that
 * meets `where`. Deliveries to ACTIVE endpoints are due immediately. `where` is an SQL condition on
 * the event `t` and the endpoint `e`; its parameter `?` is `value`. Returns the deliveries.
 */
export async function addEvent(
  em: SqlEntityManager,
  { id, businessId, type, occurredAt, body }: Readonly<Record<Exclude<keyof NewEvent, "traceparent">, string>>,
  where: string,
  value: unknown,
) {
  const deliveries = await em.execute<DeliveryJson[]>(
    `with new_event as (
       insert into event (id, business_id, type, body, traceparent, created_at) values (?, ?, ?, ?, ?, ?) returning *
     )
     insert into delivery as d (id, business_id, event_id, endpoint_id, status, next_attempt_at)
     select uuidv7(), t.business_id, t.id, e.id, ${initialSchedule}
     from new_event t join webhook_endpoint e on e.business_id = t.business_id and ${where}
     returning ${deliveryJsonSql()}`,
    [id, businessId, type, body, currentTrace()?.traceparent || null, occurredAt, value],
  );
  return deliveries.map(toDelivery);
}

/**
 * Creates the handler of a topic whose messages become events of businesses. `toEvent` returns the
 * event of a message, or undefined for a message that is only for other services. `toEvent` throws
 * for an invalid message.
 */
export function createEventHandler<M extends DescMessage>(
  context: Context,
  topic: string,
  schema: M,
  toEvent: (
    message: MessageShape<M>,
    id: string,
    occurredAt: string,
  ) => Pick<NewEvent, "businessId" | "type" | "body"> | undefined,
): TopicHandler<readonly NewDelivery[]> {
  const effect = addEvents(context, (message) => {
    const { ce_id: id = "", ce_time: time = "" } = message.headers;
    const occurredAt = new Date(time).toISOString();
    const event = toEvent(fromBinary(schema, message.payload), id, occurredAt);
    return event && { id, occurredAt, traceparent: traceparentOf(message) ?? null, ...event };
  });
  return {
    topic,
    schema,
    consumer: "webhooks",
    effect,
    afterCommit: (deliveries) => void context.signals.emit("inserted", deliveries),
  };
}
