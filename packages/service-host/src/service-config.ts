import { readDatabaseUrl } from "@amana/database";
import { eventRetrySeconds, readTransportOptions } from "@amana/messaging";
import { readTlsFiles, readTrustedKeys } from "@amana/rpc";
import { type EnvReader, readLogLevel, readMetricsAddress, readTracing } from "@amana/runtime";

/** Settings of all services with a database. */
export type ServiceConfig = ReturnType<typeof readServiceConfig>;

/** Reads the common settings. `topics`: the topics that the service emits and consumes. */
export function readServiceConfig(env: EnvReader, topics: { emits?: readonly string[]; consumes?: readonly string[] }) {
  const { emits = [], consumes = [] } = topics;
  return {
    host: env.string("HOST", "127.0.0.1"),
    rpcPort: env.integer("RPC_PORT", { max: 65_535 }),
    databaseUrl: readDatabaseUrl(env),
    callerKeys: readTrustedKeys(env, "GATEWAY_PUBLIC_KEYS", "anyone"),
    tls: readTlsFiles(env),
    logLevel: readLogLevel(env),
    metrics: readMetricsAddress(env),
    tracing: readTracing(env),
    /** Topics to which the service's outbox is relayed; empty for a service without an outbox. */
    emits,
    events: readTransportOptions(env, { emits, consumes }),
    eventRetrySeconds: env.seconds("EVENT_RETRY_SECONDS", eventRetrySeconds),
  };
}
