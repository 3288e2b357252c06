import type { CardProcessor, OrderState } from "../card-processor/card-processor.ts";
import type { ExternalChange, Payment } from "../payment/payment.ts";
import type { Refund } from "./refund.ts";

/** Outcome of a read of the order or of a refund request. It is recorded in one transaction. */
export type RefundOutcome =
  /** The refund was executed. */
  | { readonly kind: "accept" }
  /** The refund was not executed. An operator's decision has no error code. */
  | { readonly kind: "reject"; readonly errorCode?: string; readonly reason?: string }
  /** The processor had already refunded or reversed the payment, so nothing is ever sent. */
  | { readonly kind: "adopt"; readonly change: ExternalChange; readonly state: OrderState }
  /** The outcome is unknown. With `isUnexplained` an operator must decide. */
  | { readonly kind: "wait"; readonly reason: string; readonly isUnexplained?: boolean };

/**
 * Decides the next step of an active refund from the order's `state`, which is undefined if the
 * read failed. The first request is sent only if the order shows no refund that is not stored. A
 * further request also requires that the processor must refuse a second execution, or that an
 * operator ordered it. `readAt` is the start of the read, because the state may be as old as that.
 * `isHeld`: the database was restored and may lack requests that were sent.
 */
export function decideBeforeSending(
  refund: Refund,
  payment: Payment,
  state: OrderState | undefined,
  { readAt, isHeld }: { readAt: Date; isHeld: boolean },
): RefundOutcome | { readonly kind: "send" } {
  if (!state) return { kind: "wait", reason: "the order could not be read" };
  const comparison = payment.compare(state);
  if (comparison.kind === "unreported") return { kind: "wait", reason: "the processor did not report the refunded sum" };
  if (comparison.kind === "refunded" && refund.explains(comparison.refundedMinor) && refund.decisionReason !== "UNEXPLAINED") {
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
  return isHeld ? { kind: "wait", reason: "refunds are held: the database was restored" } : { kind: "send" };
}

type SendOutcome = Awaited<ReturnType<CardProcessor["refund"]>>;

/** Returns whether a refusal can reject the refund: it proves nothing about an earlier request. */
export const canReject = (refund: Refund, outcome: SendOutcome): boolean => outcome.kind === "refused" && refund.sends === 0;

/**
 * Returns the outcome of a refund request. A refusal rejects the refund only if the refunded sum
 * did not change. `stateAfter` is the order's state after the refusal; undefined if the read
 * failed.
 */
export function decideAfterSending(
  refund: Refund,
  payment: Payment,
  outcome: SendOutcome,
  stateAfter: OrderState | undefined,
): RefundOutcome {
  if (outcome.kind === "accepted") return { kind: "accept" };
  if (outcome.kind !== "refused") return { kind: "wait", reason: outcome.reason };
  if (!canReject(refund, outcome)) {
    return { kind: "wait", reason: "refused, but an earlier request may have been accepted" };
  }
  const isUnchanged = stateAfter !== undefined && payment.compare(stateAfter).kind === "agrees";
  if (!isUnchanged) return { kind: "wait", reason: "refused, but the refunded sum is not known to be unchanged" };
  return { kind: "reject", errorCode: outcome.errorCode, reason: outcome.message };
}
