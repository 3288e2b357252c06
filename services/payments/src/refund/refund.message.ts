import { RefundSchema } from "@amana/contracts/payments/v1/refund_pb";
import { ListRefundsRequestSchema } from "@amana/contracts/payments/v1/refund_service_pb";
import { defineList, defineView, type RowOf } from "@amana/database";
import type { Context } from "../context.ts";
import { type paymentView, toPaymentMessage } from "../payment/payment.message.ts";
import { Refund } from "./refund.ts";

const refundView = defineView(Refund, RefundSchema);

export const toRefundMessage = (
  refund: RowOf<typeof refundView>,
  payment: RowOf<typeof paymentView>,
  context: Pick<Context, "publicUrl">,
) => refundView.toMessage(refund, { payment: toPaymentMessage(payment, context) });

export const refundList = defineList(refundView, ListRefundsRequestSchema, {
  needsDecision: "(needs_decision_since is not null) = ?",
});
