import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import type { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { listPayments as readPage } from "../payment/queries.ts";

export const listPayments =
  (context: Context): Implementation<typeof PaymentService.method.listPayments> =>
  async (request, call) => {
    const businessId = businessOf(call.caller);
    // No payment comes from a payment link yet, so none has this one.
    if (request.paymentLinkId !== undefined) return { payments: [], total: 0 };
    const filter = {
      status: statusName(request.status),
      orderRef: request.orderRef ?? null,
      createdFrom: request.createdFromMs === undefined ? null : new Date(Number(request.createdFromMs)),
      createdTo: request.createdToMs === undefined ? null : new Date(Number(request.createdToMs)),
    };
    const em = context.orm.em.fork() as SqlEntityManager;
    const { rows, total } = await readPage(em, businessId, filter, request.limit, request.offset);
    return { payments: rows.map(toPaymentMessage), total };
  };

const statusName = (status: PaymentStatus): string | null =>
  status === PaymentStatus.UNSPECIFIED ? null : (Object.entries(PaymentStatus).find(([, value]) => value === status)?.[0] ?? "");
