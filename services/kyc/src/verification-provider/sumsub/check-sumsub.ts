import { createLogger } from "@amana/runtime";
import { type AddResults, clockProblems } from "../check-result.ts";
import { readObject } from "../read-values.ts";
import { createProblems, setupError, setupWarning } from "../setup.ts";
import { startTimeBudget } from "../time-budget.ts";
import type { SetupProblem } from "../verification-provider.ts";
import { createSumsubApi } from "./sumsub-api.ts";
import type { SumsubConfig } from "./sumsub-config.ts";
import { readSetup } from "./sumsub-setup.ts";
import { algorithms } from "./sumsub-signature.ts";

const networkAdvice = "check KYC_SUMSUB_URL and the network policy";
const neededTypes = [
  "applicantPending",
  "applicantReviewed",
  "applicantOnHold",
  "applicantDeleted",
  "applicantPersonalDataDeleted",
];

/** Checks a Sumsub account: reachability, clock, credentials, levels, webhook and AML source. */
export async function checkSumsub(config: SumsubConfig, add: AddResults, timeoutMs: number): Promise<void> {
  await using api = createSumsubApi(config, createLogger("amana", "silent"));
  const get = (path: string) => api.get("kyc_check", path, startTimeBudget(timeoutMs));

  const health = await get("/resources/status/api");
  const unreachable = setupError(`${config.url} does not respond; ${networkAdvice}`);
  add("reachable", health.status === 200 ? clockProblems(health.date, Date.now()) : [unreachable]);

  add("credentials", credentialProblems((await get("/resources/applicants/-/levels")).status));
  add("configuration", (await readSetup(api, timeoutMs)).problems);
  add("webhook", await readWebhookProblems(config, get));
  add("AML source", await readSourceProblems(get));
}

function credentialProblems(status: number | undefined): SetupProblem[] {
  if (status === 200) return [];
  if (status === undefined) return [setupError(`the request for the levels got no response; ${networkAdvice}`)];
  if (status === 403) return [setupWarning("the token has no permission to read levels (status 403); add the permission")];
  const nextStep = "check KYC_SUMSUB_APP_TOKEN, KYC_SUMSUB_SECRET_KEY and the clock";
  return [setupError(`Sumsub responds with status ${status}; ${nextStep}`)];
}

async function readSourceProblems(get: Get): Promise<SetupProblem[]> {
  const targets = await get("/resources/api/agent/settings/bgCheckTargets");
  if (targets.status !== 200) return [setupWarning("the sources of AML screening cannot be read with this token")];
  if (JSON.stringify(targets.content).includes("WATCHLISTS")) return [];
  const nextStep = "order AML screening, otherwise every applicant needs a review";
  return [setupError(`WATCHLISTS is not among the sources; ${nextStep}`)];
}

type Get = (path: string) => ReturnType<ReturnType<typeof createSumsubApi>["call"]>;

async function readWebhookProblems(config: SumsubConfig, get: Get): Promise<readonly SetupProblem[]> {
  if (!config.webhookId) {
    return [setupWarning("the webhook was not checked; set KYC_SUMSUB_WEBHOOK_ID to the id of the webhook")];
  }
  const response = await get(`/resources/api/clientWebhooks/${encodeURIComponent(config.webhookId)}`);
  if (response.status !== 200) {
    return [setupError("Sumsub returned no webhook with this id; correct KYC_SUMSUB_WEBHOOK_ID")];
  }
  const { target, disabled, types, signatureAlgorithm, secretKey } = readObject(response.content);
  const missing = neededTypes.filter((type) => !(Array.isArray(types) && types.includes(type)));
  const { problems, require } = createProblems();
  require(target === `${config.callbackUrl}/sumsub`, `set the webhook's target to ${config.callbackUrl}/sumsub`);
  require(disabled !== true, "enable the webhook; Sumsub disables a webhook after repeated failures");
  require(missing.length === 0, `add the types ${missing.join(", ")} to the webhook`);
  require(algorithms.has(signatureAlgorithm), "set the webhook's signature algorithm to HMAC_SHA256_HEX");
  const isKnownSecret = typeof secretKey === "string" && config.webhookSecrets.includes(secretKey);
  require(isKnownSecret, "add the webhook's secret to KYC_SUMSUB_WEBHOOK_SECRETS");
  return problems;
}
