import { pascalCase } from "@amana/contracts/enum-names";
import { KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { addToOutbox, recordAction } from "@amana/messaging";
import { create, toBinary } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { toKycApplicationMessage } from "./kyc-application.message.ts";
import type { EmitChange, KycApplication, ReviewRequest } from "./kyc-application.ts";

/**
 * Creates a function that records a change of an application in the transaction of `em`. The
 * function adds the event to the outbox, with the next revision and without the link. If an
 * operator decided a review, the function also adds an audit event.
 */
export const recordChanges =
  (em: SqlEntityManager, application: KycApplication, now: Date): EmitChange =>
  (change) => {
    const revision = application.nextRevision(now);
    application.revision = revision;
    const event = { type: KycEventType[change], application: toKycApplicationMessage(application), revision };
    addToOutbox(em, {
      topic: "kyc.v1",
      // The relay publishes events with the same key in order. If the application has a client, the
      // key is the client id. With another key, the relay could publish the verdict on a client's
      // older application before the creation of a newer application, although the creation
      // happened first.
      key: application.clientId ?? application.id,
      type: `kyc.v1.${pascalCase(change)}`,
      source: "kyc",
      payload: toBinary(KycEventSchema, create(KycEventSchema, event)),
      occurredAt: now,
      traceparent: application.traceparent ?? undefined,
    });
    const request = change === "KYC_REVIEW_RESOLVED" ? application.reviewRequest : undefined;
    if (request) recordAction("kyc")(em, now, toReviewAction(application, request));
  };

const toReviewAction = ({ id, businessId, status, verdict }: KycApplication, request: ReviewRequest) => ({
  by: {
    actor: request.actor,
    actorKeyId: request.actorKeyId,
    requestId: request.requestId,
    address: request.address,
  },
  action: "kyc_application.reviewed",
  entity: { type: "kyc_application", id },
  businessId,
  before: { status, verdict: "NEEDS_REVIEW" },
  after: { status, verdict: verdict ?? "", outcome: request.outcome },
  reason: request.note,
});
