import { type LogLevel, type MetricsAddress, readLogLevel, readMetricsAddress, settings } from "@amana/runtime";

export interface Config {
  readonly logLevel: LogLevel;
  readonly metrics?: MetricsAddress | undefined;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** What hosted pages' addresses begin with; without it, the address the process listens on. */
  readonly publicUrl?: string;
  /** Where the state is kept; without it, in memory only. */
  readonly dataDir?: string;
  readonly username: string;
  readonly password: string;
  /** The real processor sends its numbers either way, so a client must be tried with both. */
  readonly numbersAsStrings: boolean;
  /** The bearer token of the verification provider's port. */
  readonly kycProviderToken: string;
  /** Each signs every callback: more than one while a secret is being changed. */
  readonly kycCallbackSecrets: readonly string[];
  /** The pauses between the attempts to deliver a callback; one attempt more than pauses. */
  readonly kycCallbackRetryMs: readonly number[];
}

export const readConfig = settings((env): Config => {
  const dataDir = env.optional("SANDBOX_DATA_DIR");
  return {
    logLevel: readLogLevel(env),
    metrics: readMetricsAddress(env),
    host: env.string("HOST", "127.0.0.1"),
    port: env.integer("SANDBOX_PORT", { fallback: 8090, max: 65_535 }),
    ...(env.optional("SANDBOX_URL") && { publicUrl: env.url("SANDBOX_URL") }),
    ...(dataDir && { dataDir }),
    username: env.string("SATIM_USERNAME", "sandbox"),
    password: env.string("SATIM_PASSWORD", "sandbox"),
    numbersAsStrings: env.boolean("NUMBERS_AS_STRINGS", false),
    kycProviderToken: env.string("KYC_PROVIDER_TOKEN", "sandbox"),
    kycCallbackSecrets: env.string("KYC_CALLBACK_SECRET", "provider-callback-secret").split(","),
    kycCallbackRetryMs: env.seconds("KYC_CALLBACK_RETRY_SECONDS", "5,30,120,600,3600").map((seconds) => seconds * 1000),
  };
});
