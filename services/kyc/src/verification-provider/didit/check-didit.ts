import { createLogger } from "@amana/runtime";
import { type AddResult, addClockResult, addProblemResults } from "../check-result.ts";
import { readObject } from "../read-values.ts";
import { createProblems } from "../setup.ts";
import { startTimeBudget } from "../time-budget.ts";
import { createDiditApi } from "./didit-api.ts";
import type { DiditConfig } from "./didit-config.ts";
import { readSetup } from "./didit-setup.ts";

/** Checks a Didit account: reachability, clock, credentials, workflows, webhook and balance. */
export async function checkDidit(config: DiditConfig, add: AddResult, timeoutMs: number): Promise<void> {
  await using api = createDiditApi(config, createLogger("amana", "silent"));
  const get = (path: string) => api.get("kyc_check", path, startTimeBudget(timeoutMs));

  const health = await get("/system/healthcheck");
  if (health.status !== 200)
    add("reachable", "failure", `${config.url} does not respond; check KYC_DIDIT_URL and the network policy`);
  else addClockResult(new Date(String(readObject(health.content)["timestamp"])), Date.now(), add);

  const workflows = await get("/v3/workflows/?limit=1");
  if (workflows.status === undefined)
    add("credentials", "failure", "the request for the workflows got no response; check KYC_DIDIT_URL and the network policy");
  else if (workflows.status === 200) add("credentials", "ok");
  else add("credentials", "failure", `Didit responds with status ${workflows.status}; check KYC_DIDIT_API_KEY`);

  const { problems, value } = await readSetup(api, timeoutMs);
  addProblemResults("configuration", problems, add);
  const lifetimeMs = value?.video.lifetimeMs;
  if (lifetimeMs !== undefined)
    add(
      "lifetime of a link",
      "ok",
      `${Math.round(lifetimeMs / 3_600_000)} h; compare this lifetime with session_expiration_time in the console`,
    );

  await checkWebhook(config, get, add);

  const balance = await get("/v3/billing/balance/");
  const amount = balance.status === 200 ? Number(readObject(balance.content)["balance"]) : Number.NaN;
  if (amount > 0) add("balance", "ok");
  else if (amount <= 0)
    add("balance", "failure", "the balance is used up, so sessions cannot be created; add credits in the console");
  else add("balance", "warning", "the balance cannot be read with this key");
}

type Get = (path: string) => ReturnType<ReturnType<typeof createDiditApi>["call"]>;

async function checkWebhook(config: DiditConfig, get: Get, add: AddResult): Promise<void> {
  if (!config.destinationId) {
    add(
      "webhook",
      "warning",
      "the webhook destination was not checked; set KYC_DIDIT_DESTINATION_ID to the id of the destination",
    );
    return;
  }
  const response = await get(`/v3/webhook/destinations/${encodeURIComponent(config.destinationId)}/`);
  if (response.status !== 200) {
    add("webhook", "failure", "Didit returned no destination with this id; correct KYC_DIDIT_DESTINATION_ID");
    return;
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
  addProblemResults("webhook", problems, add);
}
