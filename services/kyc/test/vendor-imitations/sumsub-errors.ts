import { randomBytes } from "node:crypto";
import type { ImitationResponse } from "./imitation-server.ts";

/**
 * Names of the error codes. Page: https://docs.sumsub.com/reference/error-codes-description
 * (2026-11-28).
 */
const codes = {
  1006: "no-upload-verification-in-progress",
  1008: "applicant-marked-as-deleted",
  1009: "applicant-with-final-reject",
  4003: "app-token-signature mismatch",
} as const;

/**
 * Returns an error response with the documented fields. If there is no error code, `errorCode` and
 * `errorName` are absent. Page: https://docs.sumsub.com/reference/review-api-health (2026-11-28).
 */
export const sumsubError = (
  status: number,
  description: string,
  errorCode?: keyof typeof codes,
  headers: Readonly<Record<string, string>> = {},
): ImitationResponse => ({
  status,
  headers,
  body: {
    description,
    code: status,
    correlationId: randomBytes(16).toString("hex"),
    ...(errorCode === undefined ? {} : { errorCode, errorName: codes[errorCode] }),
  },
});
