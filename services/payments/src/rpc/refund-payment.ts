import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import type { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { findEntities, lockRow, transaction } from "@amana/database";
import { claimKey } from "@amana/idempotency";
import { newLease, withClaimedLease } from "@amana/jobs";
import { type Implementation, requireBusiness } from "@amana/rpc";
import { faultPoint, uuidv7 } from "@amana/runtime";
import type { Context } from "../context.ts";
import {
  paymentNotFound,
  paymentNotRefundable,
  refundInProgress,
  refundMayStillTakeEffect,
  refundOutcomeUnknown,
  refundsHeld,
  tooManyRefunds,
} from "../payment/payment.errors.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { Payment } from "../payment/payment.ts";
import { advanceRefund } from "../refund/advance-refund.ts";
import type { RefundProgress } from "../refund/record-refund.ts";
import { Refund } from "../refund/refund.ts";
import { readRefundHold } from "../refund/refund-hold.ts";

/**
 * Maximum number of refunds of a payment in 24 hours. A payment gets another refund only after the
 * processor has refused the earlier ones. The limit bounds the rows that this RPC reads, and the
 * calls to the processor if a business retries a refund without end.
 */
const refundsPerDayMax = 30;
const dayMs = 24 * 60 * 60 * 1000;
/** Minimum delay until the job continues a refund whose process crashed. */
const recoveryMs = 2_000;
/** Part of the deadline that is reserved for the response. */
const responseMs = 2_000;

/**
 * Refunds a payment. The first transaction checks the rules, inserts the refund as REQUESTED and
 * claims the Idempotency-Key. `advanceRefund` then calls the processor outside of any transaction.
 * The last transaction commits the outcome, the event and the stored response.
 */
export const refundPayment =
  (context: Context): Implementation<typeof PaymentService.method.refundPayment> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    const firstResult = await transaction(context.orm, async (em) => {
      const claim = await claimKey(em, call, PaymentSchema);
      if ("replayed" in claim) return claim;
      const payment = await lockRow(em, Payment, businessId, request.id, paymentNotFound);
      // The newest refunds include the active refund, because an active refund prevents newer ones.
      const earlierRefunds = await findEntities(em, Refund, "business_id = ? and payment_id = ? order by id desc limit ?::int", [
        businessId,
        payment.id,
        refundsPerDayMax,
      ]);
      if (earlierRefunds.some((refund) => refund.isActive())) throw refundInProgress();
      const amountMinor = payment.refundable(request.amountMinor);
      const hold = await readRefundHold(em, context.schedule);
      const { now, heldUntil } = hold;
      if (heldUntil) throw refundsHeld(heldUntil);
      const oldestRefund = earlierRefunds[refundsPerDayMax - 1];
      const limitedUntil = new Date((oldestRefund?.createdAt.getTime() ?? 0) + dayMs);
      if (limitedUntil > now) throw tooManyRefunds(refundsPerDayMax, limitedUntil);
      for (const earlierRefund of earlierRefunds) {
        const lateEffectUntil = earlierRefund.mayTakeEffectUntil(context.schedule.refundLateEffectSeconds);
        // The processor can execute only one of the two refunds. Both have the same amount, so the
        // execution of either refund is correct.
        const isHarmless = earlierRefund.amountMinor === amountMinor && earlierRefund.cannotExecuteTwice(payment.amountMinor);
        if (lateEffectUntil > now && !isHarmless) throw refundMayStillTakeEffect(lateEffectUntil);
      }
      const refund = em.create(Refund, {
        id: uuidv7(now.getTime()),
        businessId,
        paymentId: payment.id,
        amountMinor,
        status: "REQUESTED",
        sends: 0,
        checks: 0,
        nextCheckAt: new Date(now.getTime() + recoveryMs),
        decisionDueAt: new Date(now.getTime() + context.schedule.refundDecisionAfterSeconds * 1000),
        idempotencyId: claim.record?.id ?? null,
        traceparent: call.traceparent || null,
        ...newLease(now),
        createdAt: now,
        updatedAt: now,
      });
      em.persist(refund);
      return { payment, refund, key: claim.record, hold };
    });
    if ("replayed" in firstResult) return firstResult.replayed;

    faultPoint("refund.requested");
    const { payment, refund, key, hold } = firstResult;
    const remainingMs = () => Math.max(1, call.remainingMs() - responseMs);
    const leased = { table: "refund", id: refund.id, token: refund.leaseToken ?? "" };
    const progress = await withClaimedLease(context.orm, leased, (lease) =>
      advanceRefund(context, { payment, refund }, lease, { remainingMs, key, hold }),
    ).catch((error: unknown): RefundProgress => {
      // The job continues the refund, so its outcome is unknown. A retryable error would state that
      // no refund exists.
      context.logger.error(
        { err: error, payment_id: refund.paymentId, refund_id: refund.id },
        "refund request failed, the refund job continues the refund",
      );
      return { kind: "unknown" };
    });
    if (progress.kind === "rejected") throw progress.refusal;
    if (progress.kind === "not_sent") throw paymentNotRefundable(progress.payment.status);
    if (progress.kind === "unknown") throw refundOutcomeUnknown();
    return toPaymentMessage(progress.payment, context);
  };
