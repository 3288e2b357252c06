import type { ReceiptService } from "@amana/contracts/payments/v1/receipt_service_pb";
import { databaseTime, lockRow, transaction } from "@amana/database";
import { parseLanguage } from "@amana/pages";
import { type Implementation, requirePlatform } from "@amana/rpc";
import { forTenant, uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { paymentNotFound } from "../payment/payment.errors.ts";
import { Payment } from "../payment/payment.ts";
import { parseEmailAddress } from "../receipt/email-address.ts";
import { findPaymentByToken, requireReceiptAvailable } from "../receipt/find-payment.ts";
import { receiptEmailInvalid, receiptEmailLimitReached, receiptEmailNotAvailable } from "../receipt/receipt.errors.ts";
import { ReceiptMail, receiptMailsMax } from "../receipt/receipt-mail.ts";

/**
 * Queues an e-mail with the receipt of a payment. For each payment, queues at most five e-mails,
 * and at most one e-mail per hour for the same address. Concurrent requests for a payment wait for
 * the lock of the payment's row.
 */
export const sendReceipt =
  (context: Context): Implementation<typeof ReceiptService.method.sendReceipt> =>
  async ({ token, email: text, language, businessName }, call) => {
    requirePlatform(call.caller);
    if (!context.mailer) throw receiptEmailNotAvailable();
    const { id, businessId } = await findPaymentByToken(context.orm.em.fork(), token);
    const email = parseEmailAddress(text);
    if (email === undefined) throw receiptEmailInvalid();
    const queue = async (em: SqlEntityManager) => {
      const payment = await lockRow(em, Payment, businessId, id, paymentNotFound);
      requireReceiptAvailable(payment);
      if (await isQueuedInLastHour(em, businessId, id, email)) return;
      if (payment.receiptMails >= receiptMailsMax) throw receiptEmailLimitReached(receiptMailsMax);
      payment.receiptMails += 1;
      const now = await databaseTime(em);
      em.create(ReceiptMail, {
        id: uuidv7(now.getTime()),
        businessId,
        paymentId: id,
        email,
        language: parseLanguage(language) ?? "fr",
        businessName,
        status: "QUEUED",
        attempts: 0,
        nextAttemptAt: now,
        traceparent: call.traceparent || null,
        createdAt: now,
      });
    };
    await forTenant(businessId, () => transaction(context.orm, queue));
    return {};
  };

/**
 * Returns whether an e-mail to this address was queued in the last hour. The comparison ignores
 * case, because most mail servers ignore the case of the local part.
 */
async function isQueuedInLastHour(em: SqlEntityManager, businessId: string, paymentId: string, email: string): Promise<boolean> {
  const rows = await em.execute(
    `select 1 from receipt_mail where business_id = ? and payment_id = ? and created_at > now() - interval '1 hour'
       and lower(email) = lower(?) limit 1`,
    [businessId, paymentId, email],
  );
  return rows.length > 0;
}
