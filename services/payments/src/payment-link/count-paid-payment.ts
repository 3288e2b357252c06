import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { emitPaymentEvent } from "../payment/payment.events.ts";
import type { Payment } from "../payment/payment.ts";
import { PaymentLink } from "./payment-link.ts";

/**
 * Counts a payment that has just become PAID. If `paymentsPaid` of its link reaches `maxPayments`,
 * emits PAYMENT_LINK_COMPLETED. The flush increments `paymentsPaid` and locks the link's row until
 * the commit, so exactly one of several concurrent payments reaches the limit. A payment occupies a
 * slot of the link only until its time to pay is over, but it may become PAID later. Logs an alert
 * if such a payment exceeds the limit.
 */
export async function countPaidPayment(em: SqlEntityManager, context: Context, payment: Payment, now: Date): Promise<void> {
  const { businessId, paymentLinkId } = payment;
  if (paymentLinkId == null) return;
  await em.flush();
  const { maxPayments, paymentsPaid } = await em.findOneOrFail(PaymentLink, { businessId, id: paymentLinkId });
  if (maxPayments == null || paymentsPaid < maxPayments) return;
  if (paymentsPaid === maxPayments) return emitPaymentEvent(em, context, payment, "PAYMENT_LINK_COMPLETED", now);
  const logFields = {
    payment_id: payment.id,
    payment_link_id: paymentLinkId,
    payments_paid: paymentsPaid,
    max_payments: maxPayments,
  };
  context.logger.error({ ...logFields, alert: true }, "a payment link is paid more often than max_payments permits");
}
