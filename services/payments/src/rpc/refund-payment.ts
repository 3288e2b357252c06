import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import type { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { lockRow, transaction } from "@amana/database";
import { claimKey } from "@amana/idempotency";
import { withLease } from "@amana/jobs";
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
} from "../payment/payment.errors.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { Payment } from "../payment/payment.ts";
import { advanceRefund } from "../refund/advance-refund.ts";
import { readHold } from "../refund/hold.ts";
import type { RefundProgress } from "../refund/record-refund.ts";
import { Refund } from "../refund/refund.ts";

/** If nobody sends the refund, because of a crash, the worker takes it up after this long. */
const takeUpMs = 2_000;
/** Left over for the answer's way back. */
const answerMs = 2_000;

/** Begin (rules, REQUESTED, commit) → processor, in no transaction → finish (event, answer). */
export const refundPayment =
  (context: Context): Implementation<typeof PaymentService.method.refundPayment> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    const begun = await transaction(context.orm, async (em) => {
      const claim = await claimKey(em, call, PaymentSchema);
      if ("replayed" in claim) return claim;
      const payment = await lockRow(em, Payment, businessId, request.id, paymentNotFound);
      const earlier = await em.find(Refund, { businessId, paymentId: payment.id });
      if (earlier.some((refund) => refund.isActive())) throw refundInProgress();
      const amountMinor = payment.refundable(request.amountMinor);
      const { now, heldUntil } = await readHold(em, context.schedule);
      if (heldUntil) throw refundsHeld(heldUntil);
      for (const refused of earlier) {
        const until = refused.mayTakeEffectUntil(context.schedule.refundLateEffectSeconds);
        // Where two of the same amount cannot both happen, whichever does is the one asked for.
        const isHarmless = refused.amountMinor === amountMinor && refused.cannotHappenTwice(payment.amountMinor);
        if (until > now && !isHarmless) throw refundMayStillTakeEffect(until);
      }
      const refund = em.create(Refund, {
        id: uuidv7(now.getTime()),
        businessId,
        paymentId: payment.id,
        amountMinor,
        status: "REQUESTED",
        sends: 0,
        checks: 0,
        nextCheckAt: new Date(now.getTime() + takeUpMs),
        decisionDueAt: new Date(now.getTime() + context.schedule.refundDecisionAfterSeconds * 1000),
        idempotencyId: claim.record?.id ?? null,
        traceparent: call.traceparent || null,
        createdAt: now,
        updatedAt: now,
      });
      em.persist(refund);
      return { refund };
    });
    if ("replayed" in begun) return begun.replayed;

    faultPoint("refund.requested");
    const { refund } = begun;
    const remainingMs = () => Math.max(1, call.remainingMs() - answerMs);
    const leased = await withLease(context.orm, "refund", refund.id, (lease) =>
      advanceRefund(context, refund.id, lease, remainingMs),
    ).catch((error: unknown) => {
      // It goes on without this call: to say "try again" now would say that nothing happened.
      context.logger.error(
        { err: error, payment_id: refund.paymentId, refund_id: refund.id },
        "a refund that was begun goes on later",
      );
      return undefined;
    });
    const progress: RefundProgress = leased?.result ?? { kind: "unknown" };
    if (progress.kind === "rejected") throw progress.refusal;
    if (progress.kind === "not_sent") throw paymentNotRefundable(progress.payment.status);
    if (progress.kind === "unknown") throw refundOutcomeUnknown();
    return toPaymentMessage(progress.payment);
  };
