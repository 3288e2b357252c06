import { type Checkout, CheckoutState } from "@amana/contracts/payments/v1/checkout_service_pb";
import { type Language, parseLanguage, preferredLanguage } from "@amana/pages";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { BulkheadCall } from "../bulkheads/bulkhead-channel.ts";
import { callOf } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { ShownLink } from "../pages/checkout/layout.ts";
import { Problem } from "../problem.ts";

/** A payment link whose page the gateway may show to buyers. */
export interface OpenLink extends ShownLink {
  readonly checkout: Checkout;
  readonly isFull: boolean;
}

/** Pattern of link tokens. The gateway rejects any other text without a call to a service. */
const linkTokenForm = /^[\w-]{16,64}$/;

/**
 * Returns the link token in the path. Throws `not_found` if the text does not match the pattern of
 * link tokens.
 */
export function linkTokenOf(request: FastifyRequest): string {
  const { token = "" } = request.params as { token?: string };
  if (!linkTokenForm.test(token)) throw Problem.of("not_found");
  return token;
}

/**
 * Reads the payment link of a page and the link's business. Throws `not_found` if the link is
 * unknown. Throws a problem with status 410 if the link is not available or its business is not
 * active; this problem does not contain the reason.
 */
export async function openLink(
  { rpc, businesses }: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  paymentToken?: string,
): Promise<OpenLink> {
  const linkToken = linkTokenOf(request);
  // The bulkhead shares its slots fairly between links.
  const call: BulkheadCall = { ...callOf(request, reply), bulkhead: "page", fairQueueKey: linkToken };
  const checkout = await rpc.checkout.getCheckout({ linkToken, ...(paymentToken !== undefined && { paymentToken }) }, call);
  const { link, state } = checkout;
  if (!link) throw new TypeError("GetCheckout returned no link");
  request.pageLanguage ??= parseLanguage(link.language) ?? null;
  const business = await businesses.resolve(link.businessId);
  if (state === CheckoutState.UNAVAILABLE || !business.isActive) throw linkNotAvailable();
  return { checkout, link, linkToken, businessName: business.name, isFull: state === CheckoutState.FULL };
}

export const linkNotAvailable = (): Problem =>
  new Problem(410, "payment_link_not_available", "The payment link is no longer available.");

/** Returns the options of a call that may wait for the card processor. */
export const checkoutCall = (
  request: FastifyRequest,
  reply: FastifyReply,
  timeoutMs: number,
  fairQueueKey: string,
): BulkheadCall => ({
  ...callOf(request, reply, timeoutMs),
  bulkhead: "checkout",
  fairQueueKey,
});

/**
 * Returns the language for a page. Uses the first of these that is set: the language in the query,
 * the language of the form or link, the preferred language of the browser.
 */
export function languageOf(request: FastifyRequest): Language {
  // Fastify does not parse the query of a malformed address.
  const query = request.query as { lang?: unknown } | null;
  return parseLanguage(query?.lang) ?? request.pageLanguage ?? preferredLanguage(request.headers["accept-language"]);
}

declare module "fastify" {
  interface FastifyRequest {
    /** Language of the form or of the link; null before the gateway has read the form or link. */
    pageLanguage: Language | null;
  }
}
