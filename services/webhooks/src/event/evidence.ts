import type { EvidenceFile } from "@amana/service-host";

/**
 * Columns that the evidence bundle contains (`shown`), and columns that it omits as internal state
 * (`leftOut`).
 */
export const evidenceColumns = {
  event: { shown: "id, type, created_at, body", leftOut: "business_id, traceparent" },
  delivery: {
    shown: "id, event_id, endpoint_id, status",
    // The evidence bundle contains the attempts instead of their number.
    leftOut: "business_id, attempts, next_attempt_at, lease_token, leased_until, created_at",
  },
  delivery_attempt: {
    shown: "at, status_code, failure as error, error as detail, duration_ms, response",
    leftOut: "id, delivery_id, business_id",
  },
};

const { event, delivery, delivery_attempt: attempt } = evidenceColumns;

/**
 * Files of the evidence bundle about the last 30 days: the events with their unchanged bodies, and
 * their delivery attempts.
 */
export const eventEvidence: readonly EvidenceFile[] = [
  {
    name: "events",
    select: `select created_at as at, id, (select to_json(shown) from (select ${event.shown}) shown) as json
      from event where business_id = ?`,
  },
  {
    name: "deliveries",
    select: `select e.created_at as at, d.id, d.json from event e, lateral (
        select id, (select to_json(shown) from (select ${delivery.shown}, (
          select coalesce(json_agg((select json_strip_nulls(to_json(shown)) from (select ${attempt.shown}) shown) order by a.id), '[]')
          from delivery_attempt a where a.delivery_id = delivery.id) as attempts) shown) as json
        from delivery where business_id = e.business_id and event_id = e.id) d where e.business_id = ?`,
  },
];
