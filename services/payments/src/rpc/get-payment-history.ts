import type { RefundService } from "@amana/contracts/payments/v1/refund_service_pb";
import { ProcessorCallSchema } from "@amana/contracts/payments/v1/refund_service_pb";
import { defineView } from "@amana/database";
import type { Implementation } from "@amana/rpc";
import { timeMsOfUuid } from "@amana/runtime";
import { operatorScope } from "@amana/service-host";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { ProcessorCall } from "../card-processor/processor-call.ts";
import type { Context } from "../context.ts";
import { paymentNotFound } from "../payment/payment.errors.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { Payment } from "../payment/payment.ts";
import { toRefundMessage } from "../refund/refund.message.ts";
import { Refund } from "../refund/refund.ts";

const callView = defineView(ProcessorCall, ProcessorCallSchema);
/** Maximum number of refunds in the response. */
const refundsMax = 200;
/**
 * Maximum number of processor calls in the response. A payment with an unknown outcome can have
 * hundreds of calls.
 */
const callsMax = 200;
/**
 * Number of oldest calls in the response if a payment has more than `callsMax` calls. The other
 * calls in the response are the newest calls.
 */
const firstCallsMax = 50;
/**
 * Maximum number of call ids from which `recordedAtMs` is computed. One transaction records at most
 * five calls, so 3000 ids contain the times of at least 600 transactions. The webhooks service uses
 * at most 500 of these times.
 */
const idsMax = 3_000;

/** Returns a payment of any business with its refunds and processor calls, oldest first. */
export const getPaymentHistory =
  (context: Context): Implementation<typeof RefundService.method.getPaymentHistory> =>
  async ({ id }, { caller }) => {
    operatorScope(caller);
    const em = context.orm.em.fork();
    const payment = await em.findOne(Payment, { id });
    if (!payment) throw paymentNotFound();
    const { businessId } = payment;
    const refunds = await em.find(Refund, { businessId, paymentId: id }, { orderBy: { id: "desc" }, limit: refundsMax + 1 });
    const refundsCut = refunds.length > refundsMax;
    if (refundsCut) refunds.pop();
    refunds.reverse();
    const { calls, callsCut, ids } = await readCalls(em, { businessId, paymentId: id });
    const changeTimes = [payment.createdAt, payment.paidAt, payment.updatedAt, ...refunds.map(({ updatedAt }) => updatedAt)];
    const recordedAtMs = new Set([...changeTimes.flatMap((time) => time?.getTime() ?? []), ...ids.map(timeMsOfUuid)]);
    return {
      payment: toPaymentMessage(payment, context),
      refundsCut,
      refunds: refunds.map((refund) => toRefundMessage(refund, payment, context)),
      callsCut,
      calls: calls.map((call) => callView.toMessage(call, { durationMs: call.durationMs })),
      recordedAtMs: [...recordedAtMs].map(BigInt),
    };
  };

async function readCalls(em: SqlEntityManager, payment: { businessId: string; paymentId: string }) {
  const calls = await em.find(ProcessorCall, payment, { orderBy: { id: "desc" }, limit: callsMax + 1 });
  const callsCut = calls.length > callsMax;
  if (callsCut) {
    const oldestCalls = await em.find(ProcessorCall, payment, { orderBy: { id: "asc" }, limit: firstCallsMax });
    calls.splice(callsMax - firstCallsMax, Number.POSITIVE_INFINITY, ...oldestCalls);
  }
  calls.sort((a, b) => a.at.getTime() - b.at.getTime() || (a.id < b.id ? -1 : 1));
  // The id of a call contains the time of the transaction that recorded the call and its event.
  const callIds = callsCut
    ? await em.find(ProcessorCall, payment, { fields: ["id"], orderBy: { id: "asc" }, limit: idsMax })
    : [];
  return { calls, callsCut, ids: [...calls, ...callIds].map(({ id }) => id) };
}
