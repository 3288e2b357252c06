import type { OrderState } from "../src/card-processor/card-processor.ts";
import { Payment } from "../src/payment/payment.ts";
import { PaymentLink } from "../src/payment-link/payment-link.ts";
import { Refund } from "../src/refund/refund.ts";

export const createdAt = new Date("2026-03-01T10:00:00.000Z");

/**
 * Returns a payment of 5000.00 DZD that is not stored. By default, it is PENDING with a registered
 * order.
 */
export const aPayment = (changes: Partial<Payment> = {}): Payment =>
  Object.assign(new Payment(), {
    id: "0195a000-0000-7000-8000-000000000001",
    businessId: "0195a000-0000-7000-8000-000000000002",
    amountMinor: 500_000n,
    currency: "DZD",
    status: "PENDING",
    language: "FR",
    successUrl: "https://shop.test/thanks",
    failUrl: "https://shop.test/sorry",
    returnToken: "t".repeat(43),
    processorOrderNumber: "1234567890",
    processorOrderId: "order000000000000001",
    formUrl: "https://processor.test/pay/order000000000000001",
    checks: 0,
    nextCheckAt: createdAt,
    createdAt,
    updatedAt: createdAt,
    ...changes,
  });

/** Returns an ACTIVE payment link of 5000.00 DZD without `maxPayments`. The link is not stored. */
export const aPaymentLink = (changes: Partial<PaymentLink> = {}): PaymentLink =>
  Object.assign(new PaymentLink(), {
    id: "0195a000-0000-7000-8000-000000000004",
    businessId: "0195a000-0000-7000-8000-000000000002",
    token: "t".repeat(22),
    name: "Two tickets",
    amountMinor: 500_000n,
    currency: "DZD",
    language: "FR",
    nameRule: "HIDDEN",
    emailRule: "HIDDEN",
    phoneRule: "HIDDEN",
    metadata: "{}",
    isActive: true,
    paymentsPaid: 0,
    amountPaidMinor: 0n,
    amountRefundedMinor: 0n,
    createdAt,
    updatedAt: createdAt,
    ...changes,
  });

/**
 * Returns a full refund of the payment `aPayment`. The refund is REQUESTED by default and not
 * stored.
 */
export const aRefund = (changes: Partial<Refund> = {}): Refund =>
  Object.assign(new Refund(), {
    id: "0195a000-0000-7000-8000-000000000003",
    businessId: "0195a000-0000-7000-8000-000000000002",
    paymentId: "0195a000-0000-7000-8000-000000000001",
    amountMinor: 500_000n,
    status: "REQUESTED",
    sends: 0,
    decisionDueAt: new Date(createdAt.getTime() + 86_400_000),
    checks: 0,
    createdAt,
    updatedAt: createdAt,
    ...changes,
  });

/**
 * Returns an order state for the payment `aPayment`. By default, the order is registered and
 * unpaid.
 */
export const anOrderState = (changes: Partial<OrderState> = {}): OrderState => ({
  errorCode: "0",
  orderStatus: 0,
  orderId: undefined,
  orderNumber: "1234567890",
  amountMinor: 500_000n,
  currency: "012",
  refundedMinor: undefined,
  actionCode: undefined,
  actionCodeDescription: undefined,
  respCode: undefined,
  respCodeDesc: undefined,
  approvalCode: undefined,
  maskedPan: undefined,
  ...changes,
});

/**
 * Returns the state of a paid order: order status 2, response code 00 and error code 0, as PAID
 * requires.
 */
export const paidState = (changes: Partial<OrderState> = {}): OrderState =>
  anOrderState({ orderStatus: 2, respCode: "00", actionCode: "0", maskedPan: "628058**7215", ...changes });
