import type { Language } from "@amana/pages";
import type { Receipt } from "@amana/receipts";
import { PdfRendererBusy } from "@amana/receipts/pdf";
import type { Context } from "../context.ts";
import { tooManyReceipts } from "./receipt.errors.ts";

/**
 * Renders a receipt as a PDF. Throws service_unavailable if too many receipts wait to be rendered.
 */
export async function renderPdf({ pdfRenderer }: Context, receipt: Receipt, language: Language): Promise<Uint8Array> {
  try {
    return await pdfRenderer.render(receipt, language);
  } catch (error) {
    throw error instanceof PdfRendererBusy ? tooManyReceipts() : error;
  }
}
