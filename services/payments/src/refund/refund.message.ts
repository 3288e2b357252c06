import { type Refund as RefundMessage, RefundOutcome, RefundSchema, RefundStatus } from "@amana/contracts/payments/v1/refund_pb";
import { create } from "@bufbuild/protobuf";
import { toPaymentMessage } from "../payment/payment.message.ts";
import type { Payment } from "../payment/payment.ts";
import type { Refund } from "./refund.ts";

export function toRefundMessage(refund: Refund, payment: Payment): RefundMessage {
  return create(RefundSchema, {
    id: refund.id,
    businessId: refund.businessId,
    paymentId: refund.paymentId,
    amountMinor: refund.amountMinor,
    status: RefundStatus[refund.status],
    decisionReason: refund.decisionReason ?? undefined,
    needsDecisionSinceMs: milliseconds(refund.needsDecisionSince),
    resolution: refund.resolution ? RefundOutcome[refund.resolution] : RefundOutcome.UNSPECIFIED,
    sends: refund.sends,
    lastSentAtMs: milliseconds(refund.lastSentAt),
    processorErrorCode: refund.processorErrorCode ?? undefined,
    createdAtMs: BigInt(refund.createdAt.getTime()),
    updatedAtMs: BigInt(refund.updatedAt.getTime()),
    payment: toPaymentMessage(payment),
    processorRefundedMinor: refund.processorRefundedMinor ?? undefined,
    processorOrderStatus: refund.processorOrderStatus ?? undefined,
    processorReadAtMs: milliseconds(refund.processorReadAt),
  });
}

const milliseconds = (time: Date | null | undefined): bigint | undefined => (time == null ? undefined : BigInt(time.getTime()));
