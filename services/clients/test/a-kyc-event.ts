import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import type { Message } from "@amana/messaging";
import { uuidv7 } from "@amana/runtime";
import { create, toBinary } from "@bufbuild/protobuf";

export interface KycEventFields {
  readonly businessId: string;
  readonly clientId?: string;
  readonly applicationId?: string;
  readonly createdAtMs?: number;
  readonly revision?: number;
  readonly status?: keyof typeof KycStatus;
  readonly verdict?: keyof typeof KycVerdict;
  readonly attemptsRemaining?: number;
  readonly type?: KycEventType;
  readonly eventId?: string;
}

/**
 * Returns an event of the topic kyc.v1, by default the event for the creation of an application.
 */
export function aKycEvent(fields: KycEventFields): Message {
  const applicationId = fields.applicationId ?? uuidv7();
  const event = create(KycEventSchema, {
    type: fields.type ?? KycEventType.KYC_CREATED,
    revision: fields.revision ?? 1,
    application: {
      id: applicationId,
      businessId: fields.businessId,
      ...(fields.clientId === undefined ? {} : { clientId: fields.clientId }),
      createdAtMs: BigInt(fields.createdAtMs ?? Date.parse("2026-11-20T10:00:00Z")),
      status: KycStatus[fields.status ?? "CREATED"],
      verdict: KycVerdict[fields.verdict ?? "UNSPECIFIED"],
      attemptsRemaining: fields.attemptsRemaining ?? 3,
      metadata: "{}",
    },
  });
  return {
    key: applicationId,
    payload: toBinary(KycEventSchema, event),
    headers: {
      ce_id: fields.eventId ?? uuidv7(),
      ce_type: "kyc.v1.KycEvent",
      ce_source: "kyc",
      ce_time: new Date().toISOString(),
    },
  };
}
