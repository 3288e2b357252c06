import { PaymentSchema } from "@amana/contracts/payments/v1/payment_pb";
import type { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { once } from "@amana/idempotency";
import { type Implementation, requireBusiness } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { paymentNotFound } from "../payment/payment.errors.ts";
import { paymentView, toPaymentMessage } from "../payment/payment.message.ts";
import { refreshPayment as refresh } from "../payment/refresh-payment.ts";

/** Part of the deadline that is reserved for the response. */
const responseMs = 1_000;

/**
 * Reads the payment at the processor and returns it. If the last read was less than ten seconds
 * ago, returns the stored payment without a read.
 */
export const refreshPayment =
  (context: Context): Implementation<typeof PaymentService.method.refreshPayment> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    if (!isUuid(request.id)) throw paymentNotFound();
    await refresh(context, businessId, request.id, Math.max(1, call.remainingMs() - responseMs));
    return await once(context.orm, call, PaymentSchema, async (em: SqlEntityManager) => {
      const payment = await paymentView.read(em, businessId, request.id);
      if (!payment) throw paymentNotFound();
      return toPaymentMessage(payment, context);
    });
  };
