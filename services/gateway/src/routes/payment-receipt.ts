import { ReceiptJson, renderReceipt } from "@amana/public-api";
import { anyCaseChoice } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { addReadRoute } from "../operations.ts";
import { prefersType } from "../prefers-type.ts";
import { renderReceiptPdf } from "../receipts/render-receipt-pdf.ts";

/**
 * Adds the operation with which a business reads the receipt of a payment. Buyers use the pages in
 * `receipts.ts`.
 */
export async function paymentReceipt(app: App, gateway: Gateway): Promise<void> {
  addReadRoute(app, "/:id/receipt", {
    tag: "Payments",
    rpc: gateway.rpc.receipts.getReceipt,
    operationId: "getPaymentReceipt",
    summary: "Get the receipt of a payment",
    description:
      "Returns the receipt of a PAID or REFUNDED payment as JSON, or as PDF with `Accept: application/pdf`. Fails with 409 " +
      "`receipt_not_available` for any other payment, and with 503 `receipt_not_rendered` if Amana cannot render the receipt as PDF. " +
      "`receipt_url` of the payment is a page with the same content for the buyer.",
    query: { lang: anyCaseChoice(["AR", "FR", "EN"], "Language of the PDF, by default the language of the payment.") },
    response: ReceiptJson,
    alternativeType: "application/pdf",
    execute: ({ id }, { send }) => send({ payment_id: id }),
    render: async (receipt, request, reply) => {
      const { name: businessName } = await gateway.businesses.resolve(receipt.payment?.businessId ?? "");
      reply.header("vary", "Accept");
      if (!prefersType(request.headers.accept, "application/pdf", "application/json"))
        return renderReceipt(receipt, businessName);
      const { lang: language } = request.query as { lang?: string };
      return await renderReceiptPdf(gateway, request, reply, receipt, { businessName, language });
    },
  });
}
