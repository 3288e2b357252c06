import type { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { isUuid, sleep } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { withLease } from "../lease.ts";
import { paymentNotFound } from "../payment/payment.errors.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { readPayment } from "../payment/queries.ts";
import { settlePayment } from "../payment/settle-payment.ts";

/** Longer than this the caller does not wait for the processor; what it says is still recorded. */
const refreshWaitMs = 3_000;
const refreshTimeoutMs = 30_000;

/** The stored payment; one that is PENDING is refreshed from the processor first, at most once in ten seconds. */
export const getPayment =
  (context: Context): Implementation<typeof PaymentService.method.getPayment> =>
  async (request, call) => {
    const businessId = businessOf(call.caller);
    if (!isUuid(request.id)) throw paymentNotFound();
    const em = context.orm.em.fork() as SqlEntityManager;
    let payment = await readPayment(em, businessId, request.id);
    if (!payment) throw paymentNotFound();
    if (payment.status === "PENDING" && (await mayRefresh(em, businessId, request.id))) {
      const refreshing = refresh(context, request.id).catch((error: unknown) => {
        context.logger.warn({ err: error, payment_id: request.id }, "payment could not be refreshed");
      });
      await Promise.race([refreshing, sleep(refreshWaitMs)]);
      payment = (await readPayment(em, businessId, request.id)) ?? payment;
    }
    return toPaymentMessage(payment);
  };

/** Takes the turn to ask the processor, for all replicas together. */
async function mayRefresh(em: SqlEntityManager, businessId: string, id: string): Promise<boolean> {
  const rows = await em.execute(
    `update payment set checked_at = now() where business_id = ? and id = ? and status = 'PENDING' and processor_order_id is not null
       and (checked_at is null or checked_at < now() - interval '10 seconds') returning id`,
    [businessId, id],
  );
  return rows.length > 0;
}

async function refresh(context: Context, id: string): Promise<void> {
  await withLease(context.orm, "payment", id, () =>
    settlePayment(context, id, { confirmFirst: false, remainingMs: () => refreshTimeoutMs }),
  );
}
