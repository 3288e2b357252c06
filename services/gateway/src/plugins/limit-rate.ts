import type { FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import type { Gateway } from "../gateway.ts";
import type { Limit } from "../metrics.ts";
import type { Problem } from "../problem.ts";
import { networkOf } from "../rate-limit/network.ts";
import { overloaded, rateHeaders, rateLimited } from "../rate-limit/refusals.ts";
import { isCostlyRead, isCreation } from "../rate-limit/request-kind.ts";
import type { TokenBuckets } from "../rate-limit/token-buckets.ts";

/**
 * Draws tokens for a request. If the limit is exceeded, returns a problem. Otherwise sets the rate
 * headers of `reply`. Without `buckets`, the limit is off and the function does nothing.
 */
export function drawTokens(
  buckets: TokenBuckets | undefined,
  limit: Limit,
  key: string,
  { tokens = 1, reply }: { tokens?: number; reply?: FastifyReply } = {},
): Problem | undefined {
  if (!buckets) return undefined;
  const draw = buckets.draw(key, tokens);
  if (!draw.allowed) return rateLimited(limit, draw.retryAfterSeconds, { headers: rateHeaders(draw) });
  reply?.headers(rateHeaders(draw));
  return undefined;
}

/**
 * Counts a request of a business, for every route. Returns a problem if the business exceeds its
 * rate limit.
 */
export const limitBusiness = ({ limits }: Gateway, { caller }: FastifyRequest, reply: FastifyReply): Problem | undefined =>
  caller?.role === "business" ? drawTokens(limits.business, "business", caller.businessId, { reply }) : undefined;

/** Size of a body that counts as one additional request. */
const bytesPerRequest = 16 * 1024;

/**
 * Counts a large body of a business as additional requests, because the time to parse the body
 * grows with its size and delays other businesses. Throws a Problem if the business exceeds its
 * rate limit.
 */
export function limitBody({ limits }: Gateway, { caller }: FastifyRequest, bytes: number): void {
  const tokens = Math.floor(bytes / bytesPerRequest);
  if (caller?.role !== "business" || tokens === 0) return;
  const problem = drawTokens(limits.business, "business", caller.businessId, { tokens });
  if (problem) throw problem;
}

/** Number of JSON values in a body that count as one additional request. */
const valuesPerRequest = 500;

/**
 * Counts a body with many JSON values as additional requests, because a member with a short key
 * takes as much CPU time as 100 bytes of a string. The gateway counts the values while it reads
 * them, so the limit rejects a later request, never this one.
 */
export const limitValues = (gateway: Gateway, request: FastifyRequest, count: number): void =>
  charge(gateway, request, Math.floor(count / valuesPerRequest));

/** Size of a response that counts as one additional request. */
const responseBytesPerRequest = 64 * 1024;

/**
 * Counts a large response to a business as additional requests, because the services and the
 * gateway need time for each row. The limit rejects a later request, never this response.
 */
export const limitResponse = (gateway: Gateway, request: FastifyRequest, bytes: number): void =>
  charge(gateway, request, Math.floor(bytes / responseBytesPerRequest));

/** Counts a request of a business as additional requests, even beyond the rate limit. */
function charge({ limits }: Gateway, { caller }: FastifyRequest, tokens: number): void {
  if (caller?.role === "business" && tokens > 0) limits.business?.charge(caller.businessId, tokens);
}

/** Counts requests whose kind has its own limit for each business. */
export function limitByRequestKind({ limits }: Gateway): onRequestHookHandler {
  return (request, reply, done) => {
    const kind = kindOf(request);
    if (!kind || request.caller?.role !== "business") return done();
    // The rate headers of this request kind replace those of the business's limit, because the
    // caller reaches the limit of the request kind first.
    done(drawTokens(limits[kind], kind, request.caller.businessId, { reply }));
  };
}

function kindOf(request: FastifyRequest): "kyc" | "refund" | "creation" | "search" | undefined {
  const { rateLimit } = request.routeOptions.config;
  if (rateLimit) return rateLimit;
  if (isCreation(request)) return "creation";
  return isCostlyRead(request) ? "search" : undefined;
}

/**
 * Counts requests without a key, per network and in total. Networks in `limits.proven` are exempt.
 */
export function limitKeyless({ limits }: Gateway): onRequestHookHandler {
  return (request, _reply, done) => {
    const network = networkOf(request.ip);
    if (limits.proven.has(network)) return done();
    const problem = drawTokens(limits.keyless, "keyless", network);
    if (problem) return done(problem);
    done(limits.keylessTotal?.draw("").allowed === false ? overloaded("keyless") : undefined);
  };
}

/**
 * Counts requests for pages of payment links per network. There is no limit for all networks
 * together, so that many requests for one link do not block other links.
 */
export function limitPages({ limits }: Gateway): onRequestHookHandler {
  return (request, _reply, done) => {
    done(drawTokens(limits.keyless, "keyless", networkOf(request.ip)));
  };
}

/**
 * Counts the start of a payment at a link: first for the buyer's network at this link, then for the
 * link. The limit for the network prevents one network from using the whole limit of the link.
 * Throws a Problem if a limit is exceeded.
 */
export function limitCheckout({ limits }: Gateway, linkId: string, address: string): void {
  const problem =
    drawTokens(limits.checkout, "checkout", `${linkId} ${networkOf(address)}`) ??
    drawTokens(limits.checkoutLink, "checkout_link", linkId);
  if (problem) throw problem;
}
