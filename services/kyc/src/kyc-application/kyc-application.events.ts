import { KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { addToOutbox, recordAction } from "@amana/messaging";
import { create, toBinary } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { toKycApplicationMessage } from "./kyc-application.message.ts";
import type { KycApplication, KycChange, ReviewRequest } from "./kyc-application.ts";

const eventTypes = {
  created: ["KycCreated", KycEventType.KYC_CREATED],
  opened: ["KycOpened", KycEventType.KYC_OPENED],
  submitted: ["KycSubmitted", KycEventType.KYC_SUBMITTED],
  processing: ["KycProcessing", KycEventType.KYC_PROCESSING],
  completed: ["KycCompleted", KycEventType.KYC_COMPLETED],
  rejected: ["KycRejected", KycEventType.KYC_REJECTED],
  needsReview: ["KycNeedsReview", KycEventType.KYC_NEEDS_REVIEW],
  reviewResolved: ["KycReviewResolved", KycEventType.KYC_REVIEW_RESOLVED],
  failed: ["KycFailed", KycEventType.KYC_FAILED],
  expired: ["KycExpired", KycEventType.KYC_EXPIRED],
  canceled: ["KycCanceled", KycEventType.KYC_CANCELED],
  documentExpiring: ["KycDocumentExpiring", KycEventType.KYC_DOCUMENT_EXPIRING],
  documentExpired: ["KycDocumentExpired", KycEventType.KYC_DOCUMENT_EXPIRED],
} as const satisfies Record<KycChange, unknown>;

/**
 * Announces what happened to an application, as it is now and without its link, with the transaction of `em`. A review
 * that one of our operators decided also goes into the audit trail.
 */
export function announce(em: SqlEntityManager, application: KycApplication, change: KycChange, now: Date): void {
  const [name, type] = eventTypes[change];
  application.revision += 1;
  const { revision } = application;
  addToOutbox(em, {
    topic: "kyc.v1",
    // All about one client in one order: a verdict on an older application must not overtake the creation of a newer one.
    key: application.clientId ?? application.id,
    type: `kyc.v1.${name}`,
    source: "kyc",
    payload: toBinary(
      KycEventSchema,
      create(KycEventSchema, { type, application: toKycApplicationMessage(application), revision }),
    ),
    occurredAt: now,
    traceparent: application.traceparent ?? undefined,
  });
  if (change === "reviewResolved" && application.reviewRequest) audit(em, application, application.reviewRequest, now);
}

function audit(em: SqlEntityManager, application: KycApplication, request: ReviewRequest, now: Date): void {
  const { status, verdict } = application;
  const action = {
    actor: request.actor,
    action: "kyc_application.reviewed",
    entityType: "kyc_application",
    entityId: application.id,
    businessId: application.businessId,
    before: { status, verdict: "NEEDS_REVIEW" },
    after: { status, verdict: verdict ?? "", outcome: request.outcome },
    requestId: request.requestId,
    address: request.address,
    reason: request.note,
  };
  recordAction(em, "kyc", action, now);
}
