import type { Language } from "@amana/pages";
import type { Receipt } from "@amana/receipts";
import type { Context } from "../context.ts";
import { tooManyReceipts } from "./receipt.errors.ts";

/** Maximum wait for a slot. It is shorter than the timeout of the RPC. */
const waitMsMax = 3_000;

/**
 * Renders a receipt of the business as a PDF. Throws service_unavailable if the receipt gets no
 * slot within `waitMsMax`.
 */
export const renderPdf = (
  { pdfRenderer, pdfSlots }: Context,
  businessId: string,
  receipt: Receipt,
  language: Language,
): Promise<Uint8Array> => pdfSlots.run(businessId, waitMsMax, () => pdfRenderer.render(receipt, language), tooManyReceipts);
