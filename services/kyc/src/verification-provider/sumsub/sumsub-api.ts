import type { Logger } from "@amana/runtime";
import { type HttpResponse, isNotFound, type LostCall } from "../http-calls.ts";
import { createRateLimiter } from "../rate-limiter.ts";
import { readObject } from "../read-values.ts";
import { createVendorCalls } from "../vendor-calls.ts";
import type { Failure } from "../verification-provider.ts";
import type { SumsubConfig } from "./sumsub-config.ts";
import { signRequest } from "./sumsub-signature.ts";

const responseBytesMax = 1024 * 1024;
/** Sumsub's error codes that kyc uses (docs.sumsub.com/reference/error-codes-description). */
export const errorCodes = { beingChecked: 1006, deactivated: 1008 } as const;

export type SumsubApi = ReturnType<typeof createSumsubApi>;

/** Creates functions that send signed requests, and a function that classifies failures. */
export function createSumsubApi(config: SumsubConfig, logger: Logger) {
  // Documented limits: 300 reads and 50 writes in five seconds
  // (docs.sumsub.com/reference/rate-limits).
  const rateLimiters = {
    read: createRateLimiter(3_600, 5),
    write: createRateLimiter(600, 5),
    aml: createRateLimiter(config.amlPerMinute),
  };
  return {
    config,
    logger,
    ...createVendorCalls(config, responseBytesMax, rateLimiters, (request) => ({
      // Sumsub expects a content type even in requests without a body.
      "content-type": "application/json",
      ...signRequest(config, request, Date.now()),
    })),

    /** Converts a response without a usable value to "refused" or "unknown". */
    toFailure(response: HttpResponse | LostCall): Failure {
      if (response.status === undefined) return { kind: "unknown", reason: response.reason };
      const { status, date } = response;
      if (status === 401 || status === 403) {
        const clockSeconds = date && Math.round((date.getTime() - Date.now()) / 1_000);
        const fields = {
          alert: true,
          provider: "sumsub",
          status,
          error_code: errorCodeOf(response),
          clock_difference_seconds: clockSeconds,
        };
        logger.error(fields, "credentials rejected by the verification provider");
        return { kind: "unknown", reason: `status ${status}` };
      }
      if (isNotFound(response)) return { kind: "refused", status, errorCode: "sumsub_404", isGone: true };
      const code = errorCodeOf(response);
      // Sumsub's documentation requires a retry after status 409 with any other error code, even
      // without Retry-After.
      const isFinal = status === 409 ? code === errorCodes.deactivated : [400, 413, 415, 422].includes(status);
      if (!isFinal) return { kind: "unknown", reason: `status ${status} without a usable response` };
      return {
        kind: "refused",
        status,
        errorCode: code === undefined ? `sumsub_${status}` : `sumsub_${status}_${code}`,
        isGone: code === errorCodes.deactivated,
      };
    },
  };
}

/**
 * Returns Sumsub's numeric error code. Ignores the description, which may repeat personal data from
 * the request.
 */
export function errorCodeOf({ content }: HttpResponse | LostCall): number | undefined {
  const code = readObject(content)["errorCode"];
  return Number.isSafeInteger(code) ? (code as number) : undefined;
}

export const applicantPath = ({ providerId }: { readonly providerId: string }): string =>
  `/resources/applicants/${encodeURIComponent(providerId)}`;
