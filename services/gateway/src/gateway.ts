import type { Caller, IdempotencyKey } from "@amana/rpc";
import type { Logger } from "@amana/runtime";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import type { Connections } from "./connections.ts";
import type { BelievedKeys, KeyAnswer } from "./key-lease/believed-keys.ts";
import type { Lane } from "./lanes/lane.ts";
import type { RateLimits } from "./rate-limit/rate-limits.ts";
import type { Readiness } from "./readiness.ts";
import type { Rpc } from "./rpc.ts";

/** What the routes need. */
export interface Gateway {
  readonly rpc: Rpc;
  readonly keys: BelievedKeys;
  readonly readiness: Readiness;
  readonly connections: Connections;
  readonly limits: RateLimits;
  /** Requests that may be being answered at once, in all and for one caller. */
  readonly loadBounds: { readonly total: number; readonly perCaller: number };
  readonly logger: Logger;
  /** Lets addresses that businesses give be plain http, for a sandbox on one machine. */
  readonly allowInsecureUrls: boolean;
  /** Keep fingerprints of request bodies from telling what they are of. The first is in use; a second counts too. */
  readonly fingerprintKeys: readonly Uint8Array[];
  /** Whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
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
    /** Where its calls do not hold up others, and are not held up, if that does not follow from what it is. */
    lane?: Lane;
    /** Answers at any load, for whoever supervises the process. */
    isUnbounded?: boolean;
  }
  interface FastifyRequest {
    /** Who calls; set by `authenticate`. */
    caller: Caller | null;
    /** What says so. */
    keyAnswer: KeyAnswer | null;
    /** The number of the caller's business on the platform, which the services know nothing of; set by `authenticate`. */
    organizationId: number;
    /** The body as it came, for the fingerprint of an idempotency key. */
    bodyBytes: Buffer | null;
    idempotencyKey: IdempotencyKey | null;
    /** W3C trace context of this request's calls. */
    traceparent: string;
  }
}
