import { randomBytes, randomInt } from "node:crypto";
import { refuseDuplicates, transaction } from "@amana/database";
import type { IdempotencyRecord } from "@amana/idempotency";
import { newLease, withClaimedLease } from "@amana/jobs";
import { type Call, DomainError } from "@amana/rpc";
import { faultPoint, uuidv7 } from "@amana/runtime";
import type { RequiredEntityData, SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { processorOutcomeUnknown, tooManyCreations } from "./payment.errors.ts";
import { Payment } from "./payment.ts";
import { registerOrder } from "./register-order.ts";

/** Minimum delay until the reconciler continues a payment whose process crashed. */
const recoveryMs = 2_000;
/** Part of the deadline that is reserved for the response. */
const responseMs = 2_000;
const orderNumbersMax = 5;

/** Properties of a new payment that depend on its source: the API or a payment link. */
type NewPayment = Pick<
  RequiredEntityData<Payment>,
  | "amountMinor"
  | "currency"
  | "language"
  | "successUrl"
  | "failUrl"
  | "description"
  | "orderRef"
  | "idempotencyId"
  | "paymentLinkId"
  | "linkMetadata"
  | "formToken"
  | "customerName"
  | "customerEmail"
  | "customerPhone"
  | "conditionsVersion"
  | "conditionsAcceptedAt"
> & { readonly businessId: string; readonly returnToken?: string };

/**
 * Runs the transaction that inserts a payment. If the random order number is already in use, runs
 * the transaction again with another number. With a million stored payments, one of nine thousand
 * new payments needs another number.
 */
export async function inPaymentTransaction<T>({ orm }: Context, work: (em: SqlEntityManager) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction(orm, work);
    } catch (error) {
      if (!(error instanceof OrderNumberUsedError) || attempt === orderNumbersMax) throw error;
    }
  }
}

/**
 * Inserts a PENDING payment with a lease. Must be called in `work` of `inPaymentTransaction`, which
 * handles an order number that is already in use.
 */
export async function insertPayment(
  em: SqlEntityManager,
  { processor }: Context,
  call: Call,
  fields: NewPayment,
  now: Date,
): Promise<Payment> {
  if (processor.isQueueFull(fields.businessId, "registrations")) throw tooManyCreations();
  const payment = em.create(Payment, {
    returnToken: newReturnToken(),
    ...fields,
    id: uuidv7(now.getTime()),
    status: "PENDING",
    processorOrderNumber: randomOrderNumber(),
    traceparent: call.traceparent || null,
    checks: 0,
    receiptMails: 0,
    nextCheckAt: new Date(now.getTime() + recoveryMs),
    ...newLease(now),
    createdAt: now,
    updatedAt: now,
  });
  em.persist(payment);
  refuseDuplicates(em, "payment_processor_order_number_key", orderNumberUsed);
  return payment;
}

/**
 * Registers an inserted payment with the processor, outside of any transaction. The last
 * transaction commits the order and stores the response for the Idempotency-Key. Throws the
 * refusals of CreatePayment.
 */
export async function registerPayment(
  context: Context,
  call: Call,
  payment: Payment,
  key: IdempotencyRecord | undefined,
): Promise<Payment> {
  faultPoint("payment.begun");
  const remainingMs = () => Math.max(1, call.remainingMs() - responseMs);
  const leased = { table: "payment", id: payment.id, token: payment.leaseToken ?? "" };
  const result = await withClaimedLease(context.orm, leased, (lease) =>
    registerOrder(context, payment, lease, { mayExist: false, remainingMs, key }),
  ).catch((error: unknown) => {
    // The reconciler continues the payment, so its outcome is unknown. A retryable error would
    // state that no payment exists.
    context.logger.error(
      { err: error, payment_id: payment.id },
      "payment registration failed, the reconciler continues the payment",
    );
    return processorOutcomeUnknown(payment.id);
  });
  if (result instanceof DomainError) throw result;
  return result;
}

/** Returns a random token for the return URL of a payment. */
export const newReturnToken = () => randomBytes(32).toString("base64url");

class OrderNumberUsedError extends Error {}
const orderNumberUsed = () => new OrderNumberUsedError("the random order number is already in use");

/**
 * Returns a random order number. A random number does not reveal how many payments exist, and is
 * unlikely to be the order number of another system.
 */
const randomOrderNumber = () => String(randomInt(1_000_000_000, 10_000_000_000));
