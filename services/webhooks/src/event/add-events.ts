import { type EventType, eventTypes } from "@amana/public-api";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

export interface NewEvent {
  readonly id: string;
  readonly businessId: string;
  readonly type: EventType;
  /** ISO 8601. */
  readonly occurredAt: string;
  /** The JSON text that every attempt sends, byte for byte. */
  readonly body: string;
}

/**
 * Keeps events and makes one delivery for each endpoint of the business that asks for the type. For an endpoint that is
 * DISABLED the delivery is due and skipped at once; it can be replayed later.
 */
export async function addEvents(em: SqlEntityManager, events: readonly NewEvent[]): Promise<void> {
  const rows = JSON.stringify(
    events.map(({ id, businessId, type, occurredAt, body }) => ({
      id,
      business_id: businessId,
      type,
      created_at: occurredAt,
      body,
      opt_in: eventTypes[type].optIn,
    })),
  );
  await em.execute(
    `insert into event (id, business_id, type, body, created_at)
     select id, business_id, type, body, created_at
     from json_to_recordset(?::json) as v (id uuid, business_id uuid, type text, body text, created_at timestamptz)
     on conflict (id) do nothing`,
    [rows],
  );
  await em.execute(
    `insert into delivery (id, business_id, event_id, endpoint_id, status, next_attempt_at)
     select uuidv7(), v.business_id, v.id, e.id,
       case when e.status = 'ACTIVE' then 'PENDING' else 'SKIPPED' end, case when e.status = 'ACTIVE' then now() end
     from json_to_recordset(?::json) as v (id uuid, business_id uuid, type text, opt_in boolean)
     join webhook_endpoint e on e.business_id = v.business_id
       and case when cardinality(e.events) = 0 then not v.opt_in else v.type = any(e.events) end
     on conflict (event_id, endpoint_id) do nothing`,
    [rows],
  );
}
