import { createLogger } from "@amana/runtime";
import { type AddResult, addClockResult, addProblemResults } from "../check-result.ts";
import { readObject } from "../read-values.ts";
import { createProblems } from "../setup.ts";
import { startTimeBudget } from "../time-budget.ts";
import { createSumsubApi } from "./sumsub-api.ts";
import type { SumsubConfig } from "./sumsub-config.ts";
import { readSetup } from "./sumsub-setup.ts";
import { algorithms } from "./sumsub-signature.ts";

const neededTypes = [
  "applicantPending",
  "applicantReviewed",
  "applicantOnHold",
  "applicantDeleted",
  "applicantPersonalDataDeleted",
];

/** Checks a Sumsub account: reachability, clock, credentials, levels, webhook and AML source. */
export async function checkSumsub(config: SumsubConfig, add: AddResult, timeoutMs: number): Promise<void> {
  await using api = createSumsubApi(config, createLogger("amana", "silent"));
  const get = (path: string) => api.get("kyc_check", path, startTimeBudget(timeoutMs));

  const status = await get("/resources/status/api");
  if (status.status !== 200)
    add("reachable", "failure", `${config.url} does not respond; check KYC_SUMSUB_URL and the network policy`);
  else addClockResult(status.date, Date.now(), add);

  const levels = await get("/resources/applicants/-/levels");
  if (levels.status === undefined)
    add("credentials", "failure", "the request for the levels got no response; check KYC_SUMSUB_URL and the network policy");
  else if (levels.status === 200) add("credentials", "ok");
  else if (levels.status === 403)
    add("credentials", "warning", "the token has no permission to read levels (status 403); add the permission");
  else
    add(
      "credentials",
      "failure",
      `Sumsub responds with status ${levels.status}; check KYC_SUMSUB_APP_TOKEN, KYC_SUMSUB_SECRET_KEY and the clock`,
    );

  addProblemResults("configuration", (await readSetup(api, timeoutMs)).problems, add);
  await checkWebhook(config, get, add);

  const targets = await get("/resources/api/agent/settings/bgCheckTargets");
  if (targets.status !== 200) add("AML source", "warning", "the sources of AML screening cannot be read with this token");
  else if (JSON.stringify(targets.content).includes("WATCHLISTS")) add("AML source", "ok");
  else
    add(
      "AML source",
      "failure",
      "WATCHLISTS is not among the sources; order AML screening, otherwise every applicant needs a review",
    );
}

type Get = (path: string) => ReturnType<ReturnType<typeof createSumsubApi>["call"]>;

async function checkWebhook(config: SumsubConfig, get: Get, add: AddResult): Promise<void> {
  if (!config.webhookId) {
    add("webhook", "warning", "the webhook was not checked; set KYC_SUMSUB_WEBHOOK_ID to the id of the webhook");
    return;
  }
  const response = await get(`/resources/api/clientWebhooks/${encodeURIComponent(config.webhookId)}`);
  if (response.status !== 200) {
    add("webhook", "failure", "Sumsub returned no webhook with this id; correct KYC_SUMSUB_WEBHOOK_ID");
    return;
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
  addProblemResults("webhook", problems, add);
}
