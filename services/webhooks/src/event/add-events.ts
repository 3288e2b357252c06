import { effectOf, type Message, type StatementEffect } from "@amana/messaging";
import { type EventType, eventTypes } from "@amana/public-api";
import { uuidv7 } from "@amana/runtime";
import type { Context } from "../context.ts";
import { type ClaimedDelivery, leaseMarginMs } from "../delivery/claim.ts";
import { timeoutMsDefault } from "../delivery/deliver.ts";

export interface NewEvent {
  readonly id: string;
  readonly businessId: string;
  readonly type: EventType;
  /** ISO 8601. */
  readonly occurredAt: string;
  /** The JSON text that every attempt sends, byte for byte. */
  readonly body: string;
}

type Born = Omit<ClaimedDelivery, "body" | "lease_token"> & { readonly lease_token: string | null };

/** Deliveries that came to be: leased to this process, or due for whoever has room. */
export type NewDeliveries = readonly (Born & { readonly body: string })[];

/**
 * Keeps events and makes one delivery for each endpoint of the business that asks for the type. As
 * many as this process has room for are born with a lease, so that they need not be claimed. For an
 * endpoint that is DISABLED the delivery is skipped at once; it can be replayed later.
 */
function addEvents(
  { dispatcher, delivery: { timeoutMs = timeoutMsDefault } }: Context,
  toEvent: (message: Message) => NewEvent | undefined,
): StatementEffect<Born, NewDeliveries> {
  return {
    name: "webhooks_add_events",
    documentOf(messages) {
      const events = messages.map(toEvent).filter((event) => event !== undefined);
      const { free, perBusiness, perEndpoint, endpoints, businesses } = dispatcher.room(
        events.map(({ businessId }) => businessId),
      );
      return {
        events: events.map(({ id, businessId, type, occurredAt, body }) => ({
          id,
          business_id: businessId,
          type,
          created_at: occurredAt,
          body,
          opt_in: eventTypes[type].optIn,
        })),
        lease_token: uuidv7(),
        lease_ms: timeoutMs + leaseMarginMs,
        free: free.total,
        per_business: perBusiness.QUICK,
        per_endpoint: perEndpoint.QUICK,
        endpoints: endpoints[0].map((id, i) => ({ id, free: endpoints[1][i] })),
        businesses: businesses[0].map((id, i) => ({ id, held: businesses[1][i] })),
      };
    },
    ctes: `
      told as (
        select v.*, row_number() over () as number
        from given cross join jsonb_to_recordset(doc -> 'events')
          as v (id uuid, business_id uuid, type text, created_at timestamptz, body text, opt_in boolean)
        where v.id in (select event_id from fresh)
      ), added as (
        insert into event (id, business_id, type, body, created_at)
        select id, business_id, type, body, created_at from told on conflict (id) do nothing
      ), target as (
        select t.id as event_id, t.business_id, t.type, t.number, e.id as endpoint_id, e.status, e.slow, e.url, e.secret_ciphertext,
          case when e.previous_secret_until > now() then e.previous_secret_ciphertext end as previous_secret_ciphertext,
          row_number() over (partition by e.id order by t.number) as of_endpoint,
          row_number() over (partition by t.business_id order by t.number) as of_business,
          row_number() over (order by t.number) as of_all
        from told t join webhook_endpoint e on e.business_id = t.business_id
          and case when cardinality(e.events) = 0 then not t.opt_in else t.type = any(e.events) end
      ), placed as (
        select t.*, t.status = 'ACTIVE' and not t.slow
          and of_all <= (doc -> 'free')::int
          and of_endpoint <= coalesce(e.free, (doc -> 'per_endpoint')::int)
          and of_business <= (doc -> 'per_business')::int - coalesce(b.held, 0) as is_ours,
          (doc ->> 'lease_token')::uuid as token, now() + (doc -> 'lease_ms')::float8 * interval '1 millisecond' as lease_end
        from given cross join target t
        left join jsonb_to_recordset(doc -> 'endpoints') as e (id uuid, free int) on e.id = t.endpoint_id
        left join jsonb_to_recordset(doc -> 'businesses') as b (id uuid, held int) on b.id = t.business_id
      ), born as (
        insert into delivery (id, business_id, event_id, endpoint_id, status, next_attempt_at, lease_token, leased_until)
        select uuidv7(), business_id, event_id, endpoint_id,
          case when status = 'ACTIVE' then 'PENDING' else 'SKIPPED' end, case when status = 'ACTIVE' then now() end,
          case when is_ours then token end, case when is_ours then lease_end end
        from placed on conflict (event_id, endpoint_id) do nothing
        returning id, event_id, endpoint_id, status, lease_token, attempts
      ), answer as (
        select b.*, t.business_id, t.type, t.url, t.secret_ciphertext, t.previous_secret_ciphertext,
          case when t.slow then 'SLOW' else 'QUICK' end as lane
        from born b join target t on t.event_id = b.event_id and t.endpoint_id = b.endpoint_id where b.status = 'PENDING'
      )`,
    answer: "answer",
    resultOf(rows, document) {
      const { events } = document as { events: readonly { id: string; body: string }[] };
      const bodies = new Map(events.map(({ id, body }) => [id, body]));
      return rows.map((row) => ({ ...row, body: bodies.get(row.event_id) ?? "" }));
    },
  };
}

/** What a consumption of events that businesses are told of has in common with any other. */
export function eventConsumption(context: Context, toEvent: (message: Message) => NewEvent | undefined) {
  const statement = addEvents(context, toEvent);
  return {
    consumer: "webhooks",
    statement,
    effect: effectOf(statement),
    committed: (deliveries: NewDeliveries) => context.dispatcher.takeNew(deliveries),
  };
}
