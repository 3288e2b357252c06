import type { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { type Implementation, platformOf } from "@amana/rpc";
import { sleep } from "@amana/runtime";
import type { Context } from "../context.ts";
import { withLease } from "../lease.ts";
import { returnTokenUnknown } from "../payment/payment.errors.ts";
import { Payment } from "../payment/payment.ts";
import { settlePayment } from "../payment/settle-payment.ts";

const answerMs = 1_000;
const waitMs = 100;

/** The card holder is back: confirms with the processor and says where the browser goes. What the browser says proves nothing. */
export const returnFromProcessor =
  (context: Context): Implementation<typeof PaymentService.method.returnFromProcessor> =>
  async (request, call) => {
    platformOf(call.caller);
    const find = () => context.orm.em.fork().findOne(Payment, { returnToken: request.token });
    let payment = await find();
    if (!payment) throw returnTokenUnknown();
    const remainingMs = () => Math.max(1, call.remainingMs() - answerMs);
    // A reload, or the reconciler, may be at it already: then wait for what it finds out.
    while (payment.isOpen() && remainingMs() > waitMs) {
      const open = payment;
      const done = await withLease(context.orm, "payment", open.id, () =>
        settlePayment(context, open, { confirmFirst: true, remainingMs }),
      );
      payment = (await find()) ?? payment;
      if (done) break;
      await sleep(waitMs);
    }
    return { redirectUrl: redirectUrl(payment) };
  };

function redirectUrl(payment: Payment): string {
  const paid = payment.status === "PAID" || payment.status === "REFUNDED";
  const url = new URL(paid ? payment.successUrl : payment.failUrl);
  url.searchParams.append("payment_id", payment.id);
  url.searchParams.append("status", payment.status);
  return url.toString();
}
