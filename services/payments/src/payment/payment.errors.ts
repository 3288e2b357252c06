import { conflict, invalid, notFound, outcomeUnknown, refusedUpstream, unavailable, upstreamError } from "@amana/rpc";

export const paymentNotFound = () => notFound("not_found", "There is no payment with this id. Check the id.");

export const paymentNotRefundable = (status: string) =>
  conflict("payment_not_refundable", `The payment is ${status}. Only a PAID payment can be refunded, and only once.`, {
    members: { payment_status: status },
  });

export const refundInProgress = () =>
  conflict(
    "refund_in_progress",
    "A refund of this payment is in progress and its outcome is not known yet. Read the payment again in a minute.",
  );

export const refundMayStillTakeEffect = (until: Date) =>
  conflict(
    "refund_in_progress",
    `The earlier refund of this payment was refused, but it may still take effect at the card processor until ${until.toISOString()}. Send the request again after that time.`,
    { members: { refundable_at: until.toISOString() } },
  );

export const tooManyRefunds = (perDay: number, until: Date) =>
  conflict(
    "refund_attempt_limit_reached",
    `The card processor refused ${perDay} refunds of this payment within 24 hours. Find the cause in the processor_error_code of these refusals, or contact the operator. Send the request again at ${until.toISOString()}.`,
    { members: { refundable_at: until.toISOString() } },
  );

export const refundsHeld = (until: Date) =>
  unavailable(
    "refunds_held",
    `No refund is sent until ${until.toISOString()}: the database was restored, and earlier refunds may still take effect at the card processor. This request had no effect. Send it again after that time.`,
    { members: { refundable_at: until.toISOString() } },
  );

export const refundNotFound = () => notFound("not_found", "There is no refund with this id. Check the id.");

export const refundDecisionNotOpen = (status: string) =>
  conflict(
    "refund_decision_not_open",
    `The refund is ${status} and needs no decision. GET /admin/refunds?needs_decision=true lists the refunds that need one.`,
    { members: { refund_status: status } },
  );

/**
 * Error for a request without an outcome, or with an outcome that this version does not support.
 */
export const refundDecisionUnknown = () =>
  invalid("validation_failed", "The outcome must be ACCEPTED, REJECTED or SEND_AGAIN.", { pointer: "/outcome" });

export const refundAmountInvalid = (paidMinor: bigint, currency: string) =>
  invalid(
    "refund_amount_invalid",
    `The amount must be more than 0 and at most ${paidMinor / 100n}.${(paidMinor % 100n).toString().padStart(2, "0")} ${currency}, the amount that was paid.`,
    { pointer: "/amount" },
  );

export const refundRefusedByProcessor = (errorCode: string) =>
  refusedUpstream(
    "refund_refused",
    `The card processor refused the refund (code ${errorCode}). The payment stays PAID; contact the operator if this is unexpected.`,
    { members: { processor_error_code: errorCode } },
  );

export const refundRejectedByOperator = () =>
  refusedUpstream(
    "refund_refused",
    "An operator confirmed that the card processor did not execute the refund. The payment stays PAID and can be refunded.",
  );

export const refundOutcomeUnknown = () =>
  outcomeUnknown(
    "refund_outcome_unknown",
    "The card processor has not confirmed whether it executed the refund. Amana checks this automatically; do not return the money by other means. Read the payment again in a minute.",
  );

export const processorError = (errorCode: string, paymentId: string) =>
  upstreamError(
    "processor_error",
    `The card processor refused the payment (code ${errorCode}). The payment is stored as FAILED; create a new one.`,
    { members: { processor_error_code: errorCode, payment_id: paymentId } },
  );

/** Error for a registration that would time out in the queue of the business. */
export const tooManyCreations = () =>
  unavailable(
    "service_unavailable",
    "Too many of your payments are waiting for the card processor. The payment was not created. Try again in a second.",
  );

export const processorOutcomeUnknown = (paymentId: string) =>
  outcomeUnknown(
    "processor_outcome_unknown",
    "The card processor has not confirmed whether it registered the payment. Amana checks this automatically. Send the same request with the same Idempotency-Key again in a minute, or read the payment.",
    { members: { payment_id: paymentId } },
  );

export const returnTokenUnknown = () => notFound("not_found", "There is no payment for this return URL.");

export const statementNotReady = () =>
  unavailable(
    "statement_not_ready",
    "The statement is not available yet, because earlier payments are still being added to it after an upgrade. Try again in a few minutes.",
  );
