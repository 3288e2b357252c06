import { type Checkout, CheckoutState } from "@amana/contracts/payments/v1/checkout_service_pb";
import type { PaymentLink } from "@amana/contracts/payments/v1/payment_link_pb";
import { type Language, parseLanguage, preferredLanguage } from "@amana/pages";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { BulkheadCall } from "../bulkheads/bulkhead-channel.ts";
import { callOf } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { Problem } from "../problem.ts";

/** A link whose page may be shown. */
export interface OpenLink {
  readonly checkout: Checkout;
  readonly link: PaymentLink;
  readonly linkToken: string;
  readonly businessName: string;
  readonly isFull: boolean;
}

/** Pattern of link tokens. The gateway rejects any other text without a call to a service. */
const linkTokenForm = /^[\w-]{16,64}$/;
const readTimeoutMs = 5_000;

/** Returns the link token of the path. Throws not_found for a text that is no token. */
export function linkTokenOf(request: FastifyRequest): string {
  const { token = "" } = request.params as { token?: string };
  if (!linkTokenForm.test(token)) throw Problem.of("not_found");
  return token;
}

/**
 * Reads the link of a page and its business. Throws not_found for an unknown link, and a 410 for a
 * link that is not available, or whose business is not active. All reasons have the same 410.
 */
export async function openLink(
  { rpc, businesses }: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  paymentToken?: string,
): Promise<OpenLink> {
  const linkToken = linkTokenOf(request);
  const checkout = await rpc.checkout.getCheckout(
    { linkToken, ...(paymentToken !== undefined && { paymentToken }) },
    pageCall(request, reply, linkToken),
  );
  const { link, state } = checkout;
  if (!link) throw new TypeError("GetCheckout returned no link");
  request.pageLanguage ??= parseLanguage(link.language) ?? null;
  const business = await businesses.resolve(link.businessId);
  if (state === CheckoutState.UNAVAILABLE || !business.isActive) throw linkNotAvailable();
  return { checkout, link, linkToken, businessName: business.name, isFull: state === CheckoutState.FULL };
}

export const linkNotAvailable = (): Problem =>
  new Problem(410, "payment_link_not_available", "The payment link is no longer available.");

/** Returns the options of a read for a page. The bulkhead shares its slots fairly between links. */
const pageCall = (request: FastifyRequest, reply: FastifyReply, linkToken: string): BulkheadCall => ({
  ...callOf(request, reply, readTimeoutMs),
  bulkhead: "page",
  fairQueueKey: linkToken,
});

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
 * Returns the language in the query. Without it, returns the language of the form or link, and
 * without that language, the preferred language of the browser.
 */
export function languageOf(request: FastifyRequest): Language {
  // Fastify does not parse the query of a malformed address.
  const query = request.query as { lang?: unknown } | null;
  return parseLanguage(query?.lang) ?? request.pageLanguage ?? preferredLanguage(request.headers["accept-language"]);
}

declare module "fastify" {
  interface FastifyRequest {
    /** Language of the form or of the link; null before they are read. */
    pageLanguage: Language | null;
  }
}
