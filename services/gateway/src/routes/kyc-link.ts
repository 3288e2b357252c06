import { type KycApplication, KycStatus } from "@amana/contracts/kyc/v1/kyc_application_pb";
import type { FastifyReply, FastifyRequest } from "fastify";
import { aboutRequest, callOf } from "../call.ts";
import type { Gateway } from "../gateway.ts";

/** Longer than this a view does not wait for its link. */
const timeoutMs = 2_000;

/**
 * The link of a client's newest KYC application, while the applicant can go on with it. The rest of
 * the view is worth something without it, so a KYC service that does not answer costs the link
 * alone.
 */
export async function kycLinkOf(
  { rpc, logger }: Gateway,
  view: { kycApplicationId?: string | undefined; kycApplicationOpen: boolean },
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
    logger.warn({ err: error, ...aboutRequest(request), application_id: id }, "a view goes out without its KYC link");
    return undefined;
  }
}

/** Its last event may still be on its way to the client's onboarding. */
const isFinal = ({ status, attemptsRemaining }: KycApplication) =>
  status === KycStatus.COMPLETED ||
  status === KycStatus.EXPIRED ||
  status === KycStatus.CANCELED ||
  (status === KycStatus.FAILED && attemptsRemaining === 0);
