import type { FastifyReply } from "fastify";
import { canary } from "../dialect.ts";

/** Error codes (docs.sumsub.com/reference/error-codes-description). */
export const errorCodes = {
  beingChecked: 1006,
  inactive: 1008,
  signature: 4003,
  /** Code that only the sandbox uses, because Sumsub documents no code for this error. */
  applicantExists: 4090,
} as const;

/**
 * Sets the status and returns an error body. The description contains a canary, because Sumsub's
 * descriptions may repeat personal data of the request.
 */
export function refuse(reply: FastifyReply, status: number, description: string, errorCode?: number): object {
  reply.code(status);
  return {
    code: status,
    correlationId: canary("correlation"),
    ...(errorCode && { errorCode }),
    description: `${description} (${canary("error")})`,
  };
}

export const refuseField = (reply: FastifyReply, field: string, message: string): object =>
  refuse(reply, 400, `${field}: ${message}`);

export const refuseInactive = (reply: FastifyReply): object =>
  refuse(reply, 409, "Applicant is deactivated or deleted", errorCodes.inactive);
