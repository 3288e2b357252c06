import type { Payment } from "../payment/payment.ts";

/**
 * Returns the number of the receipt: the day of the payment in Algeria and the order number. Order
 * numbers are unique, so receipt numbers are unique, too. The number never changes.
 */
export const receiptNumberOf = (payment: Payment): string =>
  `${day.format(paidAtOf(payment)).replaceAll("-", "")}-${payment.processorOrderNumber}`;

/** Returns the time of the last change that the receipt shows. */
export const issuedAt = (payment: Payment): Date => refundedAtOf(payment) ?? paidAtOf(payment);

/**
 * Returns the time of the last refund. Returns undefined without a refund, or if the time is
 * unknown.
 */
export function refundedAtOf({ status, refundedAt, refundEndedAt, origin }: Payment): Date | undefined {
  if (status !== "REFUNDED") return undefined;
  // Earlier versions stored only the end of a refund that Amana requested.
  return refundedAt ?? (origin == null ? refundEndedAt : null) ?? undefined;
}

const paidAtOf = ({ paidAt, createdAt }: Payment): Date => paidAt ?? createdAt;

/** Formats as 2026-11-25. */
const day = new Intl.DateTimeFormat("en-CA", { timeZone: "Africa/Algiers", dateStyle: "short" });
