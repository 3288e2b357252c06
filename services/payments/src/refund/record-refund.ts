import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import { databaseTime, transaction } from "@amana/database";
import { IdempotencyRecord } from "@amana/idempotency";
import type { DomainError } from "@amana/rpc";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { OrderState } from "../card-processor/card-processor.ts";
import type { Context } from "../context.ts";
import { refundRefused, refundRejected } from "../payment/payment.errors.ts";
import { announce } from "../payment/payment.events.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { type ElsewhereChange, Payment } from "../payment/payment.ts";
import { takeOver } from "../payment/reread-payment.ts";
import { type DecisionReason, Refund } from "./refund.ts";

/** How far a refund got. "unknown": the payment stays locked and somebody asks again on schedule, or decides. */
export type RefundProgress =
  | { kind: "accepted"; payment: Payment }
  | { kind: "rejected"; refusal: DomainError }
  | { kind: "not_sent"; payment: Payment }
  | { kind: "unknown" };

interface Both {
  readonly payment: Payment;
  readonly refund: Refund;
}

export function progressOf({ payment, refund }: Both): RefundProgress {
  if (refund.status === "ACCEPTED") return { kind: "accepted", payment };
  if (refund.status === "REJECTED") return { kind: "rejected", refusal: refusalOf(refund) };
  if (refund.status === "NOT_SENT") return { kind: "not_sent", payment };
  return { kind: "unknown" };
}

const refusalOf = ({ processorErrorCode, resolution }: Refund) =>
  resolution === "REJECTED" ? refundRejected() : refundRefused(processorErrorCode ?? "");

/** The payment's row is locked first, the refund's second, everywhere. */
export async function lockBoth(em: SqlEntityManager, refundId: string): Promise<Both | undefined> {
  const found = await em.findOne(Refund, { id: refundId });
  if (!found) return undefined;
  const payment = await em.findOneOrFail(Payment, { id: found.paymentId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const refund = await em.findOneOrFail(Refund, { id: refundId }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  return { payment, refund };
}

/** REFUNDED, with its event and the answer that a key is owed. The caller's transaction holds both rows. */
export async function accept(em: SqlEntityManager, { schedule }: Context, { payment, refund }: Both, now: Date): Promise<void> {
  payment.refund(refund.amountMinor, now);
  payment.planReread(schedule, now);
  refund.accepted(now);
  announce(em, payment, "PAYMENT_REFUNDED", now, refund.traceparent);
  const owed = await keyOf(em, refund);
  owed?.storeAnswer(PaymentSchema, toPaymentMessage(payment));
}

/** PAID as before. The caller's transaction holds both rows. */
export async function reject(
  em: SqlEntityManager,
  { schedule }: Context,
  { payment, refund }: Both,
  errorCode: string | undefined,
  now: Date,
): Promise<void> {
  payment.refundRefused(errorCode, now);
  payment.planReread(schedule, now);
  refund.rejected(errorCode, now);
  const owed = await keyOf(em, refund);
  owed?.storeRefusal(refusalOf(refund));
}

const keyOf = async (em: SqlEntityManager, { idempotencyId }: Refund) =>
  idempotencyId ? await em.findOne(IdempotencyRecord, { id: idempotencyId }) : null;

/** Changes both rows in one transaction, unless somebody has ended the refund meanwhile, and answers how far it got. */
async function change(
  context: Context,
  refundId: string,
  work: (em: SqlEntityManager, both: Both, now: Date) => Promise<void> | void,
): Promise<RefundProgress> {
  return await transaction(context.orm, async (em) => {
    const both = await lockBoth(em, refundId);
    if (!both) return { kind: "unknown" };
    if (both.refund.isActive()) await work(em, both, await databaseTime(em));
    return progressOf(both);
  });
}

export async function recordAccepted(context: Context, refundId: string, state?: OrderState): Promise<RefundProgress> {
  const progress = await change(context, refundId, async (em, both, now) => {
    if (state) both.refund.noteReading(state, now);
    await accept(em, context, both, now);
  });
  if (progress.kind === "accepted") context.logger.info({ payment_id: progress.payment.id, refund_id: refundId }, "refunded");
  return progress;
}

/** Not of a refund that somebody has sent again meanwhile: the refusal says nothing of that request. */
export const recordRejected = (context: Context, refundId: string, errorCode: string): Promise<RefundProgress> =>
  change(context, refundId, async (em, both, now) => {
    if (both.refund.sends === 1) await reject(em, context, both, errorCode, now);
  });

/**
 * Nothing was sent and nothing will be: the payment becomes what it is at the processor. A key is free again, because a
 * conflict is never a stored answer.
 */
export async function recordChangedElsewhere(
  context: Context,
  refundId: string,
  state: OrderState,
  found: ElsewhereChange,
): Promise<RefundProgress> {
  const progress = await change(context, refundId, async (em, { payment, refund }, now) => {
    if (refund.sends > 0 || payment.status !== "PAID") return;
    refund.noteReading(state, now);
    refund.notSent(now);
    takeOver(em, context, payment, state, found, now, refund.traceparent);
    const owed = await keyOf(em, refund);
    if (owed) em.remove(owed);
  });
  const wide = { payment_id: progress.kind === "not_sent" ? progress.payment.id : undefined, refund_id: refundId };
  if (wide.payment_id)
    context.logger.warn({ ...wide, change: found.kind }, "nothing was sent: the payment changed at the processor");
  return progress;
}

/** `reason`: a person has to decide. Otherwise only when all the time for asking is over. */
export const recordUnknown = (
  context: Context,
  refundId: string,
  state: OrderState | undefined,
  reason?: DecisionReason,
): Promise<RefundProgress> =>
  change(context, refundId, (_em, { payment, refund }, now) => {
    const waitedBefore = refund.needsDecisionSince != null;
    if (state) refund.noteReading(state, now);
    if (reason) refund.needsDecision(reason, now);
    refund.unknown(context.schedule.refundCheckSeconds, now);
    if (waitedBefore || !refund.needsDecisionSince) return;
    const wide = { payment_id: payment.id, refund_id: refund.id, refunded_minor: String(refund.processorRefundedMinor ?? "") };
    context.logger.error({ ...wide, alert: true, reason: refund.decisionReason }, "a refund waits for an operator's decision");
  });
