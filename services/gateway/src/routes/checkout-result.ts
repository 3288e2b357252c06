import type { CheckoutResult } from "@amana/contracts/payments/v1/checkout_service_pb";
import type { Payment } from "@amana/contracts/payments/v1/payment_pb";
import { parseLanguage } from "@amana/pages";
import type { FastifyReply, FastifyRequest } from "fastify";
import { requestLogFields } from "../call.ts";
import { checkoutCall, languageOf, linkTokenOf } from "../checkout/open-link.ts";
import { problemOf } from "../errors.ts";
import type { App, Gateway } from "../gateway.ts";
import { sendCheckoutPage, viewOf } from "../pages/checkout/layout.ts";
import { resultPage, unknownResultPage } from "../pages/checkout/result-page.ts";
import { hasReceipt } from "../receipts/receipt.ts";

/**
 * Timeout of the RPC. The payments service may read the payment at the processor before it
 * responds.
 */
const resultTimeoutMs = 15_000;
const receiptTimeoutMs = 2_000;
const paymentTokenForm = /^[0-9a-f]{64}$/;

/**
 * Serves the result of a payment to the buyer, whose browser returns from the processor. The page
 * is available even after the link or its business was deactivated.
 */
export function checkoutResult(app: App, gateway: Gateway): void {
  const { rpc, businesses, logger } = gateway;

  app.get("/:token/result/:paymentToken", { exposeHeadRoute: false }, async (request, reply) => {
    const { paymentToken } = request.params as { paymentToken: string };
    const linkToken = linkTokenOf(request);
    const address = `/pay/${linkToken}/result/${paymentToken}`;
    const found = paymentTokenForm.test(paymentToken) ? await find(request, reply, linkToken, paymentToken) : undefined;
    if (!found?.link || !found.payment) {
      const view = viewOf(languageOf(request), address);
      return sendCheckoutPage(reply, view, unknownResultPage(view));
    }
    const { link, payment } = found;
    request.pageLanguage = parseLanguage(payment.language) ?? null;
    const view = viewOf(languageOf(request), address);
    const [business, canSendEmail] = await Promise.all([
      resolveBusiness(request, link.businessId),
      readCanSendEmail(request, reply, payment, paymentToken),
    ]);
    const canTryAgain = found.canTryAgain && business.isActive;
    const page = { link, linkToken, payment, paymentToken, businessName: business.name, canTryAgain, canSendEmail };
    return sendCheckoutPage(reply, view, resultPage(view, page));
  });

  /** Returns undefined for an unknown link or payment. */
  const find = async (
    request: FastifyRequest,
    reply: FastifyReply,
    linkToken: string,
    paymentToken: string,
  ): Promise<CheckoutResult | undefined> => {
    try {
      const call = checkoutCall(request, reply, resultTimeoutMs, linkToken);
      return await rpc.checkout.getCheckoutResult({ linkToken, paymentToken }, call);
    } catch (error) {
      const problem = problemOf(error, request, logger);
      if (problem.status === 404) return undefined;
      throw problem;
    }
  };

  /**
   * Returns the business. If identity does not respond, the name is empty and the page omits it.
   */
  const resolveBusiness = async (request: FastifyRequest, businessId: string) => {
    try {
      return await businesses.resolve(businessId);
    } catch (error) {
      logger.warn(
        { err: error, ...requestLogFields(request) },
        "payment result page sent without the business's name, call to identity failed",
      );
      return { name: "", isActive: false };
    }
  };

  /**
   * Returns whether the buyer can request the receipt by e-mail. Returns false if the payments
   * service does not respond.
   */
  const readCanSendEmail = async (request: FastifyRequest, reply: FastifyReply, payment: Payment, token: string) => {
    if (!hasReceipt(payment)) return false;
    try {
      return (await rpc.receipts.findReceipt({ token }, checkoutCall(request, reply, receiptTimeoutMs, token))).canSendEmail;
    } catch (error) {
      logger.warn(
        { err: error, ...requestLogFields(request) },
        "payment result page sent without the e-mail button, call to payments failed",
      );
      return false;
    }
  };
}
