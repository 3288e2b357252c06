import { changeRows } from "@amana/database";
import type { Lease } from "@amana/jobs";
import { faultPoint } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { type KnownOrder, type OrderState, type Outcome, unknownOrderCode } from "../card-processor/card-processor.ts";
import { collectCalls, type FinishedCall, recordCalls } from "../card-processor/processor-call.ts";
import type { Context } from "../context.ts";
import { countPaidPayment } from "../payment-link/count-paid-payment.ts";
import { emitPaymentEvent } from "./payment.events.ts";
import { orderStatuses, Payment } from "./payment.ts";
import { registerOrder } from "./register-order.ts";

/**
 * Reads or confirms the order of an open payment at the processor and records the result with its
 * event. Returns the payment. The caller must hold the payment's lease. The transaction that
 * records the result releases the lease. `requestedAt` must be a time before the request, by the
 * database's clock. Set `confirmFirst` when the card holder has just returned. Without
 * `confirmFirst`, the order is read first, and confirmed only if its status requires a confirm.
 */
export async function settlePayment(
  context: Context,
  payment: Payment,
  lease: Pick<Lease, "token" | "release">,
  options: { confirmFirst: boolean; remainingMs: () => number; requestedAt: Date },
): Promise<Payment> {
  if (!payment.isOpen()) return payment;
  if (payment.awaitsRegistration()) {
    const registered = await registerOrder(context, payment, lease, { mayExist: true, remainingMs: options.remainingMs });
    if (registered instanceof Payment) return registered;
    return await context.orm.em.fork().findOneOrFail(Payment, { id: payment.id });
  }
  if (!payment.processorOrderId) return payment;
  const { businessId, processorOrderId: orderId, language, status } = payment;
  const calls: FinishedCall[] = [];
  const collectingContext = { ...context, processor: collectCalls(context.processor, calls) };
  const statusesToConfirm = status === "EXPIRED" ? expiredStatusesToConfirm : pendingStatusesToConfirm;
  const outcome = await readOrder(collectingContext, { businessId, orderId, language }, { ...options, statusesToConfirm });
  faultPoint("payment.confirmed");
  return await changeRows(context.orm, { payment }, async (em, { payment: present }) => {
    // Records the calls even if another process has settled or expired the payment meanwhile.
    const now = await recordCalls(em, { businessId, paymentId: present.id }, calls);
    lease.release(em, present);
    const wasOpen = present.isOpen();
    if (wasOpen) applyOutcome(em, context, present, outcome, { requestedAt: options.requestedAt, now });
    if (wasOpen && present.isSettled()) await countPaidPayment(em, context, present, now);
    return present;
  });
}

/** Order statuses at which a PENDING payment is confirmed, to get the issuer's response. */
const pendingStatusesToConfirm: readonly (number | undefined)[] = [orderStatuses.deposited, orderStatuses.declined];
/** Order statuses at which an EXPIRED payment is confirmed, because money is taken or reserved. */
const expiredStatusesToConfirm: readonly (number | undefined)[] = [orderStatuses.held, orderStatuses.deposited];

/**
 * Returns the order's state. Only a confirm returns the issuer's response, and only a read returns
 * the refunded sum. If the confirm after a read fails, returns the result of the read, so that the
 * caller stores the order status. The reconciler processes paid orders first, so it soon retries
 * the confirm.
 */
async function readOrder(
  { processor, logger }: Context,
  order: KnownOrder & { readonly language: string },
  options: { confirmFirst: boolean; statusesToConfirm: readonly (number | undefined)[]; remainingMs: () => number },
): Promise<Outcome<OrderState>> {
  const { confirmFirst, remainingMs } = options;
  const confirm = () => processor.confirm(order, remainingMs());
  const read = () => processor.status({ businessId: order.businessId, orderId: order.orderId }, remainingMs());
  if (confirmFirst) {
    const confirmOutcome = await confirm();
    return statusOf(confirmOutcome) === orderStatuses.refunded ? await read() : confirmOutcome;
  }
  const readOutcome = await read();
  if (!options.statusesToConfirm.includes(statusOf(readOutcome))) return readOutcome;
  const confirmOutcome = await confirm();
  // If the confirm returned no order status, its outcome must not replace the read's outcome, which
  // may show a paid order.
  if (statusOf(confirmOutcome) !== undefined) return confirmOutcome;
  logger.warn({ order_id: order.orderId, outcome: confirmOutcome }, "order not confirmed at the processor");
  return readOutcome;
}

const statusOf = (outcome: Outcome<OrderState>) => (outcome.kind === "accepted" ? outcome.value.orderStatus : undefined);

/** Applies the processor's outcome to an open payment and plans its next read. */
function applyOutcome(
  em: SqlEntityManager,
  context: Context,
  payment: Payment,
  outcome: Outcome<OrderState>,
  { requestedAt, now }: { requestedAt: Date; now: Date },
): void {
  const { logger, schedule } = context;
  payment.checkedAt = now;
  const settlement =
    outcome.kind === "accepted"
      ? payment.settle(outcome.value, now, (change) => emitPaymentEvent(em, context, payment, change, now))
      : "unchanged";

  const logFields = { payment_id: payment.id, order_number: payment.processorOrderNumber, settlement, status: payment.status };
  if (settlement === "mismatch") logger.error({ ...logFields, alert: true }, "the processor's order does not match the payment");
  else if (outcome.kind === "accepted" && Payment.isUnknownOrderStatus(outcome.value.orderStatus)) {
    logger.error(
      { ...logFields, alert: true, order_status: outcome.value.orderStatus },
      "processor returned an unknown order status",
    );
  } else if (outcome.kind === "accepted") logger.info(logFields, "payment checked");
  else {
    const error_code = outcome.kind === "refused" ? outcome.errorCode : undefined;
    const reason = outcome.kind === "refused" ? outcome.message : outcome.reason;
    logger.warn(
      { ...logFields, outcome: outcome.kind, error_code, reason },
      "payment not settled, processor returned no usable result",
    );
  }

  if (payment.status === "PENDING") {
    const isUnpaid = settlement === "unchanged" && isReportedUnpaid(outcome);
    const { paymentCheckSeconds, paymentWindowSeconds } = schedule;
    const waitResult = payment.waitOrExpire(isUnpaid, paymentCheckSeconds, paymentWindowSeconds, now, requestedAt);
    if (waitResult === "expired") emitPaymentEvent(em, context, payment, "PAYMENT_EXPIRED", now);
  } else if (payment.status === "EXPIRED" && outcome.kind === "accepted") {
    const comparison = payment.compareExpired(outcome.value);
    const isNew = payment.recordReading(outcome.value, comparison, now);
    if (comparison.kind === "unexplained") {
      logger.error(
        { ...logFields, alert: isNew, reason: comparison.reason },
        "processor holds money of an expired payment, order not confirmed",
      );
    }
  }
  const isReported = outcome.kind === "accepted" || isReportedUnpaid(outcome);
  payment.planReread(schedule, now, isReported ? "agrees" : "unreported");
}

/**
 * Returns whether the processor reported that the card holder has not paid, or that the order does
 * not exist.
 */
function isReportedUnpaid(outcome: Outcome<OrderState>): boolean {
  if (outcome.kind === "refused") return outcome.errorCode === unknownOrderCode;
  if (outcome.kind === "unknown") return false;
  const { errorCode, orderStatus } = outcome.value;
  return errorCode === "0" && (orderStatus === undefined || orderStatus === orderStatuses.registered);
}
