import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import { transaction } from "@amana/database";
import { IdempotencyRecord } from "@amana/idempotency";
import type { DomainError } from "@amana/rpc";
import { faultPoint } from "@amana/runtime";
import { LockMode, type SqlEntityManager } from "@mikro-orm/postgresql";
import { type Outcome, orderNumberUsedCode, type RegisteredOrder, unknownOrderCode } from "../card-processor/card-processor.ts";
import type { Context } from "../context.ts";
import { processorError, processorOutcomeUnknown } from "./payment.errors.ts";
import { announce } from "./payment.events.ts";
import { toPaymentMessage } from "./payment.message.ts";
import { Payment } from "./payment.ts";

const attemptsMax = 2;
const recheckMs = 5_000;

/**
 * Takes a stored payment to the processor, or finds out that it is there already: after an unknown outcome the order is
 * looked up by its number before the same number is registered again. Answers the payment, or the refusal for the
 * caller. The order number was committed before, so whoever comes back to it after a crash asks about the same order.
 */
export async function registerOrder(
  context: Context,
  payment: Payment,
  remainingMs: () => number,
): Promise<Payment | DomainError> {
  const outcome = await askProcessor(context, payment, remainingMs);
  faultPoint("payment.registered");
  return await transaction(context.orm, (em) => record(em, context, payment.id, outcome));
}

async function askProcessor(context: Context, payment: Payment, remainingMs: () => number): Promise<Outcome<RegisteredOrder>> {
  const { processor } = context;
  const returnUrl = `${context.publicUrl}/api/v1/payments/return/${payment.returnToken}`;
  let outcome: Outcome<RegisteredOrder> = { kind: "unknown", reason: "not asked yet", answered: true };
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    outcome = await processor.register(
      {
        orderNumber: payment.processorOrderNumber,
        amountMinor: payment.amountMinor,
        returnUrl,
        failUrl: returnUrl,
        language: payment.language,
        description: payment.description ?? undefined,
        orderRef: payment.orderRef ?? undefined,
      },
      remainingMs(),
    );
    const mayBeThere = outcome.kind === "unknown" || (outcome.kind === "refused" && outcome.errorCode === orderNumberUsedCode);
    if (!mayBeThere) return outcome;

    const found = await processor.status({ orderNumber: payment.processorOrderNumber }, remainingMs());
    if (found.kind === "accepted" && found.value.orderId && found.value.amountMinor === payment.amountMinor) {
      const formUrl = context.formUrlTemplate.replace("{mdOrder}", found.value.orderId);
      return { kind: "accepted", value: { orderId: found.value.orderId, formUrl } };
    }
    // The number belongs to somebody else's order.
    if (found.kind === "accepted" && outcome.kind === "refused") return outcome;
    const surelyAbsent = found.kind === "refused" && found.errorCode === unknownOrderCode;
    if (!surelyAbsent) return { kind: "unknown", reason: "the order could not be looked up", answered: false };
  }
  return outcome;
}

async function record(
  em: SqlEntityManager,
  context: Context,
  id: string,
  outcome: Outcome<RegisteredOrder>,
): Promise<Payment | DomainError> {
  const payment = await em.findOneOrFail(Payment, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (payment.processorOrderId || payment.status !== "PENDING") return payment;
  const now = context.clock.now();
  const { processorOrderNumber: order_number } = payment;
  const owed =
    payment.idempotencyId && outcome.kind !== "unknown"
      ? await em.findOne(IdempotencyRecord, { id: payment.idempotencyId })
      : null;

  if (outcome.kind === "accepted") {
    payment.registered(outcome.value.orderId, outcome.value.formUrl, now);
    payment.waitOrExpire(false, context.schedule.paymentCheckSeconds, context.schedule.paymentWindowSeconds, now);
    payment.idempotencyId = null;
    owed?.storeAnswer(PaymentSchema, toPaymentMessage(payment));
    context.logger.info({ payment_id: id, order_number }, "payment registered");
    return payment;
  }
  if (outcome.kind === "refused") {
    payment.registrationRefused(outcome.errorCode, now);
    announce(em, payment, "failed", now);
    const refusal = processorError(outcome.errorCode, id);
    payment.idempotencyId = null;
    owed?.storeRefusal(refusal);
    context.logger.warn(
      { payment_id: id, order_number, error_code: outcome.errorCode, reason: outcome.message },
      "registration refused",
    );
    return refusal;
  }
  payment.nextCheckAt = new Date(now.getTime() + recheckMs);
  context.logger.warn({ payment_id: id, order_number, reason: outcome.reason }, "registration outcome unknown");
  return processorOutcomeUnknown(id);
}
