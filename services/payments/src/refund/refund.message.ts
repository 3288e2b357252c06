import { RefundSchema } from "@amana/contracts/payments/v1/refund_pb";
import { defineView, type RowOf } from "@amana/database";
import { type paymentView, toPaymentMessage } from "../payment/payment.message.ts";
import { Refund } from "./refund.ts";

export const refundView = defineView(Refund, RefundSchema);

export const toRefundMessage = (refund: RowOf<typeof refundView>, payment: RowOf<typeof paymentView>) =>
  refundView.toMessage(refund, { payment: toPaymentMessage(payment) });
