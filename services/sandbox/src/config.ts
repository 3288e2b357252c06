import { type EnvReader, type LogLevel, type MetricsAddress, readLogLevel, readMetricsAddress, settings } from "@amana/runtime";

export interface Config {
  readonly logLevel: LogLevel;
  readonly metrics?: MetricsAddress | undefined;
  readonly host: string;
  /** Port of the HTTP server. 0 selects a free port. */
  readonly port: number;
  /** Port of the SMTP server. 0 selects a free port. If absent, no SMTP server is started. */
  readonly smtpPort?: number;
  /** Base URL of hosted pages; defaults to the address on which the process listens. */
  readonly publicUrl?: string;
  /** Folder for the state. If undefined, the state is only in memory. */
  readonly dataDir?: string;
  readonly username: string;
  readonly password: string;
  /**
   * Returns numbers as JSON strings. The real processor returns numbers or strings, so callers must
   * accept both.
   */
  readonly numbersAsStrings: boolean;
  /** Bearer token of the verification provider's API. */
  readonly kycProviderToken: string;
  /** Base address of the vendors' callbacks. If undefined, the vendors send no callbacks. */
  readonly kycCallbackUrl?: string | undefined;
  readonly diditApiKey: string;
  readonly diditWebhookSecrets: readonly string[];
  /** Group ids of two workflows: one with an active liveness check, one with a single picture. */
  readonly diditWorkflows: { readonly video: string; readonly still: string };
  readonly sumsubAppToken: string;
  readonly sumsubSecretKey: string;
  readonly sumsubWebhookSecrets: readonly string[];
  /** Document types and liveness check of each level, by the name of the level. */
  readonly sumsubLevels: Readonly<Record<string, { readonly types: readonly string[]; readonly isStill: boolean }>>;
  readonly sumsubAmlPerMinute: number;
  /**
   * Secrets that sign callbacks; two secrets during a rotation. Each callback has one signature for
   * each secret.
   */
  readonly kycCallbackSecrets: readonly string[];
  /**
   * Delays between the attempts of a callback. The number of attempts is the number of delays plus
   * one.
   */
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
    ...readVendors(env),
    kycCallbackRetryMs: env.seconds("KYC_CALLBACK_RETRY_SECONDS", "5,30,120,600,3600").map((seconds) => seconds * 1000),
  };
});

const readVendors = (env: EnvReader) => ({
  kycCallbackUrl: env.optional("KYC_CALLBACK_URL") && env.url("KYC_CALLBACK_URL"),
  diditApiKey: env.string("KYC_DIDIT_API_KEY", "sandbox"),
  diditWebhookSecrets: env.string("KYC_DIDIT_WEBHOOK_SECRET", "provider-callback-secret").split(","),
  sumsubAppToken: env.string("KYC_SUMSUB_APP_TOKEN", "sbx:sandbox"),
  sumsubSecretKey: env.string("KYC_SUMSUB_SECRET_KEY", "sandbox"),
  sumsubWebhookSecrets: env.string("KYC_SUMSUB_WEBHOOK_SECRET", "provider-callback-secret").split(","),
  sumsubAmlPerMinute: env.integer("KYC_SUMSUB_AML_PER_MINUTE", { fallback: 600, min: 1 }),
  diditWorkflows: {
    video: env.string("KYC_DIDIT_WORKFLOW_ID", vendorPlans.diditWorkflows.video),
    still: env.string("KYC_DIDIT_WORKFLOW_ID_STILL", vendorPlans.diditWorkflows.still),
  },
  sumsubLevels: readLevels(env),
});

const levelSettings = ["", "_ID_CARD", "_PASSPORT", "_STILL", "_ID_CARD_STILL", "_PASSPORT_STILL"];

/** Reads the name of each level. The settings are in the order of `vendorPlans.sumsubLevels`. */
const readLevels = (env: EnvReader) =>
  Object.fromEntries(
    Object.entries(vendorPlans.sumsubLevels).map(([name, level], index) => [
      env.string(`KYC_SUMSUB_LEVEL${levelSettings[index]}`, name),
      level,
    ]),
  );

const [idCard, passport] = ["ID_CARD", "PASSPORT"];

/** Workflows and levels that exist at the simulated vendors. */
export const vendorPlans = {
  diditWorkflows: { video: "11111111-1111-4111-8111-111111111111", still: "22222222-2222-4222-8222-222222222222" },
  sumsubLevels: {
    amana: { types: [idCard, passport], isStill: false },
    "amana id card": { types: [idCard], isStill: false },
    "amana passport": { types: [passport], isStill: false },
    "amana still": { types: [idCard, passport], isStill: true },
    "amana id card still": { types: [idCard], isStill: true },
    "amana passport still": { types: [passport], isStill: true },
  },
};
