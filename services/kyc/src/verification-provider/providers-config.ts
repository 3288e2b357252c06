import type { EnvReader } from "@amana/runtime";
import { readDiditConfig } from "./didit/didit-config.ts";
import { uncomparedPolicies } from "./profile.ts";
import { readSumsubConfig } from "./sumsub/sumsub-config.ts";
import { type ProviderName, providerNames } from "./verification-provider.ts";

export type ProvidersConfig = ReturnType<typeof readProvidersConfig>;

/**
 * Reads the settings of the current provider and of the former providers. All required settings of
 * these providers must be set.
 */
export function readProvidersConfig(env: EnvReader) {
  const current = env.choice("KYC_PROVIDER", providerNames, "port");
  const former = env.list("KYC_PROVIDERS_FORMER");
  for (const name of former) {
    if (!providerNames.some((known) => known === name)) {
      env.problem(`KYC_PROVIDERS_FORMER must list only known providers (${providerNames.join(", ")}), not "${name}"`);
    }
  }
  const isUsed = (name: ProviderName) => current === name || former.includes(name);
  const common = {
    callbackUrl: env.externalUrl("KYC_CALLBACK_URL"),
    timeoutMs: env.integer("KYC_PROVIDER_TIMEOUT_MS", { fallback: 15_000, min: 100, max: 60_000 }),
  };
  const vendor = { ...common, uncompared: env.choice("KYC_PROFILE_UNCOMPARED", uncomparedPolicies, "refuse") };
  return {
    /** Provider of new applications. */
    current,
    ...(isUsed("port") && {
      port: {
        ...common,
        url: env.externalUrl("KYC_PROVIDER_URL"),
        token: env.string("KYC_PROVIDER_TOKEN"),
        callbackSecrets: env.words("KYC_CALLBACK_SECRETS"),
      },
    }),
    ...(isUsed("didit") && { didit: readDiditConfig(env, vendor) }),
    ...(isUsed("sumsub") && { sumsub: readSumsubConfig(env, vendor) }),
  };
}
