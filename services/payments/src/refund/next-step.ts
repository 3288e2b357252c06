import type { CardProcessor, OrderState } from "../card-processor/card-processor.ts";
import type { ExternalChange, Payment } from "../payment/payment.ts";
import type { Refund } from "./refund.ts";

/** What a look at the processor, or its answer, comes to; recorded in one transaction. */
export type RefundOutcome =
  /** The sum is ours. */
  | { readonly kind: "accept" }
  /** Without a code: an operator found out that it did not happen. */
  | { readonly kind: "reject"; readonly errorCode?: string; readonly reason?: string }
  /** Nothing was sent, and nothing will be: somebody else gave it back or reversed it. */
  | { readonly kind: "take_over"; readonly change: ExternalChange; readonly state: OrderState }
  /** Looked at again on schedule, or decided by a person where no rule explains what was seen. */
  | { readonly kind: "wait"; readonly reason: string; readonly isUnexplained?: boolean };

/**
 * What to do about a refund that is under way when the processor says `state` of its order;
 * undefined: it could not be read. The first request goes out only when nothing was given back that
 * we do not know of; a further one only when a read shows none and either the processor must refuse
 * a second execution or an operator ordered it. `askedAt` is when the question was asked, because
 * the answer may be as old as that. `isHeld`: the database may have lost what was sent.
 */
export function beforeSending(
  refund: Refund,
  payment: Payment,
  state: OrderState | undefined,
  { askedAt, isHeld }: { askedAt: Date; isHeld: boolean },
): RefundOutcome | { readonly kind: "send" } {
  if (!state) return { kind: "wait", reason: "the order could not be read" };
  const found = payment.compare(state);
  if (found.kind === "untold") return { kind: "wait", reason: "the processor does not tell the refunded sum" };
  if (found.kind === "refunded" && refund.explains(found.refundedMinor) && refund.decisionReason !== "UNEXPLAINED") {
    return { kind: "accept" };
  }
  const isFirst = refund.sends === 0;
  const waitsForDecision = refund.needsDecisionSince != null;
  if (isFirst && !waitsForDecision && (found.kind === "refunded" || found.kind === "reversed")) {
    return { kind: "take_over", change: found, state };
  }
  if (found.kind !== "agrees") {
    return { kind: "wait", reason: found.kind === "unexplained" ? found.reason : found.kind, isUnexplained: true };
  }
  const mayBeSent = refund.resendAfter ? refund.resendAfter <= askedAt : isFirst;
  if (waitsForDecision || !mayBeSent) return { kind: "wait", reason: "a request may still take effect" };
  return isHeld ? { kind: "wait", reason: "refunds are held: the database was restored" } : { kind: "send" };
}

type SendOutcome = Awaited<ReturnType<CardProcessor["refund"]>>;

/** Whether the answer may refuse the refund: a refusal says nothing of an earlier request. */
export const mayBeRefused = (refund: Refund, outcome: SendOutcome): boolean => outcome.kind === "refused" && refund.sends === 0;

/**
 * What the processor's answer to a request means. A refusal counts only if the sum did not move:
 * `after` is what the processor says of the order behind it.
 */
export function afterSending(
  refund: Refund,
  payment: Payment,
  outcome: SendOutcome,
  after: OrderState | undefined,
): RefundOutcome {
  if (outcome.kind === "accepted") return { kind: "accept" };
  if (outcome.kind !== "refused") return { kind: "wait", reason: outcome.reason };
  if (!mayBeRefused(refund, outcome)) {
    return { kind: "wait", reason: "refused, and an earlier request may have been accepted" };
  }
  const isAsBefore = after !== undefined && payment.compare(after).kind === "agrees";
  if (!isAsBefore) return { kind: "wait", reason: "refused, and the refunded sum is not as before" };
  return { kind: "reject", errorCode: outcome.errorCode, reason: outcome.message };
}
