import type { EnvReader } from "@amana/runtime";
import type { UncomparedFieldPolicy } from "../profile.ts";

export interface DiditConfig {
  /** Base URL without "/v3". */
  readonly url: string;
  readonly apiKey: string;
  /** Value of `environment` in the responses and callbacks of this API key. */
  readonly environment: "live" | "sandbox";
  /** Group id of the workflow with an active liveness check, which records a video. */
  readonly workflowId: string;
  /** Group id of the workflow that evaluates one picture, for `require_video: false`. */
  readonly workflowIdStill: string | undefined;
  readonly webhookSecrets: readonly string[];
  /** Id of the webhook destination; only `amana kyc-provider check` reads it. */
  readonly destinationId: string | undefined;
  readonly callbackUrl: string;
  readonly uncompared: UncomparedFieldPolicy;
  readonly timeoutMs: number;
}

type Common = Pick<DiditConfig, "callbackUrl" | "uncompared" | "timeoutMs">;

export function readDiditConfig(env: EnvReader, common: Common): DiditConfig {
  const environment = env.choice("KYC_DIDIT_ENVIRONMENT", ["live", "sandbox"], "live");
  // Rejects Didit's test mode in production, because there a configured scenario sets the result
  // and nothing is checked.
  if (environment === "sandbox") env.refuseInProduction("KYC_DIDIT_ENVIRONMENT=sandbox");
  return {
    ...common,
    url: env.externalUrl("KYC_DIDIT_URL"),
    apiKey: env.string("KYC_DIDIT_API_KEY"),
    environment,
    workflowId: env.string("KYC_DIDIT_WORKFLOW_ID"),
    workflowIdStill: env.optional("KYC_DIDIT_WORKFLOW_ID_STILL"),
    webhookSecrets: env.words("KYC_DIDIT_WEBHOOK_SECRETS"),
    destinationId: env.optional("KYC_DIDIT_DESTINATION_ID"),
  };
}
