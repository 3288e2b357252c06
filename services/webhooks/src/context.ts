import { EventEmitter } from "node:events";
import { atMostEveryForKey } from "@amana/runtime";
import { createSecretBox } from "@amana/secret-box";
import type { ServiceParts } from "@amana/service-host";
import type { Config } from "./config.ts";
import { ConcurrencyLimits } from "./delivery/concurrency-limits.ts";
import type { NewDelivery } from "./event/new-delivery.ts";
import { createAddressGuard } from "./http-client/address-guard.ts";
import type { DayOfAttempts } from "./webhook-endpoint/endpoint-health.ts";

export type Context = Readonly<ReturnType<typeof createContext>>;

/**
 * Signals to the delivery worker of this process. If no worker runs, the signals have no effect.
 */
interface DeliverySignals {
  /** Deliveries of new events were committed. */
  inserted: [readonly NewDelivery[]];
  /** Deliveries without a lease may have become due. */
  due: [];
}

/**
 * Sums over the many rows of `endpoint_health`. The process reads each sum at most once in the
 * given time, so that frequent requests of a business cost PostgreSQL little CPU time.
 */
export const createAttemptSums = ({ limitMs, healthMs }: { readonly limitMs: number; readonly healthMs: number }) => ({
  /** By business. See `isAttemptLimitReached`. */
  isLimitReached: atMostEveryForKey<boolean>(limitMs, 10_000),
  /** By endpoint. See `readAttemptsOfDay`. */
  dayOfEndpoint: atMostEveryForKey<readonly DayOfAttempts[]>(healthMs, 1_000),
});

export const createContext = ({ config, orm, logger, clock }: ServiceParts<Config>) => ({
  orm,
  logger,
  clock,
  secrets: createSecretBox(config.secretEncryptionKeys),
  addresses: createAddressGuard({ allowInsecure: config.allowInsecureWebhooks }),
  delivery: {
    /** Pauses between the attempts of a delivery. With n pauses, a delivery gets n + 1 attempts. */
    pausesMs: config.retryScheduleSeconds.map((seconds) => seconds * 1000),
    /** Maximum time of an attempt from the start of the connection to the response headers. */
    timeoutMs: 10_000,
    /**
     * Duration of a lease. It is longer than an attempt, so that a lease expires only after a
     * crash.
     */
    leaseMs: 30_000,
    /** Maximum number of attempts per business in 24 hours; see `isAttemptLimitReached`. */
    attemptsPerDayMax: config.deliveryAttemptsPerDay,
    /** Maximum time that attempts may continue after the process begins to stop. */
    stopMs: 8_000,
  },
  limits: new ConcurrencyLimits({
    total: config.deliveryConcurrency,
    perBusiness: config.businessConcurrency,
    perEndpoint: config.endpointConcurrency,
  }),
  attemptSums: createAttemptSums({ limitMs: 10_000, healthMs: 5_000 }),
  signals: new EventEmitter<DeliverySignals>(),
});
