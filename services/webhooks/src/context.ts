import { EventEmitter } from "node:events";
import { createSecretBox } from "@amana/secret-box";
import type { ServiceParts } from "@amana/service-host";
import type { Config } from "./config.ts";
import { ConcurrencyLimits } from "./delivery/concurrency-limits.ts";
import type { NewDelivery } from "./event/new-delivery.ts";
import { createAddressGuard } from "./webhook-endpoint/address-guard.ts";

export type Context = Readonly<ReturnType<typeof createContext>>;

/** Signals to the worker of this process; without a worker nothing happens. */
interface DeliverySignals {
  /** Deliveries of new events were committed. */
  inserted: [readonly NewDelivery[]];
  /** Deliveries without a lease may have become due. */
  due: [];
}

/** What the use cases of this service work with. */
export const createContext = ({ config, orm, logger, clock }: ServiceParts<Config>) => ({
  orm,
  logger,
  clock,
  secrets: createSecretBox(config.secretEncryptionKeys),
  addresses: createAddressGuard({ allowInsecure: config.allowInsecureWebhooks }),
  delivery: {
    /** Waits between attempts; there is one attempt more. */
    pausesMs: config.retryScheduleSeconds.map((seconds) => seconds * 1000),
    /** For one attempt, from connecting to the headers of the answer. */
    timeoutMs: 10_000,
    /** Longer than a delivery takes, so that only a crash lets a lease end. */
    leaseMs: 30_000,
    /** Limit of attempts of a business in 24 hours; see `isAttemptLimitReached`. */
    attemptsPerDayMax: config.deliveryAttemptsPerDay,
    /** How long attempts may go on when the process stops. */
    stopMs: 8_000,
  },
  limits: new ConcurrencyLimits({
    total: config.deliveryConcurrency,
    perBusiness: config.businessConcurrency,
    perEndpoint: config.endpointConcurrency,
  }),
  signals: new EventEmitter<DeliverySignals>(),
});
