import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { emitPaymentEvent } from "../payment/payment.events.ts";
import type { Payment } from "../payment/payment.ts";
import { PaymentLink } from "./payment-link.ts";

/**
 * Counts a payment that has just become PAID. If the count reaches `maxPayments` of the link, emits
 * PAYMENT_LINK_COMPLETED. The flush increments the counter and locks the link's row until the
 * commit, so exactly one of several concurrent payments reaches the limit. A payment beyond the
 * limit is possible, because a payment gives up its slot when its time to pay is over, and may
 * become PAID later. Logs an alert for such a payment.
 */
export async function countPaid(em: SqlEntityManager, context: Context, payment: Payment, now: Date): Promise<void> {
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
