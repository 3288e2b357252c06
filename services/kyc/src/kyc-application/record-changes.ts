import { recordAction } from "@amana/messaging";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { announce } from "./kyc-application.events.ts";
import type { Announce, KycApplication, ReviewRequest } from "./kyc-application.ts";

/**
 * What follows from each change of an application, in the transaction of `em`: its event, by the
 * next number, and of a review that one of our operators decided an entry in the audit trail.
 */
export const recordChanges =
  (em: SqlEntityManager, application: KycApplication, now: Date): Announce =>
  (change) => {
    application.revision += 1;
    announce(em, application, change, now);
    const request = change === "KYC_REVIEW_RESOLVED" ? application.reviewRequest : undefined;
    if (request) recordAction("kyc")(em, now, reviewed(application, request));
  };

const reviewed = ({ id, businessId, status, verdict }: KycApplication, request: ReviewRequest) => ({
  by: { actor: request.actor, requestId: request.requestId, address: request.address },
  action: "kyc_application.reviewed",
  entity: { type: "kyc_application", id },
  businessId,
  before: { status, verdict: "NEEDS_REVIEW" },
  after: { status, verdict: verdict ?? "", outcome: request.outcome },
  reason: request.note,
});
