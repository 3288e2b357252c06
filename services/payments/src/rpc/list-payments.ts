import type { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import type { Context } from "../context.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { paymentList } from "../payment/queries.ts";

export const listPayments =
  ({ orm }: Context): Implementation<typeof PaymentService.method.listPayments> =>
  async (request, { caller }) => {
    const { rows, total } = await paymentList.page(orm.em, businessOf(caller), request);
    return { payments: rows.map((row) => toPaymentMessage(row)), total };
  };
