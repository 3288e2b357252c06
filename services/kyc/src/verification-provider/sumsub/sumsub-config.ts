import type { EnvReader } from "@amana/runtime";
import type { VendorConfig } from "../profile.ts";
import type { DocumentType } from "../verification-provider.ts";

export type SumsubConfig = ReturnType<typeof readSumsubConfig>;

export function readSumsubConfig(env: EnvReader, common: VendorConfig) {
  const appToken = env.string("KYC_SUMSUB_APP_TOKEN");
  const isSandbox = env.boolean("KYC_SUMSUB_SANDBOX", false);
  const isSandboxToken = appToken.startsWith("sbx:");
  if (appToken !== "" && isSandboxToken !== isSandbox) {
    env.problem(
      `KYC_SUMSUB_SANDBOX must be ${isSandboxToken}, because KYC_SUMSUB_APP_TOKEN is a token of ${isSandboxToken ? "the sandbox" : "production"}`,
    );
  }
  if (isSandboxToken) env.refuseInProduction("KYC_SUMSUB_APP_TOKEN");
  /**
   * Reads the names of the levels for one kind of selfie. `both` accepts both document types, and
   * the other levels accept only one.
   */
  const readLevels = (suffix: string) => ({
    both: env.optional(`KYC_SUMSUB_LEVEL${suffix}`),
    id_card: env.optional(`KYC_SUMSUB_LEVEL_ID_CARD${suffix}`),
    passport: env.optional(`KYC_SUMSUB_LEVEL_PASSPORT${suffix}`),
  });
  env.string("KYC_SUMSUB_LEVEL");
  return {
    ...common,
    /** Base URL without "/resources". */
    url: env.externalUrl("KYC_SUMSUB_URL"),
    appToken,
    secretKey: env.string("KYC_SUMSUB_SECRET_KEY"),
    /** True if the token belongs to Sumsub's test mode. */
    isSandbox,
    /** Levels with a passive liveness check. */
    video: readLevels(""),
    /** Levels with a photo instead of a video, for `require_video: false`. */
    still: readLevels("_STILL"),
    ttlHours: env.integer("KYC_SUMSUB_TTL_HOURS", { fallback: 72, min: 1, max: 8_760 }),
    ttlHoursMax: env.integer("KYC_SUMSUB_TTL_HOURS_MAX", { fallback: 720, min: 1, max: 8_760 }),
    /**
     * Sumsub's rate limit for AML cases, in reads per minute. Sumsub increases this limit on
     * request.
     */
    amlPerMinute: env.integer("KYC_SUMSUB_AML_PER_MINUTE", { fallback: 10, min: 1, max: 6_000 }),
    webhookSecrets: env.words("KYC_SUMSUB_WEBHOOK_SECRETS"),
    /** Id of the webhook; only `amana kyc-provider check` reads it. */
    webhookId: env.optional("KYC_SUMSUB_WEBHOOK_ID"),
  };
}

/**
 * Returns the level for an application's requirements, or undefined if no level is configured for
 * them.
 */
export function levelFor(
  { video, still }: Pick<SumsubConfig, "video" | "still">,
  { requireVideo, allowedDocuments }: { requireVideo: boolean; allowedDocuments: readonly DocumentType[] },
): string | undefined {
  const levels = requireVideo ? video : still;
  const [only] = allowedDocuments;
  return allowedDocuments.length === 1 && only ? levels[only] : levels.both;
}
