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

/** If nobody finishes the registration, because of a crash, the reconciler does after this long. */
const takeUpMs = 2_000;
/** Left over for the answer's way back. */
const answerMs = 2_000;

/** Begin (PENDING, commit) → processor, in no transaction → finish (order, answer, commit). */
export const createPayment =
  (context: Context): Implementation<typeof PaymentService.method.createPayment> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    const begun = await transaction(context.orm, async (em) => {
      const claim = await claimKey(em, call, PaymentSchema);
      if ("replayed" in claim) return claim;
      if (context.processor.isCrowded(businessId, "registrations")) throw tooManyCreations();
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
        processorOrderNumber: await aFreeOrderNumber(em),
        idempotencyId: claim.record?.id ?? null,
        traceparent: call.traceparent || null,
        checks: 0,
        nextCheckAt: new Date(now.getTime() + takeUpMs),
        createdAt: now,
        updatedAt: now,
      });
      em.persist(payment);
      return { payment };
    });
    if ("replayed" in begun) return begun.replayed;

    faultPoint("payment.begun");
    const { payment } = begun;
    const remainingMs = () => Math.max(1, call.remainingMs() - answerMs);
    const leased = await withLease(context.orm, "payment", payment.id, () =>
      registerOrder(context, payment.id, { mayBeThere: false, remainingMs }),
    ).catch((error: unknown) => {
      // It goes on without this call: to say "try again" now would say that there is none.
      context.logger.error({ err: error, payment_id: payment.id }, "a payment that was begun goes on later");
      return undefined;
    });
    const end = leased?.result ?? processorOutcomeUnknown(payment.id);
    if (end instanceof DomainError) throw end;
    return toPaymentMessage(end);
  };

/** Random: a number must not tell how many payments there are, nor meet another system's. */
async function aFreeOrderNumber(em: SqlEntityManager): Promise<string> {
  for (;;) {
    const processorOrderNumber = String(randomInt(1_000_000_000, 10_000_000_000));
    // With a million payments, one random number in nine thousand is taken.
    // Of all businesses', whose payments are not seen here.
    const [row] = await em.execute<{ taken: boolean }[]>("select order_number_is_taken(?) as taken", [processorOrderNumber]);
    if (row?.taken === false) return processorOrderNumber;
  }
}
