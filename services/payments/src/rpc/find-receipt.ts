import type { ReceiptService } from "@amana/contracts/payments/v1/receipt_service_pb";
import { type Implementation, requirePlatform } from "@amana/rpc";
import type { Context } from "../context.ts";
import { findPaymentByToken } from "../receipt/find-payment.ts";
import { toReceiptMessage } from "../receipt/receipt.message.ts";

/**
 * Returns the receipt for a page token. If the payment has no receipt, `receiptNumber` is empty.
 */
export const findReceipt =
  (context: Context): Implementation<typeof ReceiptService.method.findReceipt> =>
  async ({ token }, { caller }) => {
    requirePlatform(caller);
    return toReceiptMessage(await findPaymentByToken(context.orm.em.fork(), token), context);
  };
