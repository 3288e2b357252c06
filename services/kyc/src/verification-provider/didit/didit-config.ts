import type { EnvReader } from "@amana/runtime";
import type { VendorConfig } from "../profile.ts";

export type DiditConfig = ReturnType<typeof readDiditConfig>;

export function readDiditConfig(env: EnvReader, common: VendorConfig) {
  const environment = env.choice("KYC_DIDIT_ENVIRONMENT", ["live", "sandbox"], "live");
  // Rejects Didit's test mode in production, because there a configured scenario sets the result
  // and nothing is checked.
  if (environment === "sandbox") env.refuseInProduction("KYC_DIDIT_ENVIRONMENT=sandbox");
  return {
    ...common,
    /** Base URL without "/v3". */
    url: env.externalUrl("KYC_DIDIT_URL"),
    apiKey: env.string("KYC_DIDIT_API_KEY"),
    /** Value of `environment` in the responses and callbacks of this API key. */
    environment,
    /** Group id of the workflow with an active liveness check, which records a video. */
    workflowId: env.string("KYC_DIDIT_WORKFLOW_ID"),
    /** Group id of the workflow that evaluates one picture, for `require_video: false`. */
    workflowIdStill: env.optional("KYC_DIDIT_WORKFLOW_ID_STILL"),
    webhookSecrets: env.words("KYC_DIDIT_WEBHOOK_SECRETS"),
    /** Id of the webhook destination; only `amana kyc-provider check` reads it. */
    destinationId: env.optional("KYC_DIDIT_DESTINATION_ID"),
  };
}
