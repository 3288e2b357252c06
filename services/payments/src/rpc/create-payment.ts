import { randomBytes, randomInt } from "node:crypto";
import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import type { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { databaseTime, transaction } from "@amana/database";
import { claimKey } from "@amana/idempotency";
import { withLease } from "@amana/jobs";
import { DomainError, type Implementation, requireBusiness } from "@amana/rpc";
import { faultPoint, uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { processorOutcomeUnknown, tooManyCreations } from "../payment/payment.errors.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { Payment } from "../payment/payment.ts";
import { registerOrder } from "../payment/register-order.ts";

/** After a crash, the reconciler continues the registration after this time. */
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
    const firstResult = await transaction(context.orm, async (em) => {
      const claim = await claimKey(em, call, PaymentSchema);
      if ("replayed" in claim) return claim;
      if (context.processor.isQueueFull(businessId, "registrations")) throw tooManyCreations();
      const now = await databaseTime(em);
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
        processorOrderNumber: await drawOrderNumber(em),
        idempotencyId: claim.record?.id ?? null,
        traceparent: call.traceparent || null,
        checks: 0,
        nextCheckAt: new Date(now.getTime() + recoveryMs),
        createdAt: now,
        updatedAt: now,
      });
      em.persist(payment);
      return { payment };
    });
    if ("replayed" in firstResult) return firstResult.replayed;

    faultPoint("payment.begun");
    const { payment } = firstResult;
    const remainingMs = () => Math.max(1, call.remainingMs() - responseMs);
    const leased = await withLease(context.orm, "payment", payment.id, () =>
      registerOrder(context, payment.id, { mayExist: false, remainingMs }),
    ).catch((error: unknown) => {
      // The reconciler continues, so the outcome is unknown. A retryable error would mean that no
      // payment exists.
      context.logger.error({ err: error, payment_id: payment.id }, "payment registration interrupted, the reconciler continues");
      return undefined;
    });
    const result = leased?.result ?? processorOutcomeUnknown(payment.id);
    if (result instanceof DomainError) throw result;
    return toPaymentMessage(result);
  };

/**
 * Returns an unused random order number. It must not reveal the number of payments, nor collide
 * with the numbers of another system.
 */
async function drawOrderNumber(em: SqlEntityManager): Promise<string> {
  for (;;) {
    const processorOrderNumber = String(randomInt(1_000_000_000, 10_000_000_000));
    // With a million payments, one random number in nine thousand is used. The function also sees
    // the payments of other businesses, which row-level security hides from this transaction.
    const [row] = await em.execute<{ is_taken: boolean }[]>("select order_number_is_taken(?) as is_taken", [
      processorOrderNumber,
    ]);
    if (row?.is_taken === false) return processorOrderNumber;
  }
}
