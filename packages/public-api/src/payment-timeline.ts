import { enumName } from "@amana/contracts/enum-names";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { RefundOutcome, RefundStatus } from "@amana/contracts/payments/v1/refund_pb";
import { type PaymentHistory, ProcessorOperation, ProcessorOutcome } from "@amana/contracts/payments/v1/refund_service_pb";
import type { ListEventsOfPaymentResponse, ToldEvent } from "@amana/contracts/webhooks/v1/event_service_pb";
import { type Static, Type } from "typebox";
import { compareByTimeAndCause } from "./compare-by-time-and-cause.ts";
import { renderDelivery } from "./event.ts";
import { formatMoney } from "./money.ts";
import { PaymentJson, renderPayment } from "./payment.ts";
import { isoTimestamp } from "./renderer.ts";

const kinds = ["payment", "processor_call", "refund", "event", "delivery_attempt", "next_attempt"] as const;

const EntryJson = Type.Object({
  at: Type.String({
    format: "date-time",
    description: "Time at which the entry happened or began; for `next_attempt`, the scheduled time.",
  }),
  kind: Type.Enum([...kinds]),
  name: Type.String({
    examples: ["REFUND"],
    description: "New status of a payment or refund, operation of a processor call, or type of an event.",
  }),
  outcome: Type.Optional(
    Type.String({
      examples: ["UNKNOWN"],
      description:
        "Outcome of a call (ACCEPTED, REFUSED, UNKNOWN or NOT_SENT), or HTTP status or error code of a delivery attempt.",
    }),
  ),
  detail: Type.Optional(Type.String({ examples: ["code 5"] })),
  duration_ms: Type.Optional(Type.Integer({ description: "Duration in milliseconds." })),
  refund_id: Type.Optional(Type.String({ format: "uuid" })),
  event_id: Type.Optional(Type.String({ format: "uuid" })),
  endpoint_id: Type.Optional(Type.String({ format: "uuid" })),
});
type Entry = Static<typeof EntryJson>;

/** Schema of a payment with its recorded history. */
export const PaymentTimelineJson = Type.Object({
  payment: PaymentJson,
  entries: Type.Array(EntryJson, {
    description:
      "Entries, oldest first; within a millisecond, causes before effects. Calls, events and attempts are those of the last 30 days.",
  }),
  missing: Type.Optional(
    Type.Array(Type.Enum(["events"]), {
      description:
        "Kinds that are unavailable at the moment: `events`, including their delivery attempts. Absent when the timeline is complete.",
    }),
  ),
  truncated: Type.Optional(
    Type.Array(Type.Enum(["refunds", "processor_calls", "events"]), {
      description:
        "Kinds with more entries than returned. The timeline has at most 200 refunds (the newest), 200 calls (the first 50 and " +
        "the newest 150), 20 events and the newest 50 attempts of each delivery. Absent when the timeline has all entries.",
    }),
  ),
});

/** Renders a timeline. `eventsResponse` is undefined when the events are unavailable. */
export function renderPaymentTimeline(
  { payment, refunds, refundsCut, calls, callsCut }: PaymentHistory,
  eventsResponse: ListEventsOfPaymentResponse | undefined,
): Static<typeof PaymentTimelineJson> {
  if (!payment) throw new TypeError("the payment history has no payment");
  const entries: Entry[] = [
    ...statesOf(payment),
    ...refunds.flatMap((refund) => statesOfRefund(refund, payment.currency)),
    ...calls.map(({ atMs, operation, outcome, detail, durationMs, refundId }) => ({
      at: isoTimestamp(atMs),
      kind: "processor_call" as const,
      name: enumName(ProcessorOperation, operation) ?? "",
      outcome: enumName(ProcessorOutcome, outcome),
      detail,
      duration_ms: durationMs,
      refund_id: refundId,
    })),
    ...(eventsResponse?.events ?? []).flatMap(entriesOfEvent),
  ].sort(compareByTimeAndCause);
  const truncated = [
    ...(refundsCut ? ["refunds" as const] : []),
    ...(callsCut ? ["processor_calls" as const] : []),
    ...(eventsResponse?.isCut ? ["events" as const] : []),
  ];
  return {
    payment: renderPayment(payment),
    entries,
    ...(!eventsResponse && { missing: ["events" as const] }),
    ...(truncated.length > 0 && { truncated }),
  };
}

/**
 * Returns entries for the first, the paid and the current state. The entries of events show the
 * states in between.
 */
function statesOf({ createdAtMs, paidAtMs, updatedAtMs, status, origin }: NonNullable<PaymentHistory["payment"]>): Entry[] {
  const state = (ms: bigint, name: string, detail?: string): Entry => ({ at: isoTimestamp(ms), kind: "payment", name, detail });
  const states = [state(createdAtMs, "PENDING")];
  if (paidAtMs !== undefined) states.push(state(paidAtMs, "PAID"));
  const currentState = enumName(PaymentStatus, status) ?? "";
  if (currentState !== "PENDING" && currentState !== "PAID")
    states.push(state(updatedAtMs, currentState, origin && "changed at the card processor"));
  return states;
}

function statesOfRefund(refund: PaymentHistory["refunds"][number], currency: string): Entry[] {
  const state = (ms: bigint, name: string, detail?: string): Entry => ({
    ...{ at: isoTimestamp(ms), kind: "refund", name, detail, refund_id: refund.id },
  });
  const { createdAtMs, lastSentAtMs, needsDecisionSinceMs, updatedAtMs, sends, decisionReason, processorErrorCode } = refund;
  const states = [state(createdAtMs, "REQUESTED", formatMoney(refund.amountMinor, currency))];
  if (lastSentAtMs !== undefined) states.push(state(lastSentAtMs, "SENT", sends > 1 ? `last of ${sends} times` : undefined));
  if (needsDecisionSinceMs !== undefined) states.push(state(needsDecisionSinceMs, "NEEDS_DECISION", decisionReason));
  const currentState = enumName(RefundStatus, refund.status) ?? "";
  const decision = enumName(RefundOutcome, refund.resolution);
  const detail = decision ? `an operator decided ${decision}` : processorErrorCode && `code ${processorErrorCode}`;
  if (currentState !== "REQUESTED" && currentState !== "SENT") states.push(state(updatedAtMs, currentState, detail));
  return states;
}

function entriesOfEvent({ event, deliveries }: ToldEvent): Entry[] {
  if (!event) return [];
  const { id: event_id, type: name } = event;
  const entries: Entry[] = [{ at: isoTimestamp(event.createdAtMs), kind: "event", name, event_id }];
  for (const { endpoint_id, attempts, next_attempt_at } of deliveries.map(renderDelivery)) {
    const commonFields = { name, event_id, endpoint_id };
    for (const { at, status_code, error, detail, duration_ms } of attempts) {
      const outcome = status_code === undefined ? error : String(status_code);
      entries.push({ at, kind: "delivery_attempt", ...commonFields, outcome, detail, duration_ms });
    }
    if (next_attempt_at) entries.push({ at: next_attempt_at, kind: "next_attempt", ...commonFields });
  }
  return entries;
}
