import { type Logger, sleep } from "@amana/runtime";
import { kycProviderError, kycProviderUnavailable } from "../kyc-application/kyc-application.errors.ts";
import type { Outcome } from "./verification-provider.ts";

const pauseMs = 200;
/** With less time left nothing can be expected of another call. */
const callMsMin = 1_000;

/**
 * Makes a call to the provider that is safe to repeat, and makes it again while its outcome is
 * unknown: `callsMax` times at the most, and as long as the caller has time. Throws
 * `kyc_provider_error` or `kyc_provider_unavailable`.
 */
export async function askAgain<T>(
  ask: (timeoutMs: number) => Promise<Outcome<T>>,
  options: { callsMax: number; remainingMs: () => number; logger: Logger; about: Record<string, string> },
): Promise<T> {
  const { callsMax, remainingMs, logger, about } = options;
  for (let calls = 1; ; calls++) {
    const outcome = await ask(remainingMs());
    if (outcome.kind === "accepted") return outcome.value;
    if (outcome.kind === "refused") {
      logger.error({ ...about, status: outcome.status, error_code: outcome.errorCode }, "the provider refused a request");
      throw kycProviderError();
    }
    logger.warn({ ...about, reason: outcome.reason }, "the provider gave no usable answer");
    if (calls === callsMax || remainingMs() < callMsMin) throw kycProviderUnavailable();
    await sleep(pauseMs);
  }
}
