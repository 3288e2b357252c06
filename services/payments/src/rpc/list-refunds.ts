import type { RefundService } from "@amana/contracts/payments/v1/refund_service_pb";
import { everyBusiness } from "@amana/database";
import { adminOf, type Implementation } from "@amana/rpc";
import type { Context } from "../context.ts";
import { Payment } from "../payment/payment.ts";
import { refundList } from "../refund/queries.ts";
import { toRefundMessage } from "../refund/refund.message.ts";

/** For operators: refunds of all businesses, each beside its payment. */
export const listRefunds =
  ({ orm }: Context): Implementation<typeof RefundService.method.listRefunds> =>
  async (request, call) => {
    adminOf(call.caller);
    const { rows, total } = await refundList.page(orm.em, everyBusiness, request);
    const payments = await orm.em.fork().find(Payment, { id: { $in: rows.map(({ paymentId }) => paymentId) } });
    const paymentOf = new Map(payments.map((payment) => [payment.id, payment]));
    return {
      refunds: rows.flatMap((refund) => {
        const payment = paymentOf.get(refund.paymentId);
        return payment ? [toRefundMessage(refund, payment)] : [];
      }),
      total,
    };
  };
