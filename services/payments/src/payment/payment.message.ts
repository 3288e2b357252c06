import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import { ListPaymentsRequestSchema } from "@amana/contracts/payments/v1/payment_service_pb";
import { ChangedPaymentSchema, ListChangedPaymentsRequestSchema } from "@amana/contracts/payments/v1/refund_service_pb";
import { defineList, defineView, type RowOf } from "@amana/database";
import type { Context } from "../context.ts";
import { pageTokenOf } from "./page-token.ts";
import { isSettledStatus, Payment } from "./payment.ts";

export const paymentView = defineView(Payment, PaymentSchema, { columns: ["returnToken"] });

export const toPaymentMessage = (payment: RowOf<typeof paymentView>, { publicUrl }: Pick<Context, "publicUrl">) =>
  paymentView.toMessage(payment, {
    receiptUrl: isSettledStatus(payment.status) ? receiptUrlOf(payment, publicUrl) : undefined,
  });

/** Returns the URL of the receipt page. The gateway serves this page. */
export const receiptUrlOf = ({ returnToken }: Pick<Payment, "returnToken">, publicUrl: string): string =>
  `${publicUrl}/receipts/${pageTokenOf(returnToken)}`;

/** Payments with an external change or an unexplained difference at the processor. */
export const changedPaymentView = defineView(Payment, ChangedPaymentSchema, {
  columns: paymentView.properties,
  where: "(origin is not null or difference is not null)",
});

// A filter with the name of a property, such as `status` or `orderRef`, needs no entry.
export const paymentList = defineList(
  paymentView,
  ListPaymentsRequestSchema,
  {
    createdFromMs: "created_at >= ?",
    createdToMs: "created_at < ?",
    customerEmail: "lower(customer_email) = lower(?)",
  },
  { lookUpIn: "payment_of_tenants" },
);

export const changedPaymentList = defineList(changedPaymentView, ListChangedPaymentsRequestSchema, {});
