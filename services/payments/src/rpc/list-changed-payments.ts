import type { RefundService } from "@amana/contracts/payments/v1/refund_service_pb";
import { everyBusiness } from "@amana/database";
import { adminOf, type Implementation } from "@amana/rpc";
import type { Context } from "../context.ts";
import { changedPaymentView, toPaymentMessage } from "../payment/payment.message.ts";
import { changedPaymentList } from "../payment/queries.ts";

/** For operators: payments that the processor changed, or says of what no rule explains. */
export const listChangedPayments =
  ({ orm }: Context): Implementation<typeof RefundService.method.listChangedPayments> =>
  async (request, { caller }) => {
    adminOf(caller);
    const { rows, total } = await changedPaymentList.page(orm.em, everyBusiness, request);
    return { payments: rows.map((row) => changedPaymentView.toMessage(row, { payment: toPaymentMessage(row) })), total };
  };
