import type { CheckoutService } from "@amana/contracts/payments/v1/checkout_service_pb";
import { type Implementation, requirePlatform } from "@amana/rpc";
import type { Context } from "../context.ts";
import { toPaymentMessage } from "../payment/payment.message.ts";
import { checkoutNotFound } from "../payment-link/payment-link.errors.ts";
import { toPaymentLinkMessage } from "../payment-link/payment-link.message.ts";
import { readCheckout } from "../payment-link/read-checkout.ts";

/**
 * Returns a payment link and its state for the checkout page. Includes the browser's payment while
 * the card holder can pay it.
 */
export const getCheckout =
  (context: Context): Implementation<typeof CheckoutService.method.getCheckout> =>
  async ({ linkToken, paymentToken }, { caller }) => {
    requirePlatform(caller);
    const checkout = await readCheckout(context, linkToken, paymentToken);
    if (!checkout) throw checkoutNotFound();
    const { link, state, payment, isPayable } = checkout;
    return {
      link: toPaymentLinkMessage(context)(link),
      state,
      ...(payment && isPayable && { payment: toPaymentMessage(payment, context) }),
    };
  };
