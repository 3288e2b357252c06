import { settings } from "@amana/runtime";
import { readEncryptionKeys } from "@amana/secret-box";
import { readServiceConfig } from "@amana/service-host";

export type Config = ReturnType<typeof readConfig>;

/** Settings of the webhooks service, documented in `.env.example`. */
export const readConfig = settings((env) => ({
  ...readServiceConfig(env, { emits: ["audit.v1"], consumes: ["payments.v1", "kyc.v1"] }),
  secretEncryptionKeys: readEncryptionKeys(env, "SECRET_ENCRYPTION_KEYS"),
  allowInsecureWebhooks: env.sandboxOnly("ALLOW_INSECURE_WEBHOOKS"),
  retryScheduleSeconds: env.seconds("RETRY_SCHEDULE_SECONDS", "30,120,600,1800,7200,21600,43200"),
  deliveryConcurrency: env.integer("DELIVERY_CONCURRENCY", { fallback: 1_024, min: 1, max: 4_096 }),
  businessConcurrency: env.integer("BUSINESS_CONCURRENCY", { fallback: 256, min: 1, max: 4_096 }),
  deliveryAttemptsPerDay: env.integer("DELIVERY_ATTEMPTS_PER_DAY", { fallback: 1_000_000, min: 1, max: 1_000_000_000 }),
  endpointConcurrency: env.integer("ENDPOINT_CONCURRENCY", { fallback: 32, min: 1, max: 256 }),
}));
