import type { RefundService } from "@amana/contracts/payments/v1/refund_service_pb";
import { adminOf, type Implementation } from "@amana/rpc";
import type { Context } from "../context.ts";
import { Payment } from "../payment/payment.ts";
import { toRefundMessage } from "../refund/refund.message.ts";
import { Refund } from "../refund/refund.ts";

/** For operators: refunds of all businesses, each beside its payment. */
export const listRefunds =
  ({ orm }: Context): Implementation<typeof RefundService.method.listRefunds> =>
  async (request, call) => {
    adminOf(call.caller);
    const em = orm.em.fork();
    const { needsDecision } = request;
    const where =
      needsDecision === undefined ? {} : needsDecision ? { needsDecisionSince: { $ne: null } } : { needsDecisionSince: null };
    const [refunds, total] = await em.findAndCount(Refund, where, {
      orderBy: { createdAt: "desc", id: "desc" },
      limit: request.limit,
      offset: request.offset,
    });
    const payments = await em.find(Payment, { id: { $in: refunds.map(({ paymentId }) => paymentId) } });
    const paymentOf = new Map(payments.map((payment) => [payment.id, payment]));
    return {
      refunds: refunds.flatMap((refund) => {
        const payment = paymentOf.get(refund.paymentId);
        return payment ? [toRefundMessage(refund, payment)] : [];
      }),
      total,
    };
  };
