import { type KycApplication, KycStatus } from "@amana/contracts/kyc/v1/kyc_application_pb";
import type { FastifyReply, FastifyRequest } from "fastify";
import { callOf, requestLogFields } from "../call.ts";
import type { Gateway } from "../gateway.ts";

/** Timeout of the RPC that reads the link. The response is delayed by at most this time. */
const timeoutMs = 2_000;

/**
 * Returns the link of a client's newest KYC application if the applicant can still use the link.
 * Returns undefined if the link is no longer usable, or if kyc does not respond. The gateway then
 * sends its response without the link.
 */
export async function kycLinkOf(
  { rpc, logger }: Gateway,
  view: { kycApplicationId?: string; kycApplicationOpen: boolean },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string | undefined> {
  const { kycApplicationId: id, kycApplicationOpen } = view;
  if (id === undefined || !kycApplicationOpen) return undefined;
  try {
    const call = { ...callOf(request, reply, timeoutMs), idempotencyKey: undefined };
    const application = await rpc.kycApplications.getKycApplication({ id, stored: true }, call);
    return isFinal(application) ? undefined : application.linkUrl;
  } catch (error) {
    logger.warn(
      { err: error, ...requestLogFields(request), application_id: id },
      "response sent without the KYC link, call to kyc failed",
    );
    return undefined;
  }
}

/**
 * Returns whether the application has ended. The state in `view` may be outdated, because the
 * clients service may not have consumed the last event yet.
 */
const isFinal = ({ status, attemptsRemaining }: KycApplication) =>
  status === KycStatus.COMPLETED ||
  status === KycStatus.EXPIRED ||
  status === KycStatus.CANCELED ||
  (status === KycStatus.FAILED && attemptsRemaining === 0);
