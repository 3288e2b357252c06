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
import type { Bulkhead } from "./bulkheads/bulkhead.ts";
import { createByteBounds } from "./bytes/byte-bounds.ts";
import { ByteCounters } from "./bytes/byte-counters.ts";
import type { IncomingBody } from "./bytes/incoming-body.ts";
import type { Config } from "./config.ts";
import { Connections } from "./connections.ts";
import { ApiKeyCache, type KeyAnswer } from "./key-lease/api-key-cache.ts";
import { createRateLimits, type RateLimitSettings } from "./rate-limit/rate-limits.ts";
import { SharedBuckets } from "./rate-limit/shared-buckets.ts";
import { createReadiness } from "./readiness.ts";
import { type Channels, createRpc } from "./rpc.ts";

const keyLookUpTimeoutMs = 3_000;
const drawTimeoutMs = 1_000;

/** The settings that routes go by. */
type Settings = Pick<
  Config,
  "allowInsecureUrls" | "byteBounds" | "connectionBounds" | "fingerprintKeys" | "loadBounds" | "traceRatio" | "trustedProxies"
> &
  Partial<Pick<Config, "sandboxUrl">>;

/** What the routes need. */
export type Gateway = ReturnType<typeof createGateway>;

/** `nowMs`: the clock of the limits. */
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
    new SharedBuckets({
      drawTokens: (draws) => rpc.rateLimits.drawTokens({ draws }, { caller: platformCaller, timeoutMs: drawTimeoutMs }),
    }),
  );
  return {
    ...settings,
    logger,
    rpc,
    keys: new ApiKeyCache({
      lookUp: (keyHashes) => rpc.keyLeases.resolveKeys({ keyHashes }, { caller: platformCaller, timeoutMs: keyLookUpTimeoutMs }),
    }),
    readiness: createReadiness(channels),
    connections: new Connections({ ...settings.connectionBounds, trustedProxies: settings.trustedProxies, nowMs }),
    limits,
    bytes: new ByteCounters(),
    byteBounds: createByteBounds(settings.byteBounds, limits.proven),
  };
}

/** Fastify with bodies and queries typed by their schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression<RawServerDefault>,
  RawReplyDefaultExpression<RawServerDefault>,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module "fastify" {
  interface FastifyContextConfig {
    /** A limit beside the one that all routes share. */
    rateLimit?: "kyc" | "refund";
    /** Where its calls wait and count, if that does not follow from what it is. */
    bulkhead?: Bulkhead;
    /** Answers at any load, for whoever supervises the process. */
    isUnbounded?: boolean;
  }
  interface FastifyRequest {
    /** Who calls; set by `authenticate`. */
    caller: Caller | null;
    /** What says so. */
    keyAnswer: KeyAnswer | null;
    /** The number of the caller's business on the platform; set by `authenticate`. */
    organizationId: number;
    /** The body while it is read; null for a request without a body. */
    incoming: IncomingBody | null;
    /** The body as it came, for the fingerprint of an idempotency key. */
    bodyBytes: Buffer | null;
    idempotencyKey: IdempotencyKey | null;
    /** W3C trace context of this request's calls. */
    traceparent: string;
    /** Set for requests of sampled traces. */
    span: Span | undefined;
  }
}
