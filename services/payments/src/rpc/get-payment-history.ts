import type { RefundService } from "@amana/contracts/payments/v1/refund_service_pb";
import { ProcessorCallSchema } from "@amana/contracts/payments/v1/refund_service_pb";
import { defineView } from "@amana/database";
import type { Implementation } from "@amana/rpc";
import { forOperators } from "@amana/service";
import { ProcessorCall } from "../card-processor/processor-call.ts";
import type { Context } from "../context.ts";
import { paymentNotFound } from "../payment/payment.errors.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { Payment } from "../payment/payment.ts";
import { toRefundMessage } from "../refund/refund.message.ts";
import { Refund } from "../refund/refund.ts";

const callView = defineView(ProcessorCall, ProcessorCallSchema);
/** The newest; a payment that nobody could find out about for a day has hundreds. */
const callsMax = 200;

/** For operators: a payment of any business with what was done about it, oldest first. */
export const getPaymentHistory =
  ({ orm }: Context): Implementation<typeof RefundService.method.getPaymentHistory> =>
  async ({ id }, { caller }) => {
    forOperators(caller);
    const em = orm.em.fork();
    const payment = await em.findOne(Payment, { id });
    if (!payment) throw paymentNotFound();
    const { businessId } = payment;
    const refunds = await em.find(Refund, { businessId, paymentId: id }, { orderBy: { createdAt: "asc" } });
    const calls = await em.find(ProcessorCall, { businessId, paymentId: id }, { orderBy: { id: "desc" }, limit: callsMax });
    calls.sort((one, other) => one.at.getTime() - other.at.getTime());
    const rows = [payment.createdAt, payment.paidAt, payment.updatedAt, ...refunds.map(({ updatedAt }) => updatedAt)];
    const recordedAtMs = new Set([...rows.flatMap((time) => time?.getTime() ?? []), ...calls.map(({ id }) => timeOf(id))]);
    return {
      payment: toPaymentMessage(payment),
      refunds: refunds.map((refund) => toRefundMessage(refund, payment)),
      calls: calls.map((call) => callView.toMessage(call, { durationMs: call.durationMs })),
      recordedAtMs: [...recordedAtMs].map(BigInt),
    };
  };

/** A call's id is a UUIDv7 of the time at which its transaction recorded everything. */
const timeOf = (id: string) => Number.parseInt(id.replace("-", "").slice(0, 12), 16);
