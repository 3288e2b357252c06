import { type Caller, type IdempotencyKey, platformCaller } from "@amana/rpc";
import type { Logger, Span } from "@amana/runtime";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import { BoundedCounters } from "./bounded-counters.ts";
import type { Bulkhead } from "./bulkheads/bulkhead.ts";
import type { IncomingBody } from "./bytes/incoming-body.ts";
import { createCallerBounds } from "./caller-bounds.ts";
import type { Config } from "./config.ts";
import { Connections } from "./connections.ts";
import { ApiKeyCache, type ResolvedKey } from "./key-lease/api-key-cache.ts";
import { BusinessCache } from "./key-lease/business-cache.ts";
import { bytesAtOnce } from "./metrics.ts";
import { createRateLimits, type RateLimitSettings } from "./rate-limit/rate-limits.ts";
import { overloaded, rateLimited } from "./rate-limit/refusals.ts";
import { SharedBuckets } from "./rate-limit/shared-buckets.ts";
import { createReadiness } from "./readiness.ts";
import { type Channels, createRpc } from "./rpc.ts";

const keyLookUpTimeoutMs = 3_000;
const drawTimeoutMs = 1_000;
/**
 * Ratio of the limit of all requests without a valid key to the limit RATE_LIMIT_KEYLESS_PER_SECOND
 * of the routes that need no key. A page loads several files, and rejected requests count too.
 */
const keylessRatio = 20;

/** Settings that plugins and routes read. */
type Settings = Pick<
  Config,
  | "allowInsecureUrls"
  | "byteBounds"
  | "checkout"
  | "connectionBounds"
  | "fingerprintKeys"
  | "loadBounds"
  | "traceRatio"
  | "trustedProxies"
> &
  Partial<Pick<Config, "sandboxUrl">>;

/** Dependencies and settings of plugins and routes. */
export type Gateway = ReturnType<typeof createGateway>;

/**
 * Creates the dependencies of plugins and routes. `nowMs` is the clock of the rate limits and
 * connection limits.
 */
export function createGateway(
  channels: Channels,
  { rateLimits, ...settings }: Settings & { readonly rateLimits: RateLimitSettings },
  logger: Logger,
  nowMs?: () => number,
) {
  const rpc = createRpc(channels);
  const limits = createRateLimits(
    rateLimits,
    nowMs,
    new SharedBuckets((draws) => rpc.rateLimits.drawTokens({ draws }, { caller: platformCaller, timeoutMs: drawTimeoutMs })),
  );
  return {
    ...settings,
    logger,
    rpc,
    keys: new ApiKeyCache({
      lookUp: (keyHashes) => rpc.keyLeases.resolveKeys({ keyHashes }, { caller: platformCaller, timeoutMs: keyLookUpTimeoutMs }),
    }),
    businesses: new BusinessCache({
      lookUp: (businessId) =>
        rpc.keyLeases.resolveBusiness({ businessId }, { caller: platformCaller, timeoutMs: keyLookUpTimeoutMs }),
    }),
    readiness: createReadiness(channels),
    connections: new Connections({
      ...settings.connectionBounds,
      keylessPerSecond: keylessRatio * (rateLimits.keylessPerSecond ?? 0),
      proven: limits.proven,
      trustedProxies: settings.trustedProxies,
      nowMs,
    }),
    limits,
    bytes: new BoundedCounters((total) => bytesAtOnce.set(total)),
    byteBounds: createCallerBounds(settings.byteBounds, { caller: tooManyBytes, all: () => overloaded("bytes") }, limits.proven),
  };
}

const tooManyBytes = () =>
  rateLimited("bytes", 1, {
    detail: "Too many bytes in requests and unread responses. Read the pending responses, then send the request again.",
  });

/** A Fastify instance in which bodies and queries have the types of their schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression<RawServerDefault>,
  RawReplyDefaultExpression<RawServerDefault>,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module "fastify" {
  interface FastifyContextConfig {
    /**
     * Additional rate limit of the route. Requests to all routes also count towards the rate limit
     * of the business.
     */
    rateLimit?: "kyc" | "refund";
    /** True for a list whose filters have no index. */
    hasCostlyFilters?: boolean;
    /**
     * Bulkhead of the route's RPCs. If absent, `bulkheadOf` derives the bulkhead from the request.
     */
    bulkhead?: Bulkhead;
    /** Excludes health checks from the limits of requests and bytes in flight. */
    isUnbounded?: boolean;
    /**
     * Excludes the route from the duration metric. The duration of a streamed response depends on
     * its length and on the speed of its reader.
     */
    isStreamed?: boolean;
  }
  interface FastifyRequest {
    /** Set by `authenticate`. */
    caller: Caller | null;
    /** The resolved key from which `caller` was set. */
    resolvedKey: ResolvedKey | null;
    /** The body while it is read; null for a request without a body. */
    incoming: IncomingBody | null;
    /** Raw body, from which the fingerprint of an idempotent request is computed. */
    bodyBytes: Buffer | null;
    idempotencyKey: IdempotencyKey | null;
    /** W3C trace context of the RPCs that this request causes. */
    traceparent: string;
    /** Undefined if the trace of the request is not sampled. */
    span: Span | undefined;
  }
}
