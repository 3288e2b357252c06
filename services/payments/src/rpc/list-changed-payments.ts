import type { RefundService } from "@amana/contracts/payments/v1/refund_service_pb";
import { adminOf, type Implementation } from "@amana/rpc";
import type { Context } from "../context.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { Payment } from "../payment/payment.ts";

/** For operators: payments of all businesses that the processor changed, or of which it says what no rule explains. */
export const listChangedPayments =
  ({ orm }: Context): Implementation<typeof RefundService.method.listChangedPayments> =>
  async (request, call) => {
    adminOf(call.caller);
    const where = { $or: [{ origin: { $ne: null } }, { difference: { $ne: null } }] };
    const [payments, total] = await orm.em.fork().findAndCount(Payment, where, {
      orderBy: { createdAt: "desc", id: "desc" },
      limit: request.limit,
      offset: request.offset,
    });
    return {
      payments: payments.map((payment) => ({
        payment: toPaymentMessage(payment),
        processorRefundedMinor: payment.processorRefundedMinor ?? undefined,
        processorReadAtMs: payment.processorReadAt ? BigInt(payment.processorReadAt.getTime()) : undefined,
        difference: payment.difference ?? undefined,
      })),
      total,
    };
  };
