import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import { databaseTime, lockRow, transaction } from "@amana/database";
import { type IdempotencyRecord, lockKey } from "@amana/idempotency";
import type { DomainError } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { OrderState } from "../card-processor/card-processor.ts";
import { type NotedCall, recordCalls } from "../card-processor/processor-call.ts";
import type { Context } from "../context.ts";
import { refundEndings } from "../metrics.ts";
import { paymentNotFound, refundNotFound, refundRefused, refundRejected } from "../payment/payment.errors.ts";
import { announce } from "../payment/payment.events.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { Payment } from "../payment/payment.ts";
import { applyOrderState } from "../payment/reread-payment.ts";
import type { RefundOutcome } from "./next-step.ts";
import { Refund } from "./refund.ts";

/** How far a refund got. "unknown": the payment stays locked; it is asked again, or decided. */
export type RefundProgress =
  | { kind: "accepted"; payment: Payment }
  | { kind: "rejected"; refusal: DomainError }
  | { kind: "not_sent"; payment: Payment }
  | { kind: "unknown" };

export interface PaymentAndRefund {
  readonly payment: Payment;
  readonly refund: Refund;
}

interface Locked extends PaymentAndRefund {
  /** The Idempotency-Key that is owed an answer. */
  readonly key: IdempotencyRecord | undefined;
}

export function progressOf({ payment, refund }: PaymentAndRefund): RefundProgress {
  if (refund.status === "ACCEPTED") return { kind: "accepted", payment };
  if (refund.status === "REJECTED") return { kind: "rejected", refusal: refusalOf(refund) };
  if (refund.status === "NOT_SENT") return { kind: "not_sent", payment };
  return { kind: "unknown" };
}

const refusalOf = ({ processorErrorCode, resolution }: Refund) =>
  resolution === "REJECTED" ? refundRejected() : refundRefused(processorErrorCode ?? "");

/** The key's row is locked first, the payment's second, the refund's last, everywhere. */
export async function lockRefund(em: SqlEntityManager, refundId: string): Promise<Locked> {
  const found = isUuid(refundId) ? await em.findOne(Refund, { id: refundId }) : null;
  if (!found) throw refundNotFound();
  const { businessId, paymentId, idempotencyId } = found;
  const key = await lockKey(em, idempotencyId);
  const payment = await lockRow(em, Payment, businessId, paymentId, paymentNotFound);
  return { payment, refund: await lockRow(em, Refund, businessId, refundId, refundNotFound), key };
}

/** Records in one transaction what was found out, unless overtaken; answers how far it got. */
export async function recordRefundOutcome(
  context: Context,
  refundId: string,
  ending: RefundOutcome,
  calls: readonly NotedCall[],
  state?: OrderState,
): Promise<RefundProgress> {
  const { locked, counts, isNewlyWaiting } = await transaction(context.orm, async (em) => {
    const locked = await lockRefund(em, refundId);
    const { refund } = locked;
    const waitedBefore = refund.needsDecisionSince != null;
    const counts = refund.isActive() && !isOvertaken(locked, ending);
    const now = await databaseTime(em);
    recordCalls(em, { businessId: refund.businessId, paymentId: refund.paymentId, refundId }, calls, now);
    if (counts && state) refund.noteReading(state, now);
    if (counts) endRefund(em, context, locked, ending, now);
    return { locked, counts, isNewlyWaiting: refund.needsDecisionSince != null && !waitedBefore };
  });
  if (counts) refundEndings.inc({ step: ending.kind });
  if (counts) log(context, locked, ending, isNewlyWaiting);
  return progressOf(locked);
}

/** A refusal says nothing of a later request; what was sent or settled is not taken over. */
const isOvertaken = ({ payment, refund }: PaymentAndRefund, { kind }: RefundOutcome): boolean =>
  (kind === "reject" && refund.sends !== 1) || (kind === "take_over" && (refund.sends > 0 || payment.status !== "PAID"));

/** What an ending or a decision changes: both rows, the event, and the answer a key is owed. */
export function endRefund(em: SqlEntityManager, context: Context, locked: Locked, ending: RefundOutcome, now: Date): void {
  const { schedule } = context;
  const { payment, refund, key } = locked;
  switch (ending.kind) {
    case "accept":
      payment.refund(refund.amountMinor, now);
      payment.planReread(schedule, now);
      refund.end("ACCEPTED", now);
      announce(em, payment, "PAYMENT_REFUNDED", now, refund.traceparent);
      key?.storeAnswer(PaymentSchema, toPaymentMessage(payment));
      break;
    case "reject":
      payment.refundRefused(ending.errorCode, now);
      payment.planReread(schedule, now);
      refund.end("REJECTED", now, ending.errorCode);
      key?.storeRefusal(refusalOf(refund));
      break;
    case "take_over":
      refund.end("NOT_SENT", now);
      applyOrderState(em, context, payment, ending.state, ending.change, now, refund.traceparent);
      // The key is free again, because a conflict is never a stored answer.
      if (key) em.remove(key);
      break;
    case "wait":
      if (ending.isUnexplained) refund.needsDecision("UNEXPLAINED", now);
      refund.unknown(schedule.refundCheckSeconds, now);
  }
}

const wording = {
  accept: "refunded",
  reject: "refund refused",
  take_over: "nothing was sent: the payment changed at the processor",
  wait: "refund outcome unknown",
} as const satisfies Record<RefundOutcome["kind"], string>;

function log({ logger }: Context, { payment, refund }: PaymentAndRefund, ending: RefundOutcome, isNewlyWaiting: boolean): void {
  const about = {
    payment_id: payment.id,
    refund_id: refund.id,
    order_number: payment.processorOrderNumber,
    sends: refund.sends,
    status: refund.status,
    refunded_minor: String(refund.processorRefundedMinor ?? ""),
  };
  const why = ending.kind === "accept" || ending.kind === "take_over" ? {} : { reason: ending.reason };
  logger[ending.kind === "accept" ? "info" : "warn"]({ ...about, ...why }, wording[ending.kind]);
  if (isNewlyWaiting) {
    logger.error({ ...about, alert: true, reason: refund.decisionReason }, "a refund waits for an operator's decision");
  }
}
