import type { CardProcessor, OrderState } from "../card-processor/card-processor.ts";
import type { ExternalChange, Payment } from "../payment/payment.ts";
import type { Refund } from "./refund.ts";

/**
 * Next step of a refund after a read of the order or after a refund request. One transaction
 * records the step. An operator's decision to accept or reject a refund is also recorded as a step.
 */
export type RefundStep =
  /** The refund was executed. */
  | { readonly kind: "accept" }
  /** The refund was not executed. If an operator decided this, `errorCode` is undefined. */
  | { readonly kind: "reject"; readonly errorCode?: string; readonly reason?: string }
  /** The processor had already refunded or reversed the payment. No refund request is ever sent. */
  | { readonly kind: "adopt"; readonly change: ExternalChange; readonly state: OrderState }
  /** The outcome is unknown. If `isUnexplained`, an operator must decide. */
  | { readonly kind: "wait"; readonly reason: string; readonly isUnexplained?: boolean };

/**
 * Decides the next step of an active refund from the order's `state`, which is undefined if the
 * read failed. A request is sent only if the order shows exactly the stored refunds. The request is
 * sent again only if the processor must refuse a second execution, or if an operator ordered a
 * resend. `readAt` must be a time before the read, because the order's state may be as old as this
 * time. If `isHeld`, the database may lack refunds whose requests were sent.
 */
export function decideBeforeSending(
  refund: Refund,
  payment: Payment,
  state: OrderState | undefined,
  { readAt, isHeld }: { readAt: Date; isHeld: boolean },
): RefundStep | { readonly kind: "send" } {
  if (!state) return { kind: "wait", reason: "the order could not be read" };
  const comparison = payment.compare(state);
  if (comparison.kind === "unreported") return { kind: "wait", reason: "the processor did not report the refunded sum" };
  if (
    comparison.kind === "refunded" &&
    refund.isExecutedOnceBy(comparison.refundedMinor) &&
    refund.decisionReason !== "UNEXPLAINED"
  ) {
    return { kind: "accept" };
  }
  const isFirst = refund.sends === 0;
  const needsDecision = refund.needsDecisionSince != null;
  if (isFirst && !needsDecision && (comparison.kind === "refunded" || comparison.kind === "reversed")) {
    return { kind: "adopt", change: comparison, state };
  }
  if (comparison.kind !== "agrees") {
    return { kind: "wait", reason: comparison.kind === "unexplained" ? comparison.reason : comparison.kind, isUnexplained: true };
  }
  const mayBeSent = refund.resendAfter ? refund.resendAfter <= readAt : isFirst;
  if (needsDecision || !mayBeSent) return { kind: "wait", reason: "an earlier request may still take effect" };
  return isHeld ? { kind: "wait", reason: "refunds are held after a restore or failover of the database" } : { kind: "send" };
}

type SendOutcome = Awaited<ReturnType<CardProcessor["refund"]>>;

/**
 * Returns whether the outcome can reject the refund. Only a refusal of the first request can reject
 * it. `refund` must be the row from before the commit of SENT, so that `sends` is 0 for the first
 * request.
 */
export const canReject = (refund: Refund, outcome: SendOutcome): boolean => outcome.kind === "refused" && refund.sends === 0;

/**
 * Decides the step after a refund request with this `outcome`. A refusal rejects the refund only if
 * the refunded sum did not change. `stateAfter` is the order's state after the refusal. It is
 * undefined if the order was not read or the read failed.
 */
export function decideAfterSending(
  refund: Refund,
  payment: Payment,
  outcome: SendOutcome,
  stateAfter: OrderState | undefined,
): RefundStep {
  if (outcome.kind === "accepted") return { kind: "accept" };
  if (outcome.kind !== "refused") return { kind: "wait", reason: outcome.reason };
  if (!canReject(refund, outcome)) {
    return { kind: "wait", reason: "the processor refused the request, but may have accepted an earlier request" };
  }
  const isUnchanged = stateAfter !== undefined && payment.compare(stateAfter).kind === "agrees";
  if (!isUnchanged)
    return { kind: "wait", reason: "the processor refused the request, but the refunded sum changed or is unknown" };
  return { kind: "reject", errorCode: outcome.errorCode, reason: outcome.message };
}
