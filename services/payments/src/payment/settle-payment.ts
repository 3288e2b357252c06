import { databaseTime, lockRow, transaction } from "@amana/database";
import { faultPoint } from "@amana/runtime";
import { type KnownOrder, type OrderState, type Outcome, unknownOrderCode } from "../card-processor/card-processor.ts";
import { type NotedCall, noting, recordCalls } from "../card-processor/processor-call.ts";
import type { Context } from "../context.ts";
import { paymentNotFound } from "./payment.errors.ts";
import { announce } from "./payment.events.ts";
import { orderStatuses, Payment } from "./payment.ts";
import { registerOrder } from "./register-order.ts";

/**
 * Asks the processor what became of a payment and records it, with its event. The caller holds the
 * payment's lease. `confirmFirst`: the card holder just came back. Otherwise a read comes first,
 * and only an order that somebody paid, or tried to, is confirmed.
 */
export async function settlePayment(
  context: Context,
  paymentId: string,
  options: { confirmFirst: boolean; remainingMs: () => number },
): Promise<void> {
  const em = context.orm.em.fork();
  const payment = await em.findOneOrFail(Payment, { id: paymentId });
  if (!payment.isOpen()) return;
  if (payment.awaitsRegistration()) {
    await registerOrder(context, paymentId, { mayBeThere: true, remainingMs: options.remainingMs });
    return;
  }
  if (!payment.processorOrderId) return;
  const { businessId, processorOrderId: orderId, language, status } = payment;
  const calls: NotedCall[] = [];
  const asking = { ...context, processor: noting(context.processor, calls) };
  const askedAt = await databaseTime(em);
  const confirmed = status === "EXPIRED" ? confirmedAfterExpiry : confirmedInTime;
  const outcome = await ask(asking, { businessId, orderId, language }, { ...options, confirmed });
  faultPoint("payment.confirmed");
  await record(context, payment, outcome, calls, askedAt);
}

/** Order states that require a confirm after the read: only a confirm has the issuer's response. */
const confirmedInTime: readonly (number | undefined)[] = [orderStatuses.deposited, orderStatuses.declined];
/** Order states that require a confirm of an EXPIRED payment: money is taken or reserved. */
const confirmedAfterExpiry: readonly (number | undefined)[] = [orderStatuses.held, orderStatuses.deposited];

/**
 * Only a confirm tells the issuer's answer, and only a read how much was given back. A paid order
 * whose confirm brought nothing is kept as one: it is the most urgent to confirm.
 */
async function ask(
  { processor, logger }: Context,
  order: KnownOrder & { readonly language: string },
  options: { confirmFirst: boolean; confirmed: readonly (number | undefined)[]; remainingMs: () => number },
): Promise<Outcome<OrderState>> {
  const { confirmFirst, remainingMs } = options;
  const confirm = () => processor.confirm(order, remainingMs());
  const read = () => processor.status({ businessId: order.businessId, orderId: order.orderId }, remainingMs());
  if (confirmFirst) {
    const confirmed = await confirm();
    return statusOf(confirmed) === orderStatuses.refunded ? await read() : confirmed;
  }
  const state = await read();
  if (!options.confirmed.includes(statusOf(state))) return state;
  const confirmed = await confirm();
  // A confirm without an order status must not replace a read that shows a paid order.
  if (statusOf(confirmed) !== undefined) return confirmed;
  logger.warn({ order_id: order.orderId, outcome: confirmed }, "an order could not be confirmed");
  return state;
}

const statusOf = (outcome: Outcome<OrderState>) => (outcome.kind === "accepted" ? outcome.value.orderStatus : undefined);

async function record(
  context: Context,
  { businessId, id }: Payment,
  outcome: Outcome<OrderState>,
  calls: readonly NotedCall[],
  askedAt: Date,
): Promise<void> {
  const { logger, schedule } = context;
  await transaction(context.orm, async (em) => {
    const payment = await lockRow(em, Payment, businessId, id, paymentNotFound);
    const now = await databaseTime(em);
    // They were made, also where somebody else has ended the payment meanwhile.
    recordCalls(em, { businessId, paymentId: id }, calls, now);
    if (!payment.isOpen()) return;
    payment.checkedAt = now;
    const settlement =
      outcome.kind === "accepted"
        ? payment.settle(outcome.value, now, (change) => announce(em, payment, change, now))
        : "unchanged";

    const logged = { payment_id: id, order_number: payment.processorOrderNumber, settlement, status: payment.status };
    if (settlement === "mismatch") logger.error({ ...logged, alert: true }, "the processor's order is not this payment");
    else if (outcome.kind === "accepted" && Payment.isUnknownOrderStatus(outcome.value.orderStatus)) {
      logger.error({ ...logged, alert: true, order_status: outcome.value.orderStatus }, "unknown order status");
    } else if (outcome.kind === "accepted") logger.info(logged, "payment checked");
    else {
      const error_code = outcome.kind === "refused" ? outcome.errorCode : undefined;
      const reason = outcome.kind === "refused" ? outcome.message : outcome.reason;
      logger.warn({ ...logged, outcome: outcome.kind, error_code, reason }, "the processor told nothing of a payment");
    }

    if (payment.status === "PENDING") {
      const surelyUnpaid = settlement === "unchanged" && saysUnpaid(outcome);
      const { paymentCheckSeconds, paymentWindowSeconds } = schedule;
      const next = payment.waitOrExpire(surelyUnpaid, paymentCheckSeconds, paymentWindowSeconds, now, askedAt);
      if (next === "expired") announce(em, payment, "PAYMENT_EXPIRED", now);
    } else if (payment.status === "EXPIRED" && outcome.kind === "accepted") {
      const comparison = payment.compareExpired(outcome.value);
      const isNew = payment.noteReading(outcome.value, comparison, now);
      if (comparison.kind === "unexplained") {
        logger.error({ ...logged, alert: isNew, reason: comparison.reason }, "expired payment is paid and not confirmed");
      }
    }
    const isTold = outcome.kind === "accepted" || saysUnpaid(outcome);
    payment.planReread(schedule, now, isTold ? "agrees" : "untold");
  });
}

/** Whether the processor says that nobody has begun to pay, or that there is no such order. */
function saysUnpaid(outcome: Outcome<OrderState>): boolean {
  if (outcome.kind === "refused") return outcome.errorCode === unknownOrderCode;
  if (outcome.kind === "unknown") return false;
  const { errorCode, orderStatus } = outcome.value;
  return errorCode === "0" && (orderStatus === undefined || orderStatus === orderStatuses.registered);
}
