import { pascalCase } from "@amana/contracts/enum-names";
import { KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { addToOutbox, recordAction } from "@amana/messaging";
import { create, toBinary } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { toKycApplicationMessage } from "./kyc-application.message.ts";
import type { KycApplication, KycChange, ReviewRequest } from "./kyc-application.ts";

/**
 * Announces what happened to an application, as it is now and without its link, with the transaction of `em`. A review
 * that one of our operators decided also goes into the audit trail.
 */
export function announce(em: SqlEntityManager, application: KycApplication, change: KycChange, now: Date): void {
  application.revision += 1;
  const { revision } = application;
  addToOutbox(em, {
    topic: "kyc.v1",
    // All about one client in one order: a verdict on an older application must not overtake the creation of a newer one.
    key: application.clientId ?? application.id,
    type: `kyc.v1.${pascalCase(change)}`,
    source: "kyc",
    payload: toBinary(
      KycEventSchema,
      create(KycEventSchema, { type: KycEventType[change], application: toKycApplicationMessage(application), revision }),
    ),
    occurredAt: now,
    traceparent: application.traceparent ?? undefined,
  });
  if (change === "KYC_REVIEW_RESOLVED" && application.reviewRequest) audit(em, application, application.reviewRequest, now);
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
