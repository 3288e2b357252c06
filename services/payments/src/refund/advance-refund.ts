import { columnsOf } from "@amana/database";
import type { IdempotencyRecord } from "@amana/idempotency";
import { type Lease, renewLeaseSql } from "@amana/jobs";
import { faultPoint } from "@amana/runtime";
import type { OrderState } from "../card-processor/card-processor.ts";
import { collectCalls, type FinishedCall } from "../card-processor/processor-call.ts";
import type { Context } from "../context.ts";
import { canReject, decideAfterSending, decideBeforeSending } from "./next-step.ts";
import { type PaymentAndRefund, progressOf, type RefundProgress, recordRefundStep } from "./record-refund.ts";
import { Refund } from "./refund.ts";
import { type RefundHold, readRefundHold, refundsHeldSql } from "./refund-hold.ts";

/**
 * Maximum time between the start of the statement that stores SENT and the refund request. A
 * process that was frozen for a longer time does not send the request, because another process may
 * have advanced the refund.
 */
const sendWithinMs = 5_000;

interface AdvanceOptions {
  readonly remainingMs: () => number;
  /** Record of the refund's Idempotency-Key. If undefined, the record is read by its id. */
  readonly key?: IdempotencyRecord;
  /**
   * Refund hold that the caller read just before the call. If undefined, `advanceRefund` reads the
   * hold.
   */
  readonly hold?: RefundHold;
}

/**
 * Advances a stored refund: at once after the business requested it, and later after a crash or an
 * unknown outcome. Always reads the order at the processor first. `next-step.ts` decides the next
 * step. The caller must hold the refund's lease. The transaction that records the step releases the
 * lease.
 */
export async function advanceRefund(
  context: Context,
  rows: PaymentAndRefund,
  lease: Lease,
  { remainingMs, key, hold }: AdvanceOptions,
): Promise<RefundProgress> {
  const calls: FinishedCall[] = [];
  const processor = collectCalls(context.processor, calls);
  const { payment, refund } = rows;
  // A previous holder of the lease may have ended the refund.
  if (!refund.isActive()) return progressOf(rows);
  const order = { businessId: payment.businessId, orderId: payment.processorOrderId ?? "" };
  const readOrder = async (): Promise<OrderState | undefined> => {
    const outcome = await processor.status(order, remainingMs());
    return outcome.kind === "accepted" ? outcome.value : undefined;
  };

  const { now: readAt, heldUntil } = hold ?? (await readRefundHold(context.orm.em.fork(), context.schedule));
  const state = await readOrder();
  const step = decideBeforeSending(refund, payment, state, { readAt, isHeld: heldUntil !== undefined });
  if (step.kind !== "send") return await recordRefundStep(context, rows, step, { calls, lease, key, state });

  let sentRefund = refund;
  const commit = async () => {
    const startMs = performance.now();
    const committed = await commitSent(context, rows, lease, state?.refundedMinor ?? 0n);
    faultPoint("refund.sending");
    if (committed) sentRefund = committed;
    return committed !== undefined && performance.now() - startMs < sendWithinMs;
  };
  const outcome = await processor.refund({ ...order, amountMinor: refund.amountMinor }, remainingMs(), commit);
  faultPoint("refund.answered");
  const stateAfter = canReject(refund, outcome) ? await readOrder() : undefined;
  const finalStep = decideAfterSending(refund, payment, outcome, stateAfter);
  const progress = await recordRefundStep(context, { payment, refund: sentRefund }, finalStep, { calls, lease, key });
  if (progress.kind === "accepted") faultPoint("refund.committed");
  return progress;
}

/**
 * Commits the status SENT and returns the changed refund. Returns undefined if the refund request
 * must not be sent, because the lease was lost, the refund has changed, or refunds are held. One
 * statement checks these conditions and stores the time of the request by the database's clock.
 */
async function commitSent(
  { orm, schedule }: Context,
  { payment, refund }: PaymentAndRefund,
  { token }: Lease,
  refundedBeforeMinor: bigint,
): Promise<Refund | undefined> {
  const em = orm.em.fork();
  const [row] = await em.execute<object[]>(
    `update refund set status = 'SENT', sends = sends + 1, version = version + 1, refunded_before_minor = ?,
       last_sent_at = clock_timestamp(), updated_at = clock_timestamp(),
       resend_after = clock_timestamp() + ?::float8 * interval '1 second', ${renewLeaseSql}
     where business_id = ? and id = ? and version = ?::int and lease_token = ? and not ${refundsHeldSql}
     returning ${columnsOf(em, Refund)}`,
    [
      refundedBeforeMinor,
      refund.resendPauseSeconds(refundedBeforeMinor, payment.amountMinor, schedule.refundResendAfterSeconds)?.toString() ?? null,
      refund.businessId,
      refund.id,
      String(refund.version),
      token,
    ],
  );
  return row ? em.map(Refund, row) : undefined;
}
