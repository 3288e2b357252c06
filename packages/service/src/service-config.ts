import { eventRetrySeconds, readTransportOptions, type TransportOptions } from "@amana/messaging";
import { readTlsFiles, readVouchingKeys, type TlsFiles, type VouchingKey } from "@amana/rpc";
import { type EnvReader, type LogLevel, readLogLevel } from "@amana/runtime";

/** The settings that all services with a database have. */
export interface ServiceConfig {
  readonly host: string;
  readonly rpcPort: number;
  readonly databaseUrl: string;
  readonly callerKeys: readonly VouchingKey[];
  readonly tls: TlsFiles | undefined;
  readonly logLevel: LogLevel;
  /** The topics that the service's outbox is relayed to; none: it has no outbox. */
  readonly emits: readonly string[];
  readonly events: TransportOptions;
  readonly eventRetrySeconds: readonly number[];
}

/** Reads them. `topics` names what the service emits and consumes. */
export function readServiceConfig(
  env: EnvReader,
  topics: { emits?: readonly string[]; consumes?: readonly string[] },
): ServiceConfig {
  const { emits = [], consumes = [] } = topics;
  return {
    host: env.string("HOST", "127.0.0.1"),
    rpcPort: env.integer("RPC_PORT", { max: 65_535 }),
    databaseUrl: env.string("DATABASE_URL"),
    callerKeys: readVouchingKeys(env, "GATEWAY_PUBLIC_KEYS", "anyone"),
    tls: readTlsFiles(env),
    logLevel: readLogLevel(env),
    emits,
    events: readTransportOptions(env, { emits, consumes }),
    eventRetrySeconds: env.seconds("EVENT_RETRY_SECONDS", eventRetrySeconds),
  };
}
