import type { EnumName } from "@amana/contracts/enum-names";
import type { DeliveryFailure, DeliveryStatus } from "@amana/contracts/webhooks/v1/event_pb";
import { namedQuery } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

export interface AttemptRow {
  at_ms: number;
  status_code: number | null;
  /** In words. */
  error: string | null;
  failure: EnumName<typeof DeliveryFailure> | null;
  duration_ms: number;
  response: string | null;
}

export interface DeliveryRow {
  id: string;
  endpoint_id: string;
  status: EnumName<typeof DeliveryStatus>;
  next_attempt_at_ms: string | null;
  /** In the order they were made; the newest 50. */
  attempts: AttemptRow[];
}

/** Newest first. An event has no more deliveries than a business had endpoints. */
export async function readDeliveries(em: SqlEntityManager, businessId: string, eventId: string): Promise<DeliveryRow[]> {
  return await namedQuery<DeliveryRow>(
    em,
    "delivery_list",
    `select d.id, d.endpoint_id, d.status, floor(extract(epoch from d.next_attempt_at) * 1000)::bigint as next_attempt_at_ms,
       coalesce(a.attempts, '[]') as attempts
     from delivery d
     left join lateral (
       select json_agg(json_build_object(
         'at_ms', floor(extract(epoch from n.at) * 1000)::bigint, 'status_code', n.status_code, 'error', n.error,
         'failure', n.failure, 'duration_ms', n.duration_ms, 'response', n.response) order by n.id) as attempts
       from (select * from delivery_attempt where delivery_id = d.id order by id desc limit 50) n
     ) a on true
     where d.business_id = $1 and d.event_id = $2
     order by d.created_at desc, d.id desc`,
    [businessId, eventId],
  );
}
