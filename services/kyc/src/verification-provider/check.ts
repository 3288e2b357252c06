import { request } from "undici";
import type { AddResult, CheckResult } from "./check-result.ts";
import { checkDidit } from "./didit/check-didit.ts";
import { createPortProvider, type PortConfig } from "./port/port-provider.ts";
import type { ProvidersConfig } from "./providers-config.ts";
import { checkSumsub } from "./sumsub/check-sumsub.ts";
import { causeOf, type ProviderName } from "./verification-provider.ts";

const timeoutMs = 15_000;

/**
 * Checks the accounts at all configured providers with read requests only. Checks each callback
 * address with an unsigned request. The results of the provider for new applications come first.
 */
export async function checkProviders(config: ProvidersConfig): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  const addFor =
    (provider: ProviderName): AddResult =>
    (check, result, text = "") =>
      void results.push({ provider, check, result, text });
  if (config.port) await checkPort(config.port, addFor("port"));
  if (config.didit) {
    await checkDidit(config.didit, addFor("didit"), timeoutMs);
    await checkCallbackUrl(`${config.didit.callbackUrl}/didit`, addFor("didit"));
  }
  if (config.sumsub) {
    await checkSumsub(config.sumsub, addFor("sumsub"), timeoutMs);
    await checkCallbackUrl(`${config.sumsub.callbackUrl}/sumsub`, addFor("sumsub"));
  }
  return results.toSorted((a, b) => Number(b.provider === config.current) - Number(a.provider === config.current));
}

async function checkPort(config: PortConfig, add: AddResult): Promise<void> {
  await using provider = createPortProvider(config);
  const page = await provider.listChanges(null, 1, timeoutMs);
  if (page.kind === "accepted") add("credentials", "ok");
  else
    add(
      "credentials",
      "failure",
      `the event list cannot be read (${causeOf(page)}); check KYC_PROVIDER_URL and KYC_PROVIDER_TOKEN`,
    );
  await checkCallbackUrl(config.callbackUrl, add);
}

/**
 * Sends a callback without a signature to our own gateway, which must reject it with status 401.
 */
async function checkCallbackUrl(url: string, add: AddResult): Promise<void> {
  const nextStep = "check KYC_CALLBACK_URL, and that this address reaches the gateway";
  try {
    const response = await request(url, { method: "POST", body: "{}", headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
    await response.body.dump();
    if (response.statusCode === 401) add("callback address", "ok");
    else
      add("callback address", "failure", `${url} responds with status ${response.statusCode} instead of status 401; ${nextStep}`);
  } catch (error) {
    add(
      "callback address",
      "failure",
      `${url} does not respond (${(error as NodeJS.ErrnoException).code ?? "timeout"}); ${nextStep}`,
    );
  }
}
