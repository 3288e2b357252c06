import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import type { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { databaseTime } from "@amana/database";
import { claimKey } from "@amana/idempotency";
import { type Implementation, requireBusiness } from "@amana/rpc";
import type { Context } from "../context.ts";
import { inPaymentTransaction, insertPayment, registerPayment } from "../payment/begin-payment.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";

/**
 * Creates a payment. The first transaction inserts a PENDING payment and claims the
 * Idempotency-Key. `registerPayment` then calls the processor outside of any transaction. Finally,
 * `registerPayment` commits the order and stores the response for the Idempotency-Key.
 */
export const createPayment =
  (context: Context): Implementation<typeof PaymentService.method.createPayment> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    const started = await inPaymentTransaction(context, async (em) => {
      const claim = await claimKey(em, call, PaymentSchema);
      if ("replayed" in claim) return claim;
      const fields = {
        businessId,
        amountMinor: request.amountMinor,
        currency: "DZD",
        language: request.language,
        successUrl: request.successUrl,
        failUrl: request.failUrl,
        description: request.description ?? null,
        orderRef: request.orderRef ?? null,
        idempotencyId: claim.record?.id ?? null,
      };
      const payment = await insertPayment(em, context, call, fields, claim.now ?? (await databaseTime(em)));
      return { payment, key: claim.record };
    });
    if ("replayed" in started) return started.replayed;
    return toPaymentMessage(await registerPayment(context, call, started.payment, started.key), context);
  };
