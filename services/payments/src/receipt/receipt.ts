import type { Payment } from "../payment/payment.ts";

/**
 * Returns the receipt number, which consists of the payment's day in Algerian time and the order
 * number. Order numbers are unique, so receipt numbers are unique, too. The receipt number of a
 * payment never changes.
 */
export const receiptNumberOf = (payment: Payment): string =>
  `${dayOf(paidAtOf(payment)).replaceAll("-", "")}-${payment.processorOrderNumber}`;

/** Returns the time of the last change that the receipt shows. */
export const issuedAtOf = (payment: Payment): Date => refundedAtOf(payment) ?? paidAtOf(payment);

/**
 * Returns the time of a REFUNDED payment's last refund. Returns undefined for another status, and
 * if the time is unknown.
 */
export function refundedAtOf({ status, refundedAt, refundEndedAt, origin }: Payment): Date | undefined {
  if (status !== "REFUNDED") return undefined;
  // Earlier versions did not store `refundedAt`. `refundEndedAt` is the time of a refund that Amana
  // requested.
  return refundedAt ?? (origin == null ? refundEndedAt : null) ?? undefined;
}

const paidAtOf = ({ paidAt, createdAt }: Payment): Date => paidAt ?? createdAt;

/** Returns the day of a time in Algeria, such as 2026-11-25. */
const dayOf = (time: Date): string =>
  Temporal.Instant.fromEpochMilliseconds(time.getTime()).toZonedDateTimeISO("Africa/Algiers").toPlainDate().toString();
