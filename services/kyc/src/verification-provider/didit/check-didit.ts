import { createLogger } from "@amana/runtime";
import { type AddResults, clockProblems } from "../check-result.ts";
import { readObject } from "../read-values.ts";
import { createProblems, setupError, setupWarning } from "../setup.ts";
import { startTimeBudget } from "../time-budget.ts";
import type { SetupProblem } from "../verification-provider.ts";
import { createDiditApi } from "./didit-api.ts";
import type { DiditConfig } from "./didit-config.ts";
import { readSetup } from "./didit-setup.ts";

const networkAdvice = "check KYC_DIDIT_URL and the network policy";

/** Checks a Didit account: reachability, clock, credentials, workflows, webhook and balance. */
export async function checkDidit(config: DiditConfig, add: AddResults, timeoutMs: number): Promise<void> {
  await using api = createDiditApi(config, createLogger("amana", "silent"));
  const get = (path: string) => api.get("kyc_check", path, startTimeBudget(timeoutMs));

  const health = await get("/system/healthcheck");
  const isReachable = health.status === 200;
  const date = new Date(String(readObject(health.content)["timestamp"]));
  add(
    "reachable",
    isReachable ? clockProblems(date, Date.now()) : [setupError(`${config.url} does not respond; ${networkAdvice}`)],
  );

  add("credentials", credentialProblems((await get("/v3/workflows/?limit=1")).status));

  const { problems, value } = await readSetup(api, timeoutMs);
  add("configuration", problems);
  const lifetimeMs = value?.video.lifetimeMs;
  if (lifetimeMs !== undefined) {
    const hours = Math.round(lifetimeMs / 3_600_000);
    add("lifetime of a link", [], `${hours} h; compare this lifetime with session_expiration_time in the console`);
  }
  add("webhook", await readWebhookProblems(config, get));

  const balance = await get("/v3/billing/balance/");
  add("balance", balanceProblems(balance.status === 200 ? Number(readObject(balance.content)["balance"]) : Number.NaN));
}

function credentialProblems(status: number | undefined): SetupProblem[] {
  if (status === 200) return [];
  if (status === undefined) return [setupError(`the request for the workflows got no response; ${networkAdvice}`)];
  return [setupError(`Didit responds with status ${status}; check KYC_DIDIT_API_KEY`)];
}

function balanceProblems(amount: number): SetupProblem[] {
  if (amount > 0) return [];
  if (amount <= 0) return [setupError("the balance is used up, so sessions cannot be created; add credits in the console")];
  return [setupWarning("the balance cannot be read with this key")];
}

type Get = (path: string) => ReturnType<ReturnType<typeof createDiditApi>["call"]>;

async function readWebhookProblems(config: DiditConfig, get: Get): Promise<readonly SetupProblem[]> {
  if (!config.destinationId) {
    const nextStep = "set KYC_DIDIT_DESTINATION_ID to the id of the destination";
    return [setupWarning(`the webhook destination was not checked; ${nextStep}`)];
  }
  const response = await get(`/v3/webhook/destinations/${encodeURIComponent(config.destinationId)}/`);
  if (response.status !== 200) {
    return [setupError("Didit returned no destination with this id; correct KYC_DIDIT_DESTINATION_ID")];
  }
  const {
    url,
    enabled,
    webhook_version: version,
    subscribed_events: events,
    secret_shared_key: secret,
  } = readObject(response.content);
  const missing = ["status.updated", "data.updated"].filter((event) => !(Array.isArray(events) && events.includes(event)));
  const { problems, require } = createProblems();
  require(url === `${config.callbackUrl}/didit`, `set the destination's URL to ${config.callbackUrl}/didit`);
  require(enabled === true, "enable the destination");
  require(version === undefined || version === "v3", "set the destination's webhook version to v3");
  require(missing.length === 0, `subscribe the destination to ${missing.join(" and ")}`);
  const isKnownSecret = typeof secret === "string" && config.webhookSecrets.includes(secret);
  require(isKnownSecret, "add the destination's secret to KYC_DIDIT_WEBHOOK_SECRETS");
  return problems;
}
