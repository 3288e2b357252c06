import { eventRetrySeconds, readTransportOptions } from "@amana/messaging";
import { readTlsFiles, readVouchingKeys } from "@amana/rpc";
import { type EnvSource, readEnv, readLogLevel } from "@amana/runtime";
import { readEncryptionKeys } from "@amana/secret-box";

export type Config = ReturnType<typeof readConfig>;

/** The settings of the webhooks service; `.env.example` explains each. */
export function readConfig(source?: EnvSource) {
  return readEnv(
    (env) => ({
      host: env.string("HOST", "127.0.0.1"),
      rpcPort: env.integer("RPC_PORT", { max: 65_535 }),
      databaseUrl: env.string("DATABASE_URL"),
      callerKeys: readVouchingKeys(env, "GATEWAY_PUBLIC_KEYS", "anyone"),
      tls: readTlsFiles(env),
      logLevel: readLogLevel(env),
      events: readTransportOptions(env, { emits: ["audit.v1"], consumes: ["payments.v1", "kyc.v1"] }),
      eventRetrySeconds: env.seconds("EVENT_RETRY_SECONDS", eventRetrySeconds),
      secretEncryptionKeys: readEncryptionKeys(env, "SECRET_ENCRYPTION_KEYS"),
      allowInsecureWebhooks: env.sandboxOnly("ALLOW_INSECURE_WEBHOOKS"),
      retryScheduleSeconds: env.seconds("RETRY_SCHEDULE_SECONDS", "30,120,600,1800,7200,21600,43200"),
      deliveryConcurrency: env.integer("DELIVERY_CONCURRENCY", { fallback: 256, min: 1, max: 4_096 }),
      businessConcurrency: env.integer("BUSINESS_CONCURRENCY", { fallback: 64, min: 1, max: 4_096 }),
      endpointConcurrency: env.integer("ENDPOINT_CONCURRENCY", { fallback: 16, min: 1, max: 256 }),
    }),
    source,
  );
}
