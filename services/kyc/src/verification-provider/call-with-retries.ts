import { type Logger, sleep } from "@amana/runtime";
import { kycProviderError, kycProviderUnavailable } from "../kyc-application/kyc-application.errors.ts";
import type { Outcome } from "./verification-provider.ts";

const pauseMs = 200;
/** Minimum remaining time for another call. */
const callMsMin = 1_000;

/**
 * Calls the provider with an idempotent request. Repeats the call while its outcome is unknown and
 * time remains, up to `callsMax` calls. Throws `kyc_provider_error` if the provider refuses the
 * request, and `kyc_provider_unavailable` if the outcome stays unknown.
 */
export async function callWithRetries<T>(
  call: (timeoutMs: number) => Promise<Outcome<T>>,
  options: { callsMax: number; remainingMs: () => number; logger: Logger; ids: Record<string, string> },
): Promise<T> {
  const { callsMax, remainingMs, logger, ids } = options;
  for (let calls = 1; ; calls++) {
    const outcome = await call(remainingMs());
    if (outcome.kind === "accepted") return outcome.value;
    if (outcome.kind === "refused") {
      logger.error({ ...ids, status: outcome.status, error_code: outcome.errorCode }, "request rejected by the provider");
      throw kycProviderError();
    }
    logger.warn({ ...ids, reason: outcome.reason }, "no usable response from the provider");
    if (calls === callsMax || remainingMs() < callMsMin) throw kycProviderUnavailable();
    await sleep(pauseMs);
  }
}
