import type { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { withLease } from "@amana/jobs";
import { type Implementation, requirePlatform } from "@amana/rpc";
import { forTenant, sleep } from "@amana/runtime";
import type { Context } from "../context.ts";
import { returnTokenUnknown } from "../payment/payment.errors.ts";
import { Payment } from "../payment/payment.ts";
import { settlePayment } from "../payment/settle-payment.ts";
import { createSingleFlight } from "../single-flight.ts";

const answerMs = 1_000;
const waitMs = 100;
/** 32 bytes in base64url. Anything else is nobody's, and PostgreSQL would not compare all of it. */
const tokenForm = /^[\w-]{43}$/;

/**
 * The card holder is back: confirms with the processor and says where the browser goes, whose word
 * proves nothing. It needs no key, so all who come at once for one payment are answered together.
 */
export const returnFromProcessor = (context: Context): Implementation<typeof PaymentService.method.returnFromProcessor> => {
  const inTurn = createSingleFlight();
  const findBy = (where: { returnToken: string } | { id: string }) => context.orm.em.fork().findOne(Payment, where);

  /** A reload at another replica, or the reconciler, may be at it: then waits until that ends. */
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
    const remainingMs = () => Math.max(1, call.remainingMs() - answerMs);
    await inTurn(payment.id, remainingMs, (leftMs) => forTenant(payment.businessId, () => settle(payment.id, leftMs)));
    return { redirectUrl: redirectUrl((await findBy({ id: payment.id })) ?? payment) };
  };
};

/** The business's address with two parameters more; its own query stays byte for byte. */
function redirectUrl(payment: Payment): string {
  const url = new URL(payment.isSettled() ? payment.successUrl : payment.failUrl);
  url.search = `${url.search ? `${url.search}&` : ""}payment_id=${payment.id}&status=${payment.status}`;
  return url.toString();
}
