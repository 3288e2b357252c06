import { lowerCaseNames } from "@amana/contracts/enum-names";
import { DeliveryFailure } from "@amana/contracts/webhooks/v1/event_pb";
import { type Orm, rowsCountedMax, showRows } from "@amana/database";
import { counter, gauge, histogram, timeMsOfUuid } from "@amana/runtime";
import type { AttemptResult } from "./delivery/record-attempts.ts";
import { dueAtSql, endpointDueAtSql } from "./delivery/retry-policy.ts";
import type { NewDelivery } from "./event/new-delivery.ts";

const outcome = ["succeeded", "retried", "failed"] as const;
const endpoint = ["healthy", "slow"] as const;

const responses = counter({
  name: "amana_delivery_answers_total",
  help: "Delivery attempts by the status class of the response, or by the reason why no response arrived",
  labels: { answer: ["2xx", "3xx", "4xx", "5xx", ...lowerCaseNames(DeliveryFailure)] },
});

const attemptDuration = histogram({
  name: "amana_delivery_attempt_duration_seconds",
  help: "Duration of delivery attempts by outcome; retried: another attempt follows",
  labels: { outcome },
});

const firstAttemptDelay = histogram({
  name: "amana_delivery_first_attempt_delay_seconds",
  help: "Time from the creation of an event by its service to the first delivery attempt, measured with the clocks of two processes. slow: endpoints whose last attempt took three seconds, got no response in time, could not connect, or failed with a TLS error",
  labels: { endpoint },
  buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
});

/** Observes a first attempt, which has just ended after `durationMs`. */
export function observeFirstAttempt({ event_id, slow }: NewDelivery, durationMs: number): void {
  const delayMs = Math.max(0, Date.now() - durationMs - timeMsOfUuid(event_id));
  firstAttemptDelay.observe({ endpoint: slow ? "slow" : "healthy" }, delayMs / 1000);
}

export function observeAttempt({ status, status_code, failure, duration_ms }: AttemptResult): void {
  // All status codes outside the range from 200 to 599 share one label value.
  const hasClass = status_code !== null && status_code >= 200 && status_code < 600;
  const responseClass = hasClass ? `${Math.floor(status_code / 100)}xx` : (failure ?? "INVALID_RESPONSE").toLowerCase();
  responses.inc({ answer: responseClass });
  const outcome = status === "PENDING" ? "retried" : status === "SUCCEEDED" ? "succeeded" : "failed";
  attemptDuration.observe({ outcome }, duration_ms / 1000);
}

const pending = gauge({
  name: "amana_deliveries_pending",
  help: "Deliveries that are not finished, including deliveries that wait for another attempt; at most 10000",
});

const oldestDue = gauge({
  name: "amana_deliveries_oldest_due_seconds",
  help: "Delay of the most overdue delivery that has no attempt in flight; 0 if there is none. slow: deliveries to slow endpoints",
  labels: { endpoint },
});

/**
 * Exports the number of pending deliveries and the age of the oldest due delivery until disposed.
 */
export const showDeliveries = (orm: Orm): Disposable =>
  showRows(
    orm,
    {
      // Usually fewer than 500 deliveries are due, and the query reads only these. If more are due,
      // the 500 oldest may all belong to few endpoints. In this case the query reads each
      // endpoint's first due delivery.
      text: `with oldest as materialized (
          select endpoint_id, ${dueAtSql} as due_at from delivery
          where status = 'PENDING' and ${dueAtSql} <= now()
          order by ${dueAtSql} limit 500
        ), first as (
          select endpoint_id, due_at from oldest where (select count(*) from oldest) < 500
          union all
          select e.id, due.due_at from webhook_endpoint e cross join lateral (
            select ${endpointDueAtSql} as due_at from delivery
            where business_id = e.business_id and endpoint_id = e.id and status = 'PENDING'
            order by ${endpointDueAtSql} limit 1
          ) due where (select count(*) from oldest) = 500
        )
        select c.endpoint, greatest(0, coalesce(extract(epoch from now() - min(f.due_at)), 0)) as oldest
        from (values ('healthy', false), ('slow', true)) c (endpoint, slow)
        left join (first f join webhook_endpoint e on e.id = f.endpoint_id) on e.slow = c.slow group by c.endpoint`,
      gauges: { oldest: oldestDue },
    },
    {
      text: `select count(*) as pending from (select from delivery where status = 'PENDING' limit ${rowsCountedMax}) d`,
      gauges: { pending },
    },
  );
