import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import { databaseTime, lockRow, transaction } from "@amana/database";
import { lockKey } from "@amana/idempotency";
import type { DomainError } from "@amana/rpc";
import { faultPoint } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { type Outcome, orderNumberUsedCode, type RegisteredOrder, unknownOrderCode } from "../card-processor/card-processor.ts";
import { type NotedCall, noting, recordCalls } from "../card-processor/processor-call.ts";
import type { Context } from "../context.ts";
import { paymentNotFound, processorError, processorOutcomeUnknown } from "./payment.errors.ts";
import { announce } from "./payment.events.ts";
import { toPaymentMessage } from "./payment.message.ts";
import { Payment } from "./payment.ts";

const registrationsMax = 2;

/** "absent": there is no such order, and the time to pay is over, so there need not be one. */
type Registration = Outcome<RegisteredOrder> | { readonly kind: "absent" };

/**
 * Takes a stored payment to the processor. An order that may be there already, after a crash or an
 * unknown outcome, is looked up by its number, which was committed before, and only then registered
 * again. Answers the payment, or the refusal for the caller, who holds the payment's lease.
 */
export async function registerOrder(
  context: Context,
  paymentId: string,
  options: { mayBeThere: boolean; remainingMs: () => number },
): Promise<Payment | DomainError> {
  const payment = await context.orm.em.fork().findOneOrFail(Payment, { id: paymentId });
  if (!payment.awaitsRegistration()) return payment;
  const calls: NotedCall[] = [];
  const asking = { ...context, processor: noting(context.processor, calls) };
  const registration = await askProcessor(asking, payment, options.mayBeThere || payment.checks > 0, options.remainingMs);
  faultPoint("payment.registered");
  return await transaction(context.orm, (em) => record(em, context, payment, registration, calls));
}

async function askProcessor(
  context: Context,
  payment: Payment,
  orderMayBeThere: boolean,
  remainingMs: () => number,
): Promise<Registration> {
  const { processor, schedule } = context;
  const { businessId, processorOrderNumber: orderNumber, amountMinor, language, description, orderRef } = payment;
  const returnUrl = `${context.publicUrl}/api/v1/payments/return/${payment.returnToken}`;
  const order = { businessId, orderNumber, amountMinor, returnUrl, language, description, orderRef };
  let mayBeThere = orderMayBeThere;
  for (let registrations = 0; ; registrations++) {
    if (mayBeThere) {
      const found = await lookUp(context, payment, remainingMs());
      if (found.kind !== "absent") return found;
      if (payment.isWindowOver(schedule.paymentWindowSeconds, await databaseTime(context.orm.em.fork()))) return found;
    }
    if (registrations === registrationsMax) return { kind: "unknown", reason: "registered, and the order is not there" };
    const outcome = await processor.register(order, remainingMs());
    // A number that is taken is ours only if we may have taken it.
    const mayBeOurs = outcome.kind === "refused" && outcome.errorCode === orderNumberUsedCode && mayBeThere;
    if (outcome.kind !== "unknown" && !mayBeOurs) return outcome;
    const reason = outcome.kind === "unknown" ? outcome.reason : outcome.message;
    context.logger.warn({ payment_id: payment.id, reason }, "the order may be there already");
    mayBeThere = true;
  }
}

async function lookUp(context: Context, payment: Payment, timeoutMs: number): Promise<Registration> {
  const { businessId, processorOrderNumber: orderNumber } = payment;
  const found = await context.processor.status({ businessId, orderNumber }, timeoutMs);
  if (found.kind === "refused" && found.errorCode === unknownOrderCode) return { kind: "absent" };
  if (found.kind !== "accepted" || !found.value.orderId || found.value.amountMinor === undefined) {
    return { kind: "unknown", reason: "the order could not be looked up" };
  }
  if (found.value.amountMinor !== payment.amountMinor) {
    return { kind: "refused", errorCode: orderNumberUsedCode, message: "the number belongs to another order" };
  }
  const { orderId } = found.value;
  return { kind: "accepted", value: { orderId, formUrl: context.formUrlTemplate.replaceAll("{mdOrder}", () => orderId) } };
}

async function record(
  em: SqlEntityManager,
  context: Context,
  { businessId, id, idempotencyId }: Payment,
  registration: Registration,
  calls: readonly NotedCall[],
): Promise<Payment | DomainError> {
  const { logger, schedule } = context;
  const owed = await lockKey(em, idempotencyId);
  const payment = await lockRow(em, Payment, businessId, id, paymentNotFound);
  const now = await databaseTime(em);
  // They were made, also where somebody else has registered it meanwhile.
  recordCalls(em, { businessId, paymentId: id }, calls, now);
  if (!payment.awaitsRegistration()) return payment;
  const logged = { payment_id: id, order_number: payment.processorOrderNumber };

  if (registration.kind === "unknown") {
    payment.planLookUp(now);
    logger.warn({ ...logged, reason: registration.reason }, "registration outcome unknown");
    return processorOutcomeUnknown(id);
  }

  payment.idempotencyId = null;
  if (registration.kind === "refused") {
    payment.registrationRefused(registration.errorCode, now);
    announce(em, payment, "PAYMENT_FAILED", now);
    const refusal = processorError(registration.errorCode, id);
    if (owed) owed.storeRefusal(refusal);
    logger.warn({ ...logged, error_code: registration.errorCode, reason: registration.message }, "registration refused");
    return refusal;
  }
  if (registration.kind === "accepted") {
    payment.registered(registration.value.orderId, registration.value.formUrl, now);
    payment.waitOrExpire(false, schedule.paymentCheckSeconds, schedule.paymentWindowSeconds, now);
    logger.info(logged, "payment registered");
  } else {
    payment.expire(now);
    announce(em, payment, "PAYMENT_EXPIRED", now);
    logger.warn(logged, "payment expired before it could be registered");
  }
  if (owed) owed.storeAnswer(PaymentSchema, toPaymentMessage(payment));
  return payment;
}
