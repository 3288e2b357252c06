import type { Logger } from "@amana/runtime";
import { type HttpResponse, isNotFound, type LostCall } from "../http-calls.ts";
import { createRateLimiter } from "../rate-limiter.ts";
import { readMatching, readObject } from "../read-values.ts";
import { createVendorCalls } from "../vendor-calls.ts";
import type { Failure } from "../verification-provider.ts";
import type { DiditConfig } from "./didit-config.ts";

const responseBytesMax = 2 * 1024 * 1024;

export type DiditApi = ReturnType<typeof createDiditApi>;

/** Creates functions that send requests, and a function that classifies failures. */
export function createDiditApi(config: DiditConfig, logger: Logger) {
  // Documented limits of an API key (docs.didit.me/integration/rate-limiting).
  const rateLimiters = { create: createRateLimiter(600), read: createRateLimiter(600), write: createRateLimiter(300) };
  return {
    config,
    logger,
    ...createVendorCalls(config, responseBytesMax, rateLimiters, () => ({ "x-api-key": config.apiKey })),

    /** Converts a response without a usable value to "refused" or "unknown". */
    toFailure(response: HttpResponse | LostCall): Failure {
      if (response.status === undefined) return { kind: "unknown", reason: response.reason };
      const { status, content } = response;
      // Status 401 means a wrong, revoked or expired key. Status 403 means that the key lacks a
      // permission.
      if (status === 401 || status === 403) {
        logger.error({ alert: true, provider: "didit", status }, "credentials rejected by the verification provider");
        return { kind: "unknown", reason: `status ${status}` };
      }
      const field = readMatching(/^[a-z_]{1,64}$/, Object.keys(readObject(content))[0]);
      if (status === 400 && (field === undefined || field === "detail")) {
        logger.error({ alert: true, provider: "didit", status }, "request rejected by the verification provider, no field named");
        return { kind: "unknown", reason: "status 400, no field named" };
      }
      if (isNotFound(response)) return { kind: "refused", status, errorCode: "didit_404", isGone: true };
      if ([400, 409, 413, 415, 422].includes(status)) {
        return { kind: "refused", status, errorCode: `didit_${status}${field ? `_${field}` : ""}` };
      }
      return { kind: "unknown", reason: `status ${status} without a usable response` };
    },
  };
}

export const sessionPath = ({ providerId }: { readonly providerId: string }): string =>
  `/v3/session/${encodeURIComponent(providerId)}`;
