import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import { ChangedPaymentSchema } from "@amana/contracts/payments/v1/refund_service_pb";
import { defineView } from "@amana/database";
import { Payment } from "./payment.ts";

export const paymentView = defineView(Payment, PaymentSchema);
export const toPaymentMessage = paymentView.toMessage;

/** Those that the processor changed, or says of what no rule explains. */
export const changedPaymentView = defineView(Payment, ChangedPaymentSchema, {
  columns: paymentView.properties,
  where: "(origin is not null or difference is not null)",
});
