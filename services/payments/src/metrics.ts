import { lowerCaseNames } from "@amana/contracts/enum-names";
import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { type Orm, rowsCountedMax, showRows } from "@amana/database";
import { counter, gauge, histogram } from "@amana/runtime";
import { orderStatuses } from "./payment/payment.ts";

export const processorCalls = histogram({
  name: "amana_card_processor_duration_seconds",
  help: "How long calls to the card processor took, the wait for a place included; unknown: nobody knows whether it happened",
  labels: { operation: ["register", "confirm", "status", "refund"], outcome: ["accepted", "refused", "unknown", "not_sent"] },
});

export const paymentEvents = counter({
  name: "amana_payment_events_total",
  help: "What happened to payments, as businesses are told",
  labels: { type: lowerCaseNames(PaymentEventType) },
});

export const refundEndings = counter({
  name: "amana_refund_steps_total",
  help: "What became of refunds when the processor was asked: accept, reject and take_over end them, wait does not",
  labels: { step: ["accept", "reject", "take_over", "wait"] },
});

const refunds = gauge({
  name: "amana_refunds",
  help: "Refunds that are not at their end, by state; needs_decision are those of unknown that an operator has to decide; 10000 at most",
  labels: { status: ["requested", "sent", "unknown", "needs_decision"] },
});

const refundsOldest = gauge({
  name: "amana_refunds_oldest_seconds",
  help: "For how long the first of these has been under way, or has waited for a decision; 0 for none",
  labels: { status: ["requested", "sent", "unknown", "needs_decision"] },
});

const unconfirmed = gauge({
  name: "amana_payments_unconfirmed",
  help: "Payments that are open, by whether the processor has said that they are paid: those it cancels unless they are confirmed; 10000 at most",
  labels: { known: ["paid", "open"] },
});

const unconfirmedOldest = gauge({
  name: "amana_payments_unconfirmed_oldest_seconds",
  help: "For how long the first of these has been open, of the 20 minutes after which the processor cancels it; 0 for none",
  labels: { known: ["paid", "open"] },
});

/** Shows what is open between us and the processor, until disposed. */
export const showOpen = (orm: Orm): Disposable =>
  showRows(
    orm,
    {
      name: "refund_gauges",
      text: `select s.status, count(r.at) as refunds, coalesce(extract(epoch from now() - min(r.at)), 0) as oldest
        from (values ('requested'), ('sent'), ('unknown'), ('needs_decision')) s (status) left join (
          (select case when needs_decision_since is null then lower(status) else 'needs_decision' end as status,
             coalesce(needs_decision_since, created_at) as at
           from refund where status in ('REQUESTED', 'SENT', 'UNKNOWN') limit ${rowsCountedMax})
        ) r on r.status = s.status group by s.status`,
      gauges: { refunds, oldest: refundsOldest },
    },
    {
      name: "payment_gauges",
      text: `select k.known, count(p.created_at) as unconfirmed, coalesce(extract(epoch from now() - min(p.created_at)), 0) as oldest
        from (values ('paid'), ('open')) k (known) left join (
          (select case when processor_order_status = ${orderStatuses.deposited} then 'paid' else 'open' end as known, created_at
           from payment where next_check_at is not null order by next_check_at limit ${rowsCountedMax})
        ) p on p.known = k.known group by k.known`,
      gauges: { unconfirmed, oldest: unconfirmedOldest },
    },
  );
