import type { ListPaymentsRequest } from "@amana/contracts/payments/v1/payment_service_pb";
import type { RefundService } from "@amana/contracts/payments/v1/refund_service_pb";
import type { Owner } from "@amana/database";
import type { Implementation } from "@amana/rpc";
import { createGetRpc, createListRpc, operatorScope } from "@amana/service-host";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { changedPaymentList, changedPaymentView, paymentList, toPaymentMessage } from "../payment/payment.message.ts";
import { Payment } from "../payment/payment.ts";
import { paymentLinkNotFound, referencedPaymentLinkNotFound } from "../payment-link/payment-link.errors.ts";
import { paymentLinkList, paymentLinkView, toPaymentLinkMessage } from "../payment-link/payment-link.message.ts";
import { refundList, toRefundMessage } from "../refund/refund.message.ts";

/** Throws if the id in the filter does not belong to a payment link of the business. */
async function checkPaymentLinkId(em: SqlEntityManager, owner: Owner, { paymentLinkId }: ListPaymentsRequest): Promise<void> {
  if (paymentLinkId !== undefined && !(await paymentLinkView.read(em, owner, paymentLinkId)))
    throw referencedPaymentLinkNotFound();
}

export const listPayments = (context: Context) =>
  createListRpc(paymentList, "payments", (row) => toPaymentMessage(row, context), { check: checkPaymentLinkId })(context);

export const getPaymentLink = (context: Context) =>
  createGetRpc(paymentLinkView, toPaymentLinkMessage(context), paymentLinkNotFound)(context);

export const listPaymentLinks = (context: Context) =>
  createListRpc(paymentLinkList, "paymentLinks", toPaymentLinkMessage(context))(context);

/** Lists payments with an external change or an unexplained difference, for operators. */
export const listChangedPayments = (context: Context) =>
  createListRpc(
    changedPaymentList,
    "payments",
    (row) => changedPaymentView.toMessage(row, { payment: toPaymentMessage(row, context) }),
    { ownerOf: operatorScope },
  )(context);

/** Lists refunds of all businesses for operators, each refund with its payment. */
export const listRefunds =
  (context: Context): Implementation<typeof RefundService.method.listRefunds> =>
  async (request, { caller }) => {
    const { rows, ...total } = await refundList.page(context.orm.em, operatorScope(caller), request);
    const payments = await context.orm.em.fork().find(Payment, { id: { $in: rows.map(({ paymentId }) => paymentId) } });
    const paymentOf = new Map(payments.map((payment) => [payment.id, payment]));
    const refunds = rows.flatMap((refund) => {
      const payment = paymentOf.get(refund.paymentId);
      return payment ? [toRefundMessage(refund, payment, context)] : [];
    });
    return { refunds, ...total };
  };
