import { conflict, invalid, notFound, outcomeUnknown, refusedUpstream, unavailable, upstreamError } from "@amana/rpc";

export const paymentNotFound = () => notFound("not_found", "There is no such payment.");

export const paymentNotRefundable = (status: string) =>
  conflict("payment_not_refundable", `The payment is ${status}; only a PAID payment can be refunded, once.`, {
    members: { payment_status: status },
  });

export const refundInProgress = () =>
  conflict(
    "refund_in_progress",
    "A refund of this payment is under way and its outcome is not known yet. Read the payment again in a minute.",
  );

export const refundMayStillTakeEffect = (until: Date) =>
  conflict(
    "refund_in_progress",
    `The earlier refund of this payment was refused, and may still take effect at the card processor until ${until.toISOString()}. Ask again then.`,
    { members: { refundable_at: until.toISOString() } },
  );

export const refundsHeld = (until: Date) =>
  unavailable(
    "refunds_held",
    `Refunds wait until ${until.toISOString()}: our records were restored, and what was sent to the card processor before must have shown there first. Nothing was done. Ask again then.`,
    { members: { refundable_at: until.toISOString() } },
  );

export const refundNotFound = () => notFound("not_found", "There is no such refund.");

export const refundDecisionNotOpen = (status: string) =>
  conflict(
    "refund_decision_not_open",
    `The refund is ${status} and waits for no decision. GET /admin/refunds?needs_decision=true lists those that do.`,
    { members: { refund_status: status } },
  );

/** None, or one that a newer gateway knows: it must not pass for any of ours. */
export const refundDecisionUnknown = () =>
  invalid("validation_failed", "The outcome must be ACCEPTED, REJECTED or SEND_AGAIN.", { pointer: "/outcome" });

export const refundAmountInvalid = (paidMinor: bigint, currency: string) =>
  invalid(
    "refund_amount_invalid",
    `The amount must be more than 0 and at most the ${paidMinor / 100n}.${(paidMinor % 100n).toString().padStart(2, "0")} ${currency} that were paid.`,
    { pointer: "/amount" },
  );

export const refundRefused = (errorCode: string) =>
  refusedUpstream(
    "refund_refused",
    `The card processor refused the refund (code ${errorCode}). The payment stays PAID; contact the operator if this is unexpected.`,
    { members: { processor_error_code: errorCode } },
  );

/** An operator found that it did not happen. */
export const refundRejected = () =>
  refusedUpstream(
    "refund_refused",
    "The refund did not happen at the card processor, as an operator found out. The payment stays PAID and can be refunded.",
  );

export const refundOutcomeUnknown = () =>
  outcomeUnknown(
    "refund_outcome_unknown",
    "The card processor has not told whether the refund happened. It is being found out; do not pay back by other means. Read the payment again in a minute.",
  );

export const processorError = (errorCode: string, paymentId: string) =>
  upstreamError(
    "processor_error",
    `The card processor refused the payment (code ${errorCode}). It is kept as FAILED; create a new one.`,
    { members: { processor_error_code: errorCode, payment_id: paymentId } },
  );

/** More would only wait until their deadline. */
export const tooManyCreations = () =>
  unavailable(
    "service_unavailable",
    "So many payments of yours wait for the card processor that a further one would not be answered in time. Try again in a second.",
  );

export const processorOutcomeUnknown = (paymentId: string) =>
  outcomeUnknown(
    "processor_outcome_unknown",
    "The card processor has not told whether it took the payment. It is being found out; send the same request with the same Idempotency-Key again in a minute, or read the payment.",
    { members: { payment_id: paymentId } },
  );

export const returnTokenUnknown = () => notFound("not_found", "This return address belongs to no payment.");
