import type { Language } from "@amana/pages";
import type { Receipt } from "@amana/receipts";
import { PdfRendererFailed } from "@amana/receipts/pdf";
import type { Context } from "../context.ts";
import { receiptNotRendered, tooManyReceipts } from "./receipt.errors.ts";

/** Maximum wait for a slot. It is shorter than the timeout of the RPC. */
const waitMsMax = 3_000;

/**
 * Renders a receipt of the business as a PDF. Throws `overloaded` if the receipt gets no slot
 * within `waitMsMax`, and `receipt_not_rendered` if the renderer fails.
 */
export async function renderPdf(
  { pdfRenderer, pdfSlots, logger }: Pick<Context, "pdfRenderer" | "pdfSlots" | "logger">,
  businessId: string,
  receipt: Receipt,
  language: Language,
): Promise<Uint8Array> {
  try {
    return await pdfSlots.run(businessId, waitMsMax, () => pdfRenderer.render(receipt, language), tooManyReceipts);
  } catch (error) {
    if (!(error instanceof PdfRendererFailed)) throw error;
    logger.error({ business_id: businessId, reason: error.message }, "receipt not rendered as PDF");
    throw receiptNotRendered();
  }
}
