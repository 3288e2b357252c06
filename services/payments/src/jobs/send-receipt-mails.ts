import { processDueRows } from "@amana/jobs";
import type { Context } from "../context.ts";
import { sendReceiptMail } from "../receipt/send-receipt-mail.ts";

const concurrency = 4;

/** Sends queued receipt e-mails until disposed. Requires a mailer in the context. */
export function sendReceiptMails(context: Context, pauseMs?: number): AsyncDisposable {
  const { mailer } = context;
  if (!mailer) throw new TypeError("sendReceiptMails requires the setting SMTP_URL");
  return processDueRows(
    context,
    { name: "send-receipt-mails", table: "receipt_mail", dueColumn: "next_attempt_at", concurrency, isTraced: true },
    (id, lease) => sendReceiptMail(context, mailer, id, lease),
    pauseMs,
  );
}
