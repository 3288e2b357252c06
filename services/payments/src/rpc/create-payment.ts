import { randomBytes, randomInt } from "node:crypto";
import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import type { CreatePaymentRequest, PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { databaseTime, flushUnique, transaction } from "@amana/database";
import { claimKey } from "@amana/idempotency";
import { keepLease, newLease } from "@amana/jobs";
import { type Call, DomainError, type Implementation, requireBusiness } from "@amana/rpc";
import { faultPoint, uuidv7 } from "@amana/runtime";
import type { Context } from "../context.ts";
import { processorOutcomeUnknown, tooManyCreations } from "../payment/payment.errors.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { Payment } from "../payment/payment.ts";
import { registerOrder } from "../payment/register-order.ts";

/** After a crash, the reconciler continues after this time, once the lease has expired. */
const recoveryMs = 2_000;
/** Part of the deadline that is reserved for the response. */
const responseMs = 2_000;

/**
 * Creates a payment. The first transaction inserts it as PENDING and claims the Idempotency-Key.
 * `registerOrder` then calls the processor outside of any transaction. The last transaction commits
 * the order and the stored response.
 */
export const createPayment =
  (context: Context): Implementation<typeof PaymentService.method.createPayment> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    const started = await begin(context, call, request, businessId);
    if ("replayed" in started) return started.replayed;

    faultPoint("payment.begun");
    const { payment, key } = started;
    const remainingMs = () => Math.max(1, call.remainingMs() - responseMs);
    const leased = { table: "payment", id: payment.id, token: payment.leaseToken ?? "" };
    const result = await keepLease(context.orm, leased, (lease) =>
      registerOrder(context, payment, lease, { mayExist: false, remainingMs, key }),
    ).catch((error: unknown) => {
      // The reconciler continues, so the outcome is unknown. A retryable error would mean that no
      // payment exists.
      context.logger.error(
        { err: error, payment_id: payment.id },
        "payment registration failed, the reconciler continues the payment",
      );
      return processorOutcomeUnknown(payment.id);
    });
    if (result instanceof DomainError) throw result;
    return toPaymentMessage(result, context);
  };

/**
 * Claims the Idempotency-Key and inserts the payment with a lease. Repeats both with another random
 * order number if the number is used: with a million payments, one number in nine thousand is.
 */
async function begin(context: Context, call: Call, request: CreatePaymentRequest, businessId: string) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction(context.orm, async (em) => {
        const claim = await claimKey(em, call, PaymentSchema);
        if ("replayed" in claim) return claim;
        if (context.processor.isQueueFull(businessId, "registrations")) throw tooManyCreations();
        const now = claim.now ?? (await databaseTime(em));
        const payment = em.create(Payment, {
          id: uuidv7(now.getTime()),
          businessId,
          amountMinor: request.amountMinor,
          currency: "DZD",
          status: "PENDING",
          language: request.language,
          successUrl: request.successUrl,
          failUrl: request.failUrl,
          description: request.description ?? null,
          orderRef: request.orderRef ?? null,
          returnToken: randomBytes(32).toString("base64url"),
          processorOrderNumber: randomOrderNumber(),
          idempotencyId: claim.record?.id ?? null,
          traceparent: call.traceparent || null,
          checks: 0,
          receiptMails: 0,
          nextCheckAt: new Date(now.getTime() + recoveryMs),
          ...newLease(now),
          createdAt: now,
          updatedAt: now,
        });
        em.persist(payment);
        await flushUnique(em, "payment_processor_order_number_key", orderNumberUsed);
        return { payment, key: claim.record };
      });
    } catch (error) {
      if (!(error instanceof OrderNumberUsedError) || attempt === orderNumbersMax) throw error;
    }
  }
}

const orderNumbersMax = 5;
class OrderNumberUsedError extends Error {}
const orderNumberUsed = () => new OrderNumberUsedError("the random order number is used");

/**
 * Returns a random order number. It must not reveal the number of payments, nor collide with the
 * numbers of another system.
 */
const randomOrderNumber = () => String(randomInt(1_000_000_000, 10_000_000_000));
