import type { ReceiptService } from "@amana/contracts/payments/v1/receipt_service_pb";
import { parseLanguage } from "@amana/pages";
import { receiptOf } from "@amana/receipts";
import { type Implementation, requirePlatform } from "@amana/rpc";
import type { Context } from "../context.ts";
import { findPaymentByToken, requireReceiptAvailable } from "../receipt/find-payment.ts";
import { toReceiptMessage } from "../receipt/receipt.message.ts";
import { renderPdf } from "../receipt/render-pdf.ts";

/** Renders the receipt for a page token as a PDF. */
export const renderReceipt =
  (context: Context): Implementation<typeof ReceiptService.method.renderReceipt> =>
  async ({ token, language, businessName }, { caller }) => {
    requirePlatform(caller);
    const payment = await findPaymentByToken(context.orm.em.fork(), token);
    requireReceiptAvailable(payment);
    const receipt = receiptOf(toReceiptMessage(payment, context), businessName);
    return { pdf: await renderPdf(context, payment.businessId, receipt, parseLanguage(language) ?? "fr") };
  };
