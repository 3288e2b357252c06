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
/** 32 bytes in base64url; anything else is nobody's, and some of it PostgreSQL would not even compare. */
const tokenForm = /^[\w-]{43}$/;

/** The card holder is back: confirms with the processor and says where the browser goes. What the browser says proves nothing. */
export const returnFromProcessor =
  (context: Context): Implementation<typeof PaymentService.method.returnFromProcessor> =>
  async (request, call) => {
    platformOf(call.caller);
    const find = () => context.orm.em.fork().findOne(Payment, { returnToken: request.token });
    let payment = tokenForm.test(request.token) ? await find() : null;
    if (!payment) throw returnTokenUnknown();
    const remainingMs = () => Math.max(1, call.remainingMs() - answerMs);
    // A reload, or the reconciler, may be at it already: then wait for what it finds out.
    while (payment.isOpen() && remainingMs() > waitMs) {
      const { id } = payment;
      const done = await withLease(context.orm, "payment", id, () =>
        settlePayment(context, id, { confirmFirst: true, remainingMs }),
      );
      payment = (await find()) ?? payment;
      if (done) break;
      await sleep(waitMs);
    }
    return { redirectUrl: redirectUrl(payment) };
  };

/** The business's address with two parameters more; its own query stays as it was written, byte for byte. */
function redirectUrl(payment: Payment): string {
  const paid = payment.status === "PAID" || payment.status === "REFUNDED";
  const url = new URL(paid ? payment.successUrl : payment.failUrl);
  url.search = `${url.search ? `${url.search}&` : ""}payment_id=${payment.id}&status=${payment.status}`;
  return url.toString();
}
