import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import type { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { businessOf, enumName, type Implementation } from "@amana/rpc";
import { dateOf } from "@amana/runtime";
import type { Context } from "../context.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { readPayments } from "../payment/queries.ts";

export const listPayments =
  ({ orm }: Context): Implementation<typeof PaymentService.method.listPayments> =>
  async (request, call) => {
    const businessId = businessOf(call.caller);
    // No payment comes from a payment link yet, so none has this one.
    if (request.paymentLinkId !== undefined) return { payments: [], total: 0 };
    const filter = {
      status: enumName(PaymentStatus, request.status),
      orderRef: request.orderRef,
      createdFrom: dateOf(request.createdFromMs),
      createdTo: dateOf(request.createdToMs),
    };
    const { rows, total } = await readPayments(orm.em, businessId, filter, request);
    return { payments: rows.map(toPaymentMessage), total };
  };
