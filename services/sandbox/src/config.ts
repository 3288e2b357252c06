import { type LogLevel, type MetricsAddress, readLogLevel, readMetricsAddress, settings } from "@amana/runtime";

export interface Config {
  readonly logLevel: LogLevel;
  readonly metrics?: MetricsAddress | undefined;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Port of the SMTP server; 0 takes any free port. Without it, no SMTP server is started. */
  readonly smtpPort?: number;
  /** Base URL of hosted pages; defaults to the address on which the process listens. */
  readonly publicUrl?: string;
  /** Folder of the state; without it the state is kept in memory only. */
  readonly dataDir?: string;
  readonly username: string;
  readonly password: string;
  /**
   * Sends numbers as strings. The real processor sends either form, so clients must handle both.
   */
  readonly numbersAsStrings: boolean;
  /** Bearer token of the verification provider's API. */
  readonly kycProviderToken: string;
  /** Every callback has a signature of each secret; two during a rotation. */
  readonly kycCallbackSecrets: readonly string[];
  /** Delays between the attempts of a callback. There is one attempt more than delays. */
  readonly kycCallbackRetryMs: readonly number[];
}

export const readConfig = settings((env): Config => {
  const dataDir = env.optional("SANDBOX_DATA_DIR");
  return {
    logLevel: readLogLevel(env),
    metrics: readMetricsAddress(env),
    host: env.string("HOST", "127.0.0.1"),
    port: env.integer("SANDBOX_PORT", { fallback: 8090, max: 65_535 }),
    ...(env.optional("SANDBOX_SMTP_PORT") && { smtpPort: env.integer("SANDBOX_SMTP_PORT", { max: 65_535 }) }),
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
