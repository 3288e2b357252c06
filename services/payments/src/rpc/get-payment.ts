import type { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { type Implementation, requireBusiness } from "@amana/rpc";
import type { Context } from "../context.ts";
import { paymentNotFound } from "../payment/payment.errors.ts";
import { paymentView, toPaymentMessage } from "../payment/payment.message.ts";
import { refreshPayment } from "../payment/refresh-payment.ts";

/** Longest time for which the caller waits for the processor. */
const refreshWaitMs = 3_000;

/**
 * Returns the payment. First reads a PENDING payment at the processor, at most once in ten seconds.
 */
export const getPayment =
  (context: Context): Implementation<typeof PaymentService.method.getPayment> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    const { em } = context.orm;
    let payment = await paymentView.read(em, businessId, request.id);
    if (!payment) throw paymentNotFound();
    if (payment.status === "PENDING") {
      await refreshPayment(context, businessId, request.id, refreshWaitMs);
      payment = (await paymentView.read(em, businessId, request.id)) ?? payment;
    }
    return toPaymentMessage(payment, context);
  };
