import type { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { withLease } from "@amana/jobs";
import { type Implementation, requirePlatform } from "@amana/rpc";
import { forTenant, sleep } from "@amana/runtime";
import type { Context } from "../context.ts";
import { returnTokenUnknown } from "../payment/payment.errors.ts";
import { Payment } from "../payment/payment.ts";
import { settlePayment } from "../payment/settle-payment.ts";
import { createSingleFlight } from "../single-flight.ts";

/** Part of the deadline that is reserved for the response. */
const responseMs = 1_000;
const waitMs = 100;
/** 32 bytes in base64url. PostgreSQL rejects some other texts, such as one with NUL. */
const tokenForm = /^[\w-]{43}$/;

/**
 * Confirms the payment of a returning card holder and returns the redirect URL. The return itself
 * proves nothing about the payment. The RPC needs no API key, so concurrent returns to one payment
 * share one confirm.
 */
export const returnFromProcessor = (context: Context): Implementation<typeof PaymentService.method.returnFromProcessor> => {
  const runOnce = createSingleFlight();
  const findBy = (where: { returnToken: string } | { id: string }) => context.orm.em.fork().findOne(Payment, where);

  /** Waits while another replica or the reconciler holds the payment's lease. */
  const settle = async (id: string, remainingMs: () => number) => {
    while (remainingMs() > waitMs && (await findBy({ id }))?.isOpen()) {
      const done = await withLease(context.orm, "payment", id, () =>
        settlePayment(context, id, { confirmFirst: true, remainingMs }),
      );
      if (done) return;
      await sleep(waitMs);
    }
  };

  return async (request, call) => {
    requirePlatform(call.caller);
    const payment = tokenForm.test(request.token) ? await findBy({ returnToken: request.token }) : null;
    if (!payment) throw returnTokenUnknown();
    if (!payment.isOpen()) return { redirectUrl: redirectUrl(payment) };
    const remainingMs = () => Math.max(1, call.remainingMs() - responseMs);
    await runOnce(payment.id, remainingMs, (leftMs) => forTenant(payment.businessId, () => settle(payment.id, leftMs)));
    return { redirectUrl: redirectUrl((await findBy({ id: payment.id })) ?? payment) };
  };
};

/** Adds two parameters to the URL of the business and keeps its own query byte for byte. */
function redirectUrl(payment: Payment): string {
  const url = new URL(payment.isSettled() ? payment.successUrl : payment.failUrl);
  url.search = `${url.search ? `${url.search}&` : ""}payment_id=${payment.id}&status=${payment.status}`;
  return url.toString();
}
