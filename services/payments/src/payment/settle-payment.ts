import { transaction } from "@amana/database";
import { faultPoint } from "@amana/runtime";
import { LockMode } from "@mikro-orm/postgresql";
import { type OrderState, type Outcome, unknownOrderCode } from "../card-processor/card-processor.ts";
import type { Context } from "../context.ts";
import { announce } from "./payment.events.ts";
import { Payment } from "./payment.ts";
import { registerOrder } from "./register-order.ts";

/** The order states in which nobody has begun to pay. */
const unpaid = new Set<number | undefined>([undefined, 0]);
const deposited = 2;

/**
 * Asks the processor what became of a payment and records it, with its event. The caller holds the payment's lease.
 * `confirmFirst`: the card holder just came back, so the order is confirmed straight away; otherwise a read comes
 * first and only a paid order is confirmed.
 */
export async function settlePayment(
  context: Context,
  payment: Payment,
  options: { confirmFirst: boolean; remainingMs: () => number },
): Promise<void> {
  if (!payment.isOpen()) return;
  if (!payment.processorOrderId) {
    await registerOrder(context, payment, options.remainingMs);
    return;
  }
  const outcome = await ask(context, payment.processorOrderId, payment.language, options);
  faultPoint("payment.confirmed");
  await record(context, payment.id, outcome);
}

async function ask(
  { processor }: Context,
  orderId: string,
  language: string,
  { confirmFirst, remainingMs }: { confirmFirst: boolean; remainingMs: () => number },
): Promise<Outcome<OrderState>> {
  if (!confirmFirst) {
    const read = await processor.status({ orderId }, remainingMs());
    if (read.kind !== "accepted" || read.value.orderStatus !== deposited) return read;
  }
  return await processor.confirm(orderId, language, remainingMs());
}

async function record(context: Context, id: string, outcome: Outcome<OrderState>): Promise<void> {
  const { logger, schedule } = context;
  await transaction(context.orm, async (em) => {
    const payment = await em.findOneOrFail(Payment, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!payment.isOpen()) return;
    const now = context.clock.now();
    payment.checkedAt = now;
    const settlement = outcome.kind === "accepted" ? payment.settle(outcome.value, now) : "unchanged";
    if (settlement === "paid") announce(em, payment, "completed", now);
    else if (settlement === "refunded") {
      announce(em, payment, "completed", now);
      announce(em, payment, "refunded", now);
    } else if (settlement !== "unchanged" && settlement !== "mismatch") announce(em, payment, settlement, now);

    const wide = { payment_id: id, order_number: payment.processorOrderNumber, settlement, status: payment.status };
    if (settlement === "mismatch") logger.error({ ...wide, alert: true }, "the processor's order is not this payment");
    else if (outcome.kind === "accepted" && Payment.isUnknownOrderStatus(outcome.value.orderStatus)) {
      logger.error({ ...wide, alert: true, order_status: outcome.value.orderStatus }, "unknown order status");
    } else logger.info({ ...wide, outcome: outcome.kind }, "payment checked");

    if (payment.status !== "PENDING") return;
    const surelyUnpaid =
      outcome.kind === "accepted"
        ? settlement === "unchanged" && unpaid.has(outcome.value.orderStatus)
        : outcome.kind === "refused" && outcome.errorCode === unknownOrderCode;
    const next = payment.waitOrExpire(surelyUnpaid, schedule.paymentCheckSeconds, schedule.paymentWindowSeconds, now);
    if (next === "expired") announce(em, payment, "expired", now);
  });
}
