import { request } from "undici";
import type { AddResults, CheckResult } from "./check-result.ts";
import { checkDidit } from "./didit/check-didit.ts";
import { createPortProvider, type PortConfig } from "./port/port-provider.ts";
import type { ProvidersConfig } from "./providers-config.ts";
import { createProblems, setupError } from "./setup.ts";
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
    (provider: ProviderName): AddResults =>
    (check, problems, note = "") => {
      for (const { severity, text } of problems) {
        results.push({ provider, check, result: severity === "error" ? "failure" : "warning", text });
      }
      if (problems.length === 0) results.push({ provider, check, result: "ok", text: note });
    };
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

async function checkPort(config: PortConfig, add: AddResults): Promise<void> {
  await using provider = createPortProvider(config);
  const page = await provider.listChanges(null, 1, timeoutMs);
  const nextStep = "check KYC_PROVIDER_URL and KYC_PROVIDER_TOKEN";
  const isRead = page.kind === "accepted";
  add("credentials", isRead ? [] : [setupError(`the event list cannot be read (${causeOf(page)}); ${nextStep}`)]);
  await checkCallbackUrl(config.callbackUrl, add);
}

/**
 * Sends a callback without a signature to our own gateway, which must reject it with status 401.
 */
async function checkCallbackUrl(url: string, add: AddResults): Promise<void> {
  const { problems, require } = createProblems(`${url} `);
  const nextStep = "check KYC_CALLBACK_URL, and that this address reaches the gateway";
  try {
    const response = await request(url, { method: "POST", body: "{}", headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
    await response.body.dump();
    const { statusCode } = response;
    require(statusCode === 401, `responds with status ${statusCode} instead of status 401; ${nextStep}`);
  } catch (error) {
    require(false, `does not respond (${(error as NodeJS.ErrnoException).code ?? "timeout"}); ${nextStep}`);
  }
  add("callback address", problems);
}
