import type { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { columnsOf } from "@amana/database";
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
/** Pause between two attempts to get the payment's lease. */
const waitMs = 100;
/**
 * Pattern of a return token: 32 bytes in base64url. The token is checked before the query, because
 * PostgreSQL rejects a text with a NUL character.
 */
const tokenForm = /^[\w-]{43}$/;

/**
 * Confirms the payment of a card holder who returns from the processor, and returns the redirect
 * URL. The return itself does not prove that the card holder paid. Concurrent calls for one payment
 * share a confirm, because the RPC requires no API key and a browser can repeat the call.
 */
export const returnFromProcessor = (context: Context): Implementation<typeof PaymentService.method.returnFromProcessor> => {
  const runOnce = createSingleFlight<Payment | undefined>();
  const openPayment = (token: string) => ({
    table: "payment",
    columns: columnsOf(context.orm.em, Payment),
    where: "return_token = ? and status in ('PENDING', 'EXPIRED')",
    values: [token],
    hasVersion: true,
  });

  const findPayment = (token: string) => context.orm.em.fork().findOne(Payment, { returnToken: token });

  /**
   * Settles the payment. Waits while another replica or the reconciler holds the payment's lease.
   */
  const settle = async (token: string, remainingMs: () => number): Promise<Payment | undefined> => {
    for (;;) {
      const settled = await withLease(context.orm, openPayment(token), (lease) => {
        const payment = context.orm.em.fork().map(Payment, lease.row);
        const options = { confirmFirst: true, remainingMs, requestedAt: lease.since };
        return forTenant(payment.businessId, () => settlePayment(context, payment, lease, options));
      });
      if (settled) return settled.result;
      const payment = await findPayment(token);
      if (!payment?.isOpen() || remainingMs() <= waitMs) return payment ?? undefined;
      await sleep(waitMs);
    }
  };

  return async (request, call) => {
    requirePlatform(call.caller);
    const { token } = request;
    const remainingMs = () => Math.max(1, call.remainingMs() - responseMs);
    if (!tokenForm.test(token)) throw returnTokenUnknown();
    const settled = await runOnce(token, remainingMs, (leftMs) => settle(token, leftMs));
    const payment = settled ?? (await findPayment(token));
    if (!payment) throw returnTokenUnknown();
    return { redirectUrl: buildRedirectUrl(payment) };
  };
};

/**
 * Adds `payment_id` and `status` to the business's URL. The existing query stays the same, byte for
 * byte.
 */
function buildRedirectUrl(payment: Payment): string {
  const url = new URL(payment.isSettled() ? payment.successUrl : payment.failUrl);
  url.search = `${url.search ? `${url.search}&` : ""}payment_id=${payment.id}&status=${payment.status}`;
  return url.toString();
}
