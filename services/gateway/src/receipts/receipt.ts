import { type Payment, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import type { Receipt } from "@amana/contracts/payments/v1/receipt_pb";
import { type Language, parseLanguage } from "@amana/pages";

/** Returns whether a payment has a receipt: it is PAID or REFUNDED. */
export const hasReceipt = (payment: Payment | undefined): boolean =>
  payment?.status === PaymentStatus.PAID || payment?.status === PaymentStatus.REFUNDED;

/**
 * Returns the language of a receipt: `requested`, or the language of the payment if `requested` is
 * not a language.
 */
export const languageOf = (requested: unknown, { payment }: Receipt): Language =>
  parseLanguage(requested) ?? parseLanguage(payment?.language) ?? "fr";
