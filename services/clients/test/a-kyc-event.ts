import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import type { Message } from "@amana/messaging";
import { uuidv7 } from "@amana/runtime";
import { create, toBinary } from "@bufbuild/protobuf";

export interface KycNews {
  readonly businessId: string;
  readonly clientId?: string | undefined;
  readonly applicationId?: string;
  readonly createdAtMs?: number;
  readonly revision?: number;
  readonly status?: keyof typeof KycStatus;
  readonly verdict?: keyof typeof KycVerdict;
  readonly attemptsRemaining?: number;
  readonly type?: KycEventType;
  readonly eventId?: string;
}

/** An event of topic kyc.v1: a new application, unless told otherwise. */
export function aKycEvent(news: KycNews): Message {
  const applicationId = news.applicationId ?? uuidv7();
  const event = create(KycEventSchema, {
    type: news.type ?? KycEventType.KYC_CREATED,
    revision: news.revision ?? 1,
    application: {
      id: applicationId,
      businessId: news.businessId,
      ...(news.clientId === undefined ? {} : { clientId: news.clientId }),
      createdAtMs: BigInt(news.createdAtMs ?? Date.parse("2026-11-20T10:00:00Z")),
      status: KycStatus[news.status ?? "CREATED"],
      verdict: KycVerdict[news.verdict ?? "UNSPECIFIED"],
      attemptsRemaining: news.attemptsRemaining ?? 3,
      metadata: "{}",
    },
  });
  return {
    key: applicationId,
    payload: toBinary(KycEventSchema, event),
    headers: { ce_id: news.eventId ?? uuidv7(), ce_type: "kyc.v1.KycEvent", ce_source: "kyc", ce_time: new Date().toISOString() },
  };
}
