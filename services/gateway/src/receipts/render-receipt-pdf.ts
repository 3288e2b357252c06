import type { Receipt } from "@amana/contracts/payments/v1/receipt_pb";
import { pageHeaders, privateHeaders } from "@amana/pages";
import { platformCaller } from "@amana/rpc";
import type { FastifyReply, FastifyRequest } from "fastify";
import { callOf } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { languageOf } from "./receipt.ts";

/** Renders the receipt as PDF, and sets the headers of the response. */
export async function renderReceiptPdf(
  { rpc }: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  receipt: Receipt,
  { businessName, language: requested }: { businessName: string; language: unknown },
): Promise<Buffer> {
  const language = languageOf(requested, receipt);
  const { token, receiptNumber } = receipt;
  // The token authenticates the RPC, even if the request has the API key of a business.
  const call = { ...callOf(request, reply), caller: platformCaller };
  const { pdf } = await rpc.receipts.renderReceipt({ token, language: language.toUpperCase(), businessName }, call);
  reply.type("application/pdf").headers({
    ...privateHeaders,
    ...pageHeaders({ language, contentSources: {} }),
    "content-disposition": `attachment; filename="${receiptNumber}.pdf"`,
  });
  return Buffer.from(pdf);
}
