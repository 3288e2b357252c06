import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import type { Message } from "@amana/messaging";
import { uuidv7 } from "@amana/runtime";
import { create, toBinary } from "@bufbuild/protobuf";

/** Creates a message of the topic kyc.v1. Its `id` is the event id. */
export function aKycEvent(
  values: {
    businessId?: string;
    type?: KycEventType;
    metadata?: string;
    occurredAt?: string;
    status?: KycStatus;
    verdict?: KycVerdict;
  } = {},
): Message & { id: string } {
  const id = uuidv7();
  const applicationId = uuidv7();
  const payload = toBinary(
    KycEventSchema,
    create(KycEventSchema, {
      type: values.type ?? KycEventType.KYC_COMPLETED,
      application: {
        id: applicationId,
        businessId: values.businessId ?? uuidv7(),
        status: values.status ?? KycStatus.COMPLETED,
        verdict: values.verdict ?? KycVerdict.APPROVED,
        externalId: "applicant-1",
        metadata: values.metadata ?? "{}",
      },
    }),
  );
  const headers = {
    ce_specversion: "1.0",
    ce_id: id,
    ce_type: "kyc.v1.KycCompleted",
    ce_source: "kyc",
    ce_time: values.occurredAt ?? new Date().toISOString(),
  };
  return { id, key: applicationId, payload, headers };
}
