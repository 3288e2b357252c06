import { RefundOutcome, RefundSchema } from "@amana/contracts/payments/v1/refund_pb";
import type { RefundService } from "@amana/contracts/payments/v1/refund_service_pb";
import { databaseTime } from "@amana/database";
import { once } from "@amana/idempotency";
import { byCaller, recordAction } from "@amana/messaging";
import { type Implementation, requestedName, requireAdmin } from "@amana/rpc";
import type { Context } from "../context.ts";
import { refundDecisionNotOpen, refundDecisionUnknown } from "../payment/payment.errors.ts";
import type { Payment } from "../payment/payment.ts";
import { applyRefundStep, lockRefund } from "../refund/record-refund.ts";
import { toRefundMessage } from "../refund/refund.message.ts";
import type { Refund } from "../refund/refund.ts";

/**
 * Applies an operator's decision about a refund and records it in the audit trail. A repeated
 * decision changes nothing.
 */
export const resolveRefund =
  (context: Context): Implementation<typeof RefundService.method.resolveRefund> =>
  async (request, call) => {
    requireAdmin(call.caller);
    const outcome = requestedName(RefundOutcome, request.outcome);
    if (!outcome) throw refundDecisionUnknown();
    return await once(context.orm, call, RefundSchema, async (em) => {
      const locked = await lockRefund(em, request.id);
      const { refund, payment } = locked;
      if (!refund.needsDecisionSince) {
        if (refund.resolution === outcome) return toRefundMessage(refund, payment, context);
        throw refundDecisionNotOpen(refund.status);
      }
      const now = await databaseTime(em);
      const before = auditFieldsOf(refund, payment);
      const { refundLateEffectSeconds, refundDecisionAfterSeconds } = context.schedule;
      if (outcome === "SEND_AGAIN") {
        const decisionDueAt = new Date(now.getTime() + refundDecisionAfterSeconds * 1000);
        refund.sendAgain(refund.mayTakeEffectUntil(refundLateEffectSeconds), decisionDueAt, now);
      } else {
        refund.recordDecision(outcome);
        applyRefundStep(em, context, locked, { kind: outcome === "ACCEPTED" ? "accept" : "reject" }, now);
      }
      recordAction("payments")(em, now, {
        by: byCaller(call),
        action: "refund.resolved",
        entity: { type: "refund", id: refund.id },
        businessId: refund.businessId,
        before,
        after: { ...auditFieldsOf(refund, payment), outcome },
        reason: request.note,
      });
      return toRefundMessage(refund, payment, context);
    });
  };

/**
 * Returns fields for the audit trail: Amana's state and the state that the processor last returned.
 */
const auditFieldsOf = (refund: Refund, payment: Payment) => ({
  payment_id: payment.id,
  amount_minor: String(refund.amountMinor),
  status: refund.status,
  payment_status: payment.status,
  processor_refunded_minor: String(refund.processorRefundedMinor ?? ""),
  processor_read_at: refund.processorReadAt?.toISOString() ?? "",
});
