import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import { changeRows, lockRow } from "@amana/database";
import { attachKey, type IdempotencyRecord, lockKey } from "@amana/idempotency";
import type { Lease } from "@amana/jobs";
import type { DomainError } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { OrderState } from "../card-processor/card-processor.ts";
import { type FinishedCall, recordCalls } from "../card-processor/processor-call.ts";
import type { Context } from "../context.ts";
import { refundSteps } from "../metrics.ts";
import {
  paymentNotFound,
  refundNotFound,
  refundRefusedByProcessor,
  refundRejectedByOperator,
} from "../payment/payment.errors.ts";
import { emitPaymentEvent } from "../payment/payment.events.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { Payment } from "../payment/payment.ts";
import { adoptExternalChange } from "../payment/reread-payment.ts";
import type { RefundStep } from "./next-step.ts";
import { Refund } from "./refund.ts";

/**
 * Progress of a refund after a step. "unknown": no other refund of the payment is accepted until a
 * later read or an operator's decision ends this refund.
 */
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
  /** Record of the Idempotency-Key for which a response is stored when the refund ends. */
  readonly key: IdempotencyRecord | undefined;
}

export function progressOf({ payment, refund }: PaymentAndRefund): RefundProgress {
  if (refund.status === "ACCEPTED") return { kind: "accepted", payment };
  if (refund.status === "REJECTED") return { kind: "rejected", refusal: refusalOf(refund) };
  if (refund.status === "NOT_SENT") return { kind: "not_sent", payment };
  return { kind: "unknown" };
}

/** Returns the error for a refund that the processor refused or an operator rejected. */
const refusalOf = ({ processorErrorCode, resolution }: Refund) =>
  resolution === "REJECTED" ? refundRejectedByOperator() : refundRefusedByProcessor(processorErrorCode ?? "");

/**
 * Locks the Idempotency-Key, then the refund, then the payment. The ORM updates the rows in the
 * same order. The use of this order in all transactions prevents deadlocks.
 */
export async function lockRefund(em: SqlEntityManager, refundId: string): Promise<Locked> {
  const refund = isUuid(refundId) ? await em.findOne(Refund, { id: refundId }) : null;
  if (!refund) throw refundNotFound();
  const { businessId, paymentId, idempotencyId } = refund;
  const key = await lockKey(em, idempotencyId);
  const locked = await lockRow(em, Refund, businessId, refundId, refundNotFound);
  return { payment: await lockRow(em, Payment, businessId, paymentId, paymentNotFound), refund: locked, key };
}

interface StepContext {
  readonly calls: readonly FinishedCall[];
  readonly lease: Pick<Lease, "release">;
  /** Record of the refund's Idempotency-Key. If undefined, the record is read by its id. */
  readonly key: IdempotencyRecord | undefined;
  /** Order state from which the step was decided. */
  readonly state?: OrderState;
}

/**
 * Records a step and releases the lease in one transaction. Ignores a step that a newer change of
 * the refund or payment has made invalid. Returns the refund's progress.
 */
export async function recordRefundStep(
  context: Context,
  rows: PaymentAndRefund,
  step: RefundStep,
  { calls, lease, key, state }: StepContext,
): Promise<RefundProgress> {
  const { present, isApplied, startsDecision } = await changeRows(context.orm, { ...rows }, async (em, present) => {
    const { refund } = present;
    const neededDecision = refund.needsDecisionSince != null;
    const isApplied = refund.isActive() && !isOutdated(present, step);
    const now = await recordCalls(em, { businessId: refund.businessId, paymentId: refund.paymentId, refundId: refund.id }, calls);
    if (isApplied && state) refund.recordReading(state, now);
    if (isApplied) {
      // The step "adopt" deletes the key, so `attachKey` reads and locks the key here. The ORM
      // deletes rows after its updates. Without this lock, the key would be locked after the
      // refund.
      const record = await attachKey(em, step.kind === "adopt" ? undefined : key, refund.idempotencyId);
      applyRefundStep(em, context, { ...present, key: record }, step, now);
    }
    lease.release(em, refund);
    return { present, isApplied, startsDecision: refund.needsDecisionSince != null && !neededDecision };
  });
  if (isApplied) refundSteps.inc({ step: metricSteps[step.kind] });
  if (isApplied) logStep(context, present, step, startsDecision);
  return progressOf(present);
}

/**
 * Returns whether a newer change makes the step invalid. A refusal can reject only a refund whose
 * request was sent once. An external change is adopted only if nothing was sent and the payment is
 * PAID.
 */
const isOutdated = ({ payment, refund }: PaymentAndRefund, { kind }: RefundStep): boolean =>
  (kind === "reject" && refund.sends !== 1) || (kind === "adopt" && (refund.sends > 0 || payment.status !== "PAID"));

/** Applies a step to both rows, the outbox and the Idempotency-Key. */
export function applyRefundStep(em: SqlEntityManager, context: Context, locked: Locked, step: RefundStep, now: Date): void {
  const { schedule } = context;
  const { payment, refund, key } = locked;
  switch (step.kind) {
    case "accept":
      payment.refund(refund.amountMinor, now);
      payment.planReread(schedule, now);
      refund.end("ACCEPTED", now);
      emitPaymentEvent(em, context, payment, "PAYMENT_REFUNDED", now, refund.traceparent);
      key?.storeResponse(PaymentSchema, toPaymentMessage(payment, context));
      break;
    case "reject":
      payment.recordRejectedRefund(step.errorCode, now);
      payment.planReread(schedule, now);
      refund.end("REJECTED", now, step.errorCode);
      key?.storeRefusal(refusalOf(refund));
      break;
    case "adopt":
      refund.end("NOT_SENT", now);
      adoptExternalChange(em, context, payment, step.state, step.change, now, refund.traceparent);
      // The caller gets a conflict error. Conflicts are never stored, so the key can be used again.
      if (key) em.remove(key);
      break;
    case "wait":
      if (step.isUnexplained) refund.requireDecision("UNEXPLAINED", now);
      refund.markUnknown(schedule.refundCheckSeconds, now);
  }
}

/**
 * Log messages for the steps. "refund refused" is a refusal by the processor. A rejection by an
 * operator is recorded in the audit trail and not logged here.
 */
const logMessages = {
  accept: "refund accepted",
  reject: "refund refused",
  adopt: "refund not sent, external change at the processor adopted",
  wait: "refund outcome unknown",
} as const satisfies Record<RefundStep["kind"], string>;

/**
 * Label values of the metric `amana_refund_steps_total`. They differ from the kinds of steps,
 * because published values must not change.
 */
const metricSteps = { accept: "accept", reject: "reject", adopt: "take_over", wait: "wait" } as const;

function logStep({ logger }: Context, { payment, refund }: PaymentAndRefund, step: RefundStep, startsDecision: boolean): void {
  const logFields = {
    payment_id: payment.id,
    refund_id: refund.id,
    order_number: payment.processorOrderNumber,
    sends: refund.sends,
    status: refund.status,
    refunded_minor: String(refund.processorRefundedMinor ?? ""),
  };
  const reason = step.kind === "accept" || step.kind === "adopt" ? {} : { reason: step.reason };
  logger[step.kind === "accept" ? "info" : "warn"]({ ...logFields, ...reason }, logMessages[step.kind]);
  if (startsDecision) {
    logger.error({ ...logFields, alert: true, reason: refund.decisionReason }, "refund needs an operator's decision");
  }
}
