import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import { changeRows, databaseTime } from "@amana/database";
import { attachKey, type IdempotencyRecord } from "@amana/idempotency";
import type { Lease } from "@amana/jobs";
import type { DomainError } from "@amana/rpc";
import { faultPoint } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { type Outcome, orderNumberUsedCode, type RegisteredOrder, unknownOrderCode } from "../card-processor/card-processor.ts";
import { collectCalls, type FinishedCall, recordCalls } from "../card-processor/processor-call.ts";
import type { Context } from "../context.ts";
import { processorError, processorOutcomeUnknown } from "./payment.errors.ts";
import { emitPaymentEvent } from "./payment.events.ts";
import { toPaymentMessage } from "./payment.message.ts";
import type { Payment } from "./payment.ts";

const registrationsMax = 2;

/** "absent": the processor has no order with the payment's order number. */
type Registration = Outcome<RegisteredOrder> | { readonly kind: "absent" };

interface RegistrationOptions {
  /**
   * True if the order may exist, because an earlier registration crashed or had an unknown outcome.
   */
  readonly mayExist: boolean;
  readonly remainingMs: () => number;
  /** Record of the Idempotency-Key of CreatePayment. If undefined, the record is read by its id. */
  readonly key?: IdempotencyRecord;
}

/**
 * Registers the order of a stored payment at the processor. If the order may already exist, looks
 * it up by its committed order number, and registers it only if it does not exist. Returns the
 * payment, or the refusal that the caller must throw. The caller must hold the payment's lease. The
 * transaction that records the outcome releases the lease.
 */
export async function registerOrder(
  context: Context,
  payment: Payment,
  lease: Pick<Lease, "token" | "release">,
  options: RegistrationOptions,
): Promise<Payment | DomainError> {
  if (!payment.awaitsRegistration()) return payment;
  const calls: FinishedCall[] = [];
  const collectingContext = { ...context, processor: collectCalls(context.processor, calls) };
  const registration = await findOrRegister(
    collectingContext,
    payment,
    options.mayExist || payment.checks > 0,
    options.remainingMs,
  );
  faultPoint("payment.registered");
  return await changeRows(context.orm, { payment }, async (em, { payment: present }) => {
    // Records the calls even if another process has registered the order in the meantime.
    const now = await recordCalls(em, { businessId: present.businessId, paymentId: present.id }, calls);
    const hasLease = present.leaseToken === lease.token;
    lease.release(em, present);
    if (!present.awaitsRegistration()) return present;
    // If the lease was lost, another process may have registered the order with this number. A
    // refusal then does not prove that the order does not exist.
    const isUnclear = registration.kind === "refused" && !hasLease;
    const outcome: Registration = isUnclear
      ? { kind: "unknown", reason: "the processor refused the registration after the lease was lost" }
      : registration;
    const key = await attachKey(em, options.key, present.idempotencyId);
    return applyRegistration(em, context, present, outcome, key, now);
  });
}

async function findOrRegister(
  context: Context,
  payment: Payment,
  mayExistAtStart: boolean,
  remainingMs: () => number,
): Promise<Registration> {
  const { processor, schedule } = context;
  const { businessId, processorOrderNumber: orderNumber, amountMinor, language, description, orderRef } = payment;
  const returnUrl = `${context.publicUrl}/api/v1/payments/return/${payment.returnToken}`;
  const order = { businessId, orderNumber, amountMinor, returnUrl, language, description, orderRef };
  let mayExist = mayExistAtStart;
  for (let registrations = 0; ; registrations++) {
    if (mayExist) {
      const lookUpOutcome = await lookUp(context, payment, remainingMs());
      if (lookUpOutcome.kind !== "absent") return lookUpOutcome;
      if (payment.isWindowOver(schedule.paymentWindowSeconds, await databaseTime(context.orm.em.fork()))) return lookUpOutcome;
    }
    if (registrations === registrationsMax)
      return { kind: "unknown", reason: "the order cannot be found after repeated registrations" };
    const outcome = await processor.register(order, remainingMs());
    // The processor refuses an order number that is in use. If an earlier request may have
    // registered this payment's order, the number may be in use by this order.
    const mayBeOwnOrder = outcome.kind === "refused" && outcome.errorCode === orderNumberUsedCode && mayExist;
    if (outcome.kind !== "unknown" && !mayBeOwnOrder) return outcome;
    const reason = outcome.kind === "unknown" ? outcome.reason : outcome.message;
    context.logger.warn({ payment_id: payment.id, reason }, "payment registration outcome unknown, order look-up follows");
    mayExist = true;
  }
}

async function lookUp(context: Context, payment: Payment, timeoutMs: number): Promise<Registration> {
  const { businessId, processorOrderNumber: orderNumber } = payment;
  const found = await context.processor.status({ businessId, orderNumber }, timeoutMs);
  if (found.kind === "refused" && found.errorCode === unknownOrderCode) return { kind: "absent" };
  if (found.kind !== "accepted" || !found.value.orderId || found.value.amountMinor === undefined) {
    return { kind: "unknown", reason: "the order could not be looked up at the processor" };
  }
  if (found.value.amountMinor !== payment.amountMinor) {
    return { kind: "refused", errorCode: orderNumberUsedCode, message: "the order number belongs to another order" };
  }
  const { orderId } = found.value;
  return { kind: "accepted", value: { orderId, formUrl: context.formUrlTemplate.replaceAll("{mdOrder}", () => orderId) } };
}

/**
 * Stores the outcome of the registration: the payment's new state, its event in the outbox, and the
 * response to repeated requests with the Idempotency-Key.
 */
function applyRegistration(
  em: SqlEntityManager,
  context: Context,
  payment: Payment,
  registration: Registration,
  key: IdempotencyRecord | undefined,
  now: Date,
): Payment | DomainError {
  const { logger, schedule } = context;
  const { id } = payment;
  const logFields = { payment_id: id, order_number: payment.processorOrderNumber };

  if (registration.kind === "unknown") {
    payment.planLookUp(now);
    logger.warn({ ...logFields, reason: registration.reason }, "payment registration outcome unknown, order look-up scheduled");
    return processorOutcomeUnknown(id);
  }

  payment.idempotencyId = null;
  if (registration.kind === "refused") {
    payment.failRegistration(registration.errorCode, now);
    emitPaymentEvent(em, context, payment, "PAYMENT_FAILED", now);
    const refusal = processorError(registration.errorCode, id);
    if (key) key.storeRefusal(refusal);
    logger.warn(
      { ...logFields, error_code: registration.errorCode, reason: registration.message },
      "payment registration refused",
    );
    return refusal;
  }
  if (registration.kind === "accepted") {
    payment.markRegistered(registration.value.orderId, registration.value.formUrl, now);
    payment.waitOrExpire(false, schedule.paymentCheckSeconds, schedule.paymentWindowSeconds, now);
    logger.info(logFields, "payment registered");
  } else {
    payment.expire(now);
    emitPaymentEvent(em, context, payment, "PAYMENT_EXPIRED", now);
    logger.warn(logFields, "payment expired before its registration");
  }
  if (key) key.storeResponse(PaymentSchema, toPaymentMessage(payment, context));
  return payment;
}
