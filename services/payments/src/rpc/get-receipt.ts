import type { ReceiptService } from "@amana/contracts/payments/v1/receipt_service_pb";
import { type Implementation, requireBusiness } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import type { Context } from "../context.ts";
import { paymentNotFound } from "../payment/payment.errors.ts";
import { Payment } from "../payment/payment.ts";
import { requireReceiptAvailable } from "../receipt/find-payment.ts";
import { toReceiptMessage } from "../receipt/receipt.message.ts";

/** Returns the receipt of a payment of the calling business. */
export const getReceipt =
  (context: Context): Implementation<typeof ReceiptService.method.getReceipt> =>
  async ({ paymentId: id }, { caller }) => {
    const businessId = requireBusiness(caller);
    const payment = isUuid(id) ? await context.orm.em.fork().findOne(Payment, { businessId, id }) : null;
    if (!payment) throw paymentNotFound();
    requireReceiptAvailable(payment);
    return toReceiptMessage(payment, context);
  };
