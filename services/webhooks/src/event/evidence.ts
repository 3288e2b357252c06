import type { Evidence } from "@amana/service";

/** What a business was told, byte for byte, and every attempt to tell it: kept for 30 days. */
export const eventEvidence: readonly Evidence[] = [
  {
    name: "events",
    select: `select created_at as at, id, json_build_object('id', id, 'type', type, 'created_at', created_at, 'body', body) as json
      from event where business_id = ?`,
  },
  {
    name: "deliveries",
    select: `select e.created_at as at, d.id, json_build_object('id', d.id, 'event_id', d.event_id, 'endpoint_id', d.endpoint_id,
      'status', d.status, 'attempts', (
        select coalesce(json_agg(json_strip_nulls(json_build_object('at', a.at, 'status_code', a.status_code, 'error', a.failure,
          'detail', a.error, 'duration_ms', a.duration_ms, 'response', a.response)) order by a.id), '[]')
        from delivery_attempt a where a.delivery_id = d.id)) as json
      from event e join delivery d on d.business_id = e.business_id and d.event_id = e.id where e.business_id = ?`,
  },
];
