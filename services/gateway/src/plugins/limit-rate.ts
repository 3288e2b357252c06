import type { FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import type { Gateway } from "../gateway.ts";
import { type Limit, rateLimitRefusals, requestsShed } from "../metrics.ts";
import { Problem } from "../problem.ts";
import { networkOf } from "../rate-limit/network.ts";
import { isCostlyRead, isCreation } from "../rate-limit/request-kind.ts";
import type { Draw } from "../rate-limit/token-buckets.ts";

/**
 * Counts a request of a business, for every route. Throws a Problem if the business exceeds its
 * rate limit.
 */
export function limitBusiness({ limits }: Gateway, { caller }: FastifyRequest, reply: FastifyReply): void {
  if (caller?.role !== "business" || !limits.business) return;
  const draw = limits.business.draw(caller.businessId);
  if (!draw.allowed) throw rateLimitProblem("business", draw);
  reply.headers(rateHeaders(draw));
}

/** Size of a body that counts as one additional request. */
const bytesPerRequest = 16 * 1024;

/**
 * Counts a large body of a business as additional requests, because the time to parse the body
 * grows with its size and delays other businesses. Throws a Problem if the business exceeds its
 * rate limit.
 */
export function limitBody({ limits }: Gateway, { caller }: FastifyRequest, bytes: number): void {
  const additionalRequests = Math.floor(bytes / bytesPerRequest);
  if (caller?.role !== "business" || !limits.business || additionalRequests === 0) return;
  const draw = limits.business.draw(caller.businessId, additionalRequests);
  if (!draw.allowed) throw rateLimitProblem("business", draw);
}

/** Counts requests whose kind has its own limit for each business. */
export function limitByRequestKind({ limits }: Gateway): onRequestHookHandler {
  return (request, reply, done) => {
    const kind = kindOf(request);
    const limit = kind && limits[kind];
    if (request.caller?.role !== "business" || !limit) return done();
    const draw = limit.draw(request.caller.businessId);
    if (!draw.allowed) return done(rateLimitProblem(kind, draw));
    // Replaces the headers of the business's limit, because the caller reaches the limit of this
    // request kind first.
    reply.headers(rateHeaders(draw));
    done();
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
    const draw = limits.keyless?.draw(network);
    if (draw && !draw.allowed) return done(rateLimitProblem("keyless", draw));
    if (limits.keylessTotal?.draw("").allowed === false) {
      requestsShed.inc({ bound: "keyless" });
      return done(Problem.of("overloaded"));
    }
    done();
  };
}

/**
 * Counts requests for pages of payment links per network. There is no limit for all networks
 * together, so that many requests for one link do not block other links.
 */
export function limitPages({ limits }: Gateway): onRequestHookHandler {
  return (request, _reply, done) => {
    const draw = limits.keyless?.draw(networkOf(request.ip));
    done(draw && !draw.allowed ? rateLimitProblem("keyless", draw) : undefined);
  };
}

/**
 * Counts the start of a payment at a link: first for the buyer's network at this link, then for the
 * link. The limit for the network prevents one network from using the whole limit of the link.
 * Throws a Problem if a limit is exceeded.
 */
export function limitCheckout({ limits }: Gateway, linkId: string, address: string): void {
  const ofNetwork = limits.checkout?.draw(`${linkId} ${networkOf(address)}`);
  if (ofNetwork && !ofNetwork.allowed) throw rateLimitProblem("checkout", ofNetwork);
  const ofLink = limits.checkoutLink?.draw(linkId);
  if (ofLink && !ofLink.allowed) throw rateLimitProblem("checkout_link", ofLink);
}

/** Creates the problem with status 429 for a rejected draw, and counts the rejection. */
export function rateLimitProblem(limit: Limit, draw: Draw): Problem {
  rateLimitRefusals.inc({ limit });
  return Problem.of("rate_limited", { headers: { "retry-after": String(draw.retryAfterSeconds), ...rateHeaders(draw) } });
}

const rateHeaders = ({ limit, remaining, resetSeconds }: Draw) => ({
  "ratelimit-limit": String(limit),
  "ratelimit-remaining": String(remaining),
  "ratelimit-reset": String(resetSeconds),
});
