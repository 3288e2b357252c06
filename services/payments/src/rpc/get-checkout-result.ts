import { type CheckoutService, CheckoutState } from "@amana/contracts/payments/v1/checkout_service_pb";
import { type Implementation, requirePlatform } from "@amana/rpc";
import { forTenant } from "@amana/runtime";
import type { Context } from "../context.ts";
import { paymentNotFound } from "../payment/payment.errors.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { refreshPayment } from "../payment/refresh-payment.ts";
import { checkoutNotFound } from "../payment-link/payment-link.errors.ts";
import { toPaymentLinkMessage } from "../payment-link/payment-link.message.ts";
import { readCheckout } from "../payment-link/read-checkout.ts";

/** Longest time for which the caller waits for the processor. */
const refreshWaitMs = 3_000;

/**
 * Returns a payment link and one of its payments for the payment's result page. Refreshes the
 * payment first if it is PENDING.
 */
export const getCheckoutResult =
  (context: Context): Implementation<typeof CheckoutService.method.getCheckoutResult> =>
  async ({ linkToken, paymentToken }, { caller }) => {
    requirePlatform(caller);
    const read = async () => {
      const checkout = await readCheckout(context, linkToken, paymentToken);
      if (!checkout) throw checkoutNotFound();
      if (!checkout.payment) throw paymentNotFound();
      return { ...checkout, payment: checkout.payment };
    };
    let checkout = await read();
    const { businessId, id, status } = checkout.payment;
    if (status === "PENDING") {
      await forTenant(businessId, () => refreshPayment(context, businessId, id, refreshWaitMs));
      checkout = await read();
    }
    return {
      link: toPaymentLinkMessage(context)(checkout.link),
      payment: toPaymentMessage(checkout.payment, context),
      canTryAgain: checkout.state === CheckoutState.OPEN,
    };
  };
