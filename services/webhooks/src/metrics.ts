import { lowerCaseNames } from "@amana/contracts/enum-names";
import { DeliveryFailure } from "@amana/contracts/webhooks/v1/event_pb";
import { type Orm, rowsCountedMax, showRows } from "@amana/database";
import { counter, gauge, histogram } from "@amana/runtime";
import { dueAt, endpointsWaiting } from "./delivery/claim.ts";

const outcome = ["succeeded", "retried", "failed"] as const;
const lane = ["quick", "new", "slow"] as const;

export const answers = counter({
  name: "amana_delivery_answers_total",
  help: "What attempts at deliveries came to: the class of the answer, or why none came",
  labels: { answer: ["2xx", "3xx", "4xx", "5xx", ...lowerCaseNames(DeliveryFailure)] },
});

export const attemptDuration = histogram({
  name: "amana_delivery_attempt_duration_seconds",
  help: "How long attempts at deliveries took, by what follows; retried: there will be another one",
  labels: { outcome },
});

export const firstAttemptDelay = histogram({
  name: "amana_delivery_first_attempt_delay_seconds",
  help: "From when an event came to be, in the transaction of its change, to its first attempt; by the clocks of two processes. slow: endpoints that take long have few places",
  labels: { lane },
  buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
});

const pending = gauge({
  name: "amana_deliveries_pending",
  help: "Deliveries that are not at their end, those that wait for their next attempt included; 10000 at most",
});

const oldestDue = gauge({
  name: "amana_deliveries_oldest_due_seconds",
  help: "For how long the first delivery has been due that nobody has begun; 0 for none. slow: to endpoints that take long",
  labels: { lane: ["quick", "slow"] },
});

/** Shows what is to be delivered, until disposed. */
export const showDeliveries = (orm: Orm): Disposable =>
  showRows(
    orm,
    {
      name: "delivery_gauges",
      text: `${endpointsWaiting}, first as (
          select case when e.slow then 'slow' else 'quick' end as lane, due.due_at
          from waiting w join webhook_endpoint e on e.id = w.endpoint_id cross join lateral (
            select ${dueAt} as due_at from delivery
            where business_id = w.business_id and endpoint_id = w.endpoint_id and status = 'PENDING'
            order by ${dueAt} limit 1
          ) due
        )
        select l.lane, greatest(0, coalesce(extract(epoch from now() - min(f.due_at)), 0)) as oldest
        from (values ('quick'), ('slow')) l (lane) left join first f on f.lane = l.lane group by l.lane`,
      gauges: { oldest: oldestDue },
    },
    {
      name: "delivery_pending",
      text: `select count(*) as pending from (select from delivery where status = 'PENDING' limit ${rowsCountedMax}) d`,
      gauges: { pending },
    },
  );
