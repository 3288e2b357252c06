import { type Logger, withCallMetrics } from "@amana/runtime";
import { kycProviderUnavailable } from "../kyc-application/kyc-application.errors.ts";
import { providerCalls } from "../metrics.ts";
import { createDiditProvider } from "./didit/didit-provider.ts";
import { createPortProvider } from "./port/port-provider.ts";
import type { ProvidersConfig } from "./providers-config.ts";
import { createSumsubProvider } from "./sumsub/sumsub-provider.ts";
import type { ProviderName, VerificationProvider } from "./verification-provider.ts";

const callMetrics = { durations: providerCalls, to: "verification provider" };

/**
 * Clients of the current provider and of the former providers. New applications are created at the
 * current provider.
 */
export interface Providers {
  readonly current: VerificationProvider;
  /** The current provider and the former providers. */
  readonly all: readonly VerificationProvider[];
  /** Returns the client of a provider, or undefined if the provider has no settings. */
  find(name: string): VerificationProvider | undefined;
  /**
   * Returns the client of a stored application's provider. Throws `kyc_provider_unavailable` if the
   * provider has no settings.
   */
  providerOf(application: { readonly provider: ProviderName }): VerificationProvider;
}

/**
 * Creates the clients of all configured providers. Their calls are measured in the metric
 * `providerCalls`.
 */
export function createProviders(config: ProvidersConfig, logger: Logger): Providers & AsyncDisposable {
  const stack = new AsyncDisposableStack();
  const all: VerificationProvider[] = [];
  if (config.port) all.push(withMeasurements(stack.use(createPortProvider(config.port))));
  if (config.didit) all.push(withMeasurements(stack.use(createDiditProvider(config.didit, logger))));
  if (config.sumsub) all.push(withMeasurements(stack.use(createSumsubProvider(config.sumsub, logger))));
  return { ...toProviders(config.current, all, logger), [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

export function toProviders(currentName: string, all: readonly VerificationProvider[], logger: Logger): Providers {
  const find = (name: string) => all.find((provider) => provider.name === name);
  const current = find(currentName);
  if (!current) throw new Error(`the verification provider ${currentName} has no settings`);
  return {
    current,
    all,
    find,
    // kyc does not start if settings are missing for the provider of an open application. This
    // error is therefore possible only for an application that is not open, or if the database was
    // unreachable at the start.
    providerOf({ provider: name }) {
      const provider = find(name);
      if (provider) return provider;
      logger.error({ alert: true, provider: name }, "verification provider of an application has no settings");
      throw kycProviderUnavailable();
    },
  };
}

function withMeasurements(provider: VerificationProvider): VerificationProvider {
  const { listChanges } = provider;
  return {
    ...provider,
    create: withCallMetrics(callMetrics, "create", provider.create),
    get: withCallMetrics(callMetrics, "get", provider.get),
    cancel: withCallMetrics(callMetrics, "cancel", provider.cancel),
    review: withCallMetrics(callMetrics, "review", provider.review),
    erase: withCallMetrics(callMetrics, "erase", provider.erase),
    ...(listChanges && { listChanges: withCallMetrics(callMetrics, "events", listChanges) }),
  };
}
