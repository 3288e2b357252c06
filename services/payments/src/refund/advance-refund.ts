import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import { databaseTime, transaction } from "@amana/database";
import { IdempotencyRecord } from "@amana/idempotency";
import { faultPoint } from "@amana/runtime";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import type { Lease } from "../lease.ts";
import { refundRefused } from "../payment/payment.errors.ts";
import { announce } from "../payment/payment.events.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { Payment } from "../payment/payment.ts";
import { Refund } from "./refund.ts";

/** How far a refund got. "unknown": it stays locked and somebody asks again on schedule. */
export type RefundProgress =
  | { kind: "accepted"; payment: Payment }
  | { kind: "rejected"; errorCode: string }
  | { kind: "unknown" };

/**
 * Takes a recorded refund as far as the processor lets it, from wherever a crash, a time-out or a first request left
 * it. Always asks what the processor has given back so far before it sends; a refund that was sent before is sent
 * again only if that sum says it surely did not happen. The caller holds the refund's lease.
 */
export async function advanceRefund(
  context: Context,
  refundId: string,
  lease: Lease,
  remainingMs: () => number,
): Promise<RefundProgress> {
  const { processor, logger } = context;
  const em = context.orm.em.fork();
  const refund = await em.findOneOrFail(Refund, { id: refundId });
  const payment = await em.findOneOrFail(Payment, { id: refund.paymentId });
  // Whoever held the lease before may have brought it to its end.
  if (refund.status === "ACCEPTED") return { kind: "accepted", payment };
  if (refund.status === "REJECTED") return { kind: "rejected", errorCode: refund.processorErrorCode ?? "" };
  const orderId = payment.processorOrderId ?? "";
  const wide = { payment_id: payment.id, refund_id: refundId, order_number: payment.processorOrderNumber, sends: refund.sends };

  const refundedMinor = async (): Promise<bigint | undefined> => {
    const read = await processor.status({ orderId }, remainingMs());
    return read.kind === "accepted" ? read.value.refundedMinor : undefined;
  };
  const tryLater = async (reason: string) => {
    logger.warn({ ...wide, reason }, "refund outcome unknown");
    return await recordUnknown(context, refundId);
  };

  const isSent = refund.status !== "REQUESTED";
  // Taken before the question, because the processor's answer may be as old as that.
  const mayBeUnderWay = isSent && (refund.resendAfter?.getTime() ?? 0) > (await databaseTime(em)).getTime();
  const before = await refundedMinor();
  if (before === undefined) return await tryLater("the order could not be read");
  // One that was refused earlier may have come through late: then the sum is not what it was.
  const known = isSent ? refund : await lastRefused(em, refund);
  if (known) {
    const verdict = known.verdictOn(before);
    if (verdict === "happened" && isSent) return await recordAccepted(context, refundId);
    if (verdict !== "absent") {
      logger.error({ ...wide, alert: true, refunded_minor: String(before) }, "the refunded sum is not explained by this refund");
      return await tryLater("the refunded sum is not explained by this refund");
    }
  }
  if (mayBeUnderWay) return await tryLater("the request may still be under way");

  const resendAfterMs = context.schedule.refundResendAfterSeconds * 1000;
  const markingMs = performance.now();
  const sending = await transaction(context.orm, async (inside) => {
    if (!(await lease.holds(inside))) return false;
    const row = await inside.findOneOrFail(Refund, { id: refundId });
    const now = await databaseTime(inside);
    row.sending(before, new Date(now.getTime() + resendAfterMs), now);
    return true;
  });
  if (!sending) return { kind: "unknown" };

  // From `resendAfter` on somebody else may send: a process that was frozen meanwhile, and has lost its lease, must not.
  const mayTakeMs = resendAfterMs - (performance.now() - markingMs);
  if (mayTakeMs <= 0) return await tryLater("too late to be sent");
  const outcome = await processor.refund(orderId, refund.amountMinor, Math.min(mayTakeMs, remainingMs()));
  faultPoint("refund.answered");
  if (outcome.kind === "accepted") return await recordAccepted(context, refundId);
  if (outcome.kind === "unknown") return await tryLater(outcome.reason);
  // A fault of the processor's is told as a refusal too, and that of a repeated request may mean that the first came through late.
  const after = await refundedMinor();
  if (after === undefined) return await tryLater("refused, and the order could not be read");
  if (after !== before) return await tryLater("refused, and the refunded sum moved");
  logger.warn({ ...wide, error_code: outcome.errorCode, reason: outcome.message }, "refund refused");
  return await recordRejected(context, refundId, outcome.errorCode);
}

async function lastRefused(em: SqlEntityManager, { businessId, paymentId }: Refund): Promise<Refund | undefined> {
  const [last] = await em.find(
    Refund,
    { businessId, paymentId, status: "REJECTED" },
    { orderBy: { createdAt: "desc" }, limit: 1 },
  );
  return last;
}

/** The payment's row is locked first, the refund's second, everywhere. */
async function lockBoth(em: SqlEntityManager, refundId: string): Promise<{ payment: Payment; refund: Refund }> {
  const { paymentId } = await em.findOneOrFail(Refund, { id: refundId });
  const payment = await em.findOneOrFail(Payment, { id: paymentId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const refund = await em.findOneOrFail(Refund, { id: refundId }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  return { payment, refund };
}

async function recordAccepted(context: Context, refundId: string): Promise<RefundProgress> {
  const payment = await transaction(context.orm, async (em) => {
    const { payment, refund } = await lockBoth(em, refundId);
    if (!refund.isActive()) return payment;
    const now = await databaseTime(em);
    payment.refund(refund.amountMinor, now);
    refund.accepted(now);
    announce(em, payment, "refunded", now, refund.traceparent);
    const owed = refund.idempotencyId && (await em.findOne(IdempotencyRecord, { id: refund.idempotencyId }));
    if (owed) owed.storeAnswer(PaymentSchema, toPaymentMessage(payment));
    return payment;
  });
  faultPoint("refund.committed");
  context.logger.info({ payment_id: payment.id, refund_id: refundId }, "refunded");
  return { kind: "accepted", payment };
}

async function recordRejected(context: Context, refundId: string, errorCode: string): Promise<RefundProgress> {
  await transaction(context.orm, async (em) => {
    const { payment, refund } = await lockBoth(em, refundId);
    if (!refund.isActive()) return;
    const now = await databaseTime(em);
    payment.refundRefused(errorCode, now);
    refund.rejected(errorCode, now);
    const owed = refund.idempotencyId && (await em.findOne(IdempotencyRecord, { id: refund.idempotencyId }));
    if (owed) owed.storeRefusal(refundRefused(errorCode));
  });
  return { kind: "rejected", errorCode };
}

async function recordUnknown(context: Context, refundId: string): Promise<RefundProgress> {
  await transaction(context.orm, async (em) => {
    const { refund } = await lockBoth(em, refundId);
    if (!refund.isActive()) return;
    const now = await databaseTime(em);
    refund.unknown(context.schedule.refundCheckSeconds, now);
  });
  return { kind: "unknown" };
}
