import { lowerCaseNames } from "@amana/contracts/enum-names";
import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { type Orm, rowsCountedMax, showRows } from "@amana/database";
import { counter, gauge, histogram } from "@amana/runtime";
import { orderStatuses } from "./payment/payment.ts";

export const processorCalls = histogram({
  name: "amana_card_processor_duration_seconds",
  help: "Duration of calls to the card processor, including the wait for a slot. Outcome unknown: there was no usable response. Outcome not_sent: a refund call that was not sent; other calls that were not sent are unknown",
  labels: { operation: ["register", "confirm", "status", "refund"], outcome: ["accepted", "refused", "unknown", "not_sent"] },
});

export const paymentEvents = counter({
  name: "amana_payment_events_total",
  help: "Payment events written to the outbox",
  labels: { type: lowerCaseNames(PaymentEventType) },
});

export const refundSteps = counter({
  name: "amana_refund_steps_total",
  help: "Refund steps recorded after a read or request at the processor. Step wait leaves the refund unfinished; every other step ends it",
  labels: { step: ["accept", "reject", "take_over", "wait"] },
});

const refunds = gauge({
  name: "amana_refunds",
  help: "Unfinished refunds by status, at most 10000. A refund that needs an operator's decision has the status needs_decision here",
  labels: { status: ["requested", "sent", "unknown", "needs_decision"] },
});

const refundsOldest = gauge({
  name: "amana_refunds_oldest_seconds",
  help: "Age of the oldest refund that amana_refunds counts, 0 if there is none. For needs_decision: longest time that a refund has needed a decision",
  labels: { status: ["requested", "sent", "unknown", "needs_decision"] },
});

const unconfirmed = gauge({
  name: "amana_payments_unconfirmed",
  help: "PENDING payments, at most 10000. paid: the processor reported the payment as paid, and cancels it if Amana does not confirm it",
  labels: { known: ["paid", "open"] },
});

const unconfirmedOldest = gauge({
  name: "amana_payments_unconfirmed_oldest_seconds",
  help: "Age of the oldest payment that amana_payments_unconfirmed counts, 0 if there is none. The processor cancels a paid payment after 20 minutes",
  labels: { known: ["paid", "open"] },
});

/** Updates the gauges of unfinished payments and refunds, until disposed. */
export const showUnfinished = (orm: Orm): Disposable =>
  showRows(
    orm,
    {
      text: `select s.status, count(r.at) as refunds, coalesce(extract(epoch from now() - min(r.at)), 0) as oldest
        from (values ('requested'), ('sent'), ('unknown'), ('needs_decision')) s (status) left join (
          (select case when needs_decision_since is null then lower(status) else 'needs_decision' end as status,
             coalesce(needs_decision_since, created_at) as at
           from refund where status in ('REQUESTED', 'SENT', 'UNKNOWN') limit ${rowsCountedMax})
        ) r on r.status = s.status group by s.status`,
      gauges: { refunds, oldest: refundsOldest },
    },
    {
      text: `select k.known, count(p.created_at) as unconfirmed, coalesce(extract(epoch from now() - min(p.created_at)), 0) as oldest
        from (values ('paid'), ('open')) k (known) left join (
          (select case when processor_order_status = ${orderStatuses.deposited} then 'paid' else 'open' end as known, created_at
           from payment where next_check_at is not null order by next_check_at limit ${rowsCountedMax})
        ) p on p.known = k.known group by k.known`,
      gauges: { unconfirmed, oldest: unconfirmedOldest },
    },
  );
