import { databaseTime, transaction } from "@amana/database";
import type { Lease } from "@amana/jobs";
import { parseLanguage } from "@amana/pages";
import { receiptMail, receiptOf } from "@amana/receipts";
import { DomainError } from "@amana/rpc";
import { faultPoint } from "@amana/runtime";
import type { Context } from "../context.ts";
import { receiptUrlOf } from "../payment/payment.message.ts";
import { Payment } from "../payment/payment.ts";
import { type Mailer, MailNotAccepted } from "./mailer.ts";
import { toReceiptMessage } from "./receipt.message.ts";
import { ReceiptMail } from "./receipt-mail.ts";
import { renderPdf } from "./render-pdf.ts";

type Outcome = { readonly kind: "SENT" | "DROPPED" } | { readonly kind: "failed"; readonly error: MailNotAccepted | DomainError };

/**
 * Sends a queued receipt e-mail and then records the outcome. The caller must hold the lease of the
 * e-mail's row. If the process crashes before it records the outcome, the e-mail is sent again with
 * the same Message-ID.
 */
export async function sendReceiptMail(context: Context, mailer: Mailer, id: string, lease: Lease): Promise<void> {
  const { orm, logger } = context;
  const em = orm.em.fork();
  const mail = await em.findOneOrFail(ReceiptMail, { id });
  const payment = await em.findOneOrFail(Payment, { id: mail.paymentId });
  faultPoint("receipt.sending");
  const outcome = await attempt(context, mailer, mail, payment);
  faultPoint("receipt.sent");
  const logFields = { receipt_mail_id: id, payment_id: payment.id };
  await transaction(orm, async (em) => {
    if (!(await lease.renew(em))) return;
    const present = await em.findOneOrFail(ReceiptMail, { id });
    present.attempts += 1;
    if (outcome.kind !== "failed") {
      present.end(outcome.kind);
      return;
    }
    const isPermanent = outcome.error instanceof MailNotAccepted && outcome.error.isPermanent;
    present.recordFailure(isPermanent, await databaseTime(em));
    const failure = { ...logFields, reason: outcome.error.message, attempts: present.attempts };
    if (present.status === "FAILED") logger.error(failure, "receipt e-mail not sent");
    else logger.warn(failure, "receipt e-mail not sent, retry scheduled");
  });
  if (outcome.kind === "SENT") logger.info(logFields, "receipt e-mail sent");
  if (outcome.kind === "DROPPED") logger.info(logFields, "receipt e-mail dropped, payment reversed");
}

async function attempt(context: Context, mailer: Mailer, mail: ReceiptMail, payment: Payment): Promise<Outcome> {
  // The payment was reversed at the processor after the receipt was requested.
  if (!payment.isSettled()) return { kind: "DROPPED" };
  const language = parseLanguage(mail.language) ?? "fr";
  const receipt = receiptOf(toReceiptMessage(payment, context), mail.businessName);
  try {
    const pdf = await renderPdf(context, payment.businessId, receipt, language);
    await mailer.send({
      ...receiptMail(receipt, language, receiptUrlOf(payment, context.publicUrl)),
      to: mail.email,
      id: mail.id,
      attachments: [{ filename: `${receipt.receiptNumber}.pdf`, content: Buffer.from(pdf), contentType: "application/pdf" }],
    });
    return { kind: "SENT" };
  } catch (error) {
    // Any other error is a fault. The job logs the fault and retries the row.
    if (error instanceof MailNotAccepted || error instanceof DomainError) return { kind: "failed", error };
    throw error;
  }
}
