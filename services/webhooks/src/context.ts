import { createSecretBox } from "@amana/secret-box";
import type { ServiceParts } from "@amana/service";
import type { Config } from "./config.ts";
import { Dispatcher } from "./delivery/dispatcher.ts";
import { createAddressGuard } from "./webhook-endpoint/address-guard.ts";

export type Context = Readonly<ReturnType<typeof createContext>>;

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
    /** Limit of attempts of a business in 24 hours; see `isAttemptLimitReached`. */
    attemptsPerDayMax: config.deliveryAttemptsPerDay,
    /** How long attempts may go on when the process stops. */
    stopMs: 8_000,
  },
  dispatcher: new Dispatcher({
    total: config.deliveryConcurrency,
    perBusiness: config.businessConcurrency,
    perEndpoint: config.endpointConcurrency,
  }),
});
