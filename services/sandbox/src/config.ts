import { type EnvReader, readLogLevel, readMetricsAddress, settings } from "@amana/runtime";

export type Config = ReturnType<typeof readConfig>;

/** Reads a URL. Returns undefined if the setting is not set. */
const optionalUrl = (env: EnvReader, name: string) => (env.optional(name) === undefined ? undefined : env.url(name));

/** Settings of the sandbox. `.env.example` describes them. */
export const readConfig = settings((env) => ({
  logLevel: readLogLevel(env),
  metrics: readMetricsAddress(env),
  host: env.string("HOST", "127.0.0.1"),
  /** Port of the HTTP server. 0 selects a free port. */
  port: env.integer("SANDBOX_PORT", { fallback: 8090, max: 65_535 }),
  /** Port of the SMTP server. 0 selects a free port. If undefined, no SMTP server is started. */
  smtpPort: env.optional("SANDBOX_SMTP_PORT") === undefined ? undefined : env.integer("SANDBOX_SMTP_PORT", { max: 65_535 }),
  /** Base URL of hosted pages. Default: the address on which the process listens. */
  publicUrl: optionalUrl(env, "SANDBOX_URL"),
  /** Folder for the state. If undefined, the state is only in memory. */
  dataDir: env.optional("SANDBOX_DATA_DIR"),
  username: env.string("SATIM_USERNAME", "sandbox"),
  password: env.string("SATIM_PASSWORD", "sandbox"),
  /**
   * Returns numbers as JSON strings. The real processor returns numbers or strings, so callers must
   * accept both.
   */
  numbersAsStrings: env.boolean("NUMBERS_AS_STRINGS", false),
  /** Bearer token of the verification provider's API. */
  kycProviderToken: env.string("KYC_PROVIDER_TOKEN", "sandbox"),
  /**
   * Secrets that sign callbacks; two secrets during a rotation. Each callback has one signature for
   * each secret.
   */
  kycCallbackSecrets: env.string("KYC_CALLBACK_SECRET", "provider-callback-secret").split(","),
  /**
   * Delays between the attempts of a callback. The number of attempts is the number of delays plus
   * one.
   */
  kycCallbackRetryMs: env.seconds("KYC_CALLBACK_RETRY_SECONDS", "5,30,120,600,3600").map((seconds) => seconds * 1000),
  /** Base address of the vendors' callbacks. If undefined, the vendors send no callbacks. */
  kycCallbackUrl: optionalUrl(env, "KYC_CALLBACK_URL"),
  diditApiKey: env.string("KYC_DIDIT_API_KEY", "sandbox"),
  diditWebhookSecrets: env.string("KYC_DIDIT_WEBHOOK_SECRET", "provider-callback-secret").split(","),
  sumsubAppToken: env.string("KYC_SUMSUB_APP_TOKEN", "sbx:sandbox"),
  sumsubSecretKey: env.string("KYC_SUMSUB_SECRET_KEY", "sandbox"),
  sumsubWebhookSecrets: env.string("KYC_SUMSUB_WEBHOOK_SECRET", "provider-callback-secret").split(","),
  sumsubAmlPerMinute: env.integer("KYC_SUMSUB_AML_PER_MINUTE", { fallback: 600, min: 1 }),
  /** Group ids of two workflows: one with an active liveness check, one with a single picture. */
  diditWorkflows: {
    video: env.string("KYC_DIDIT_WORKFLOW_ID", "11111111-1111-4111-8111-111111111111"),
    still: env.string("KYC_DIDIT_WORKFLOW_ID_STILL", "22222222-2222-4222-8222-222222222222"),
  },
  /** Document types and liveness check of each level, by the name of the level. */
  sumsubLevels: Object.fromEntries(levels.map(({ setting, name, ...level }) => [env.string(setting, name), level])),
}));

const [idCard, passport] = ["ID_CARD", "PASSPORT"];

/** Levels of the simulated Sumsub. `name` is the default of the setting for the level's name. */
const levels = [
  { setting: "KYC_SUMSUB_LEVEL", name: "amana", types: [idCard, passport], isStill: false },
  { setting: "KYC_SUMSUB_LEVEL_ID_CARD", name: "amana id card", types: [idCard], isStill: false },
  { setting: "KYC_SUMSUB_LEVEL_PASSPORT", name: "amana passport", types: [passport], isStill: false },
  { setting: "KYC_SUMSUB_LEVEL_STILL", name: "amana still", types: [idCard, passport], isStill: true },
  { setting: "KYC_SUMSUB_LEVEL_ID_CARD_STILL", name: "amana id card still", types: [idCard], isStill: true },
  { setting: "KYC_SUMSUB_LEVEL_PASSPORT_STILL", name: "amana passport still", types: [passport], isStill: true },
];
