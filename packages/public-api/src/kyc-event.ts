import { type KycEvent, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { kycStatusNames, kycVerdictNames, renderKycReasons } from "./kyc-application.ts";
import { enumNames } from "./render.ts";

/** KYC_COMPLETED and the others, by proto number; among them steps that businesses are not told of. */
export const kycEventTypeNames = enumNames(KycEventType);

/**
 * The body of a KYC webhook as JSON text, flat, in a fixed order of fields. The metadata is set in byte for byte as the
 * business sent it. Fields without a value are left out. The text is stored and is the same on every attempt.
 */
export function renderKycEvent(event: KycEvent, id: string, occurredAt: string): string {
  const { application } = event;
  if (!application) throw new TypeError("a KYC event carries its application");
  const head = JSON.stringify({
    id,
    event: kycEventTypeNames.get(event.type) ?? "",
    occurred_at: occurredAt,
    business_id: application.businessId,
    application_id: application.id,
    client_id: application.clientId,
    external_id: application.externalId,
  });
  const tail = JSON.stringify({
    status: kycStatusNames.get(application.status) ?? "",
    verdict: kycVerdictNames.get(application.verdict ?? 0),
    reason_codes: renderKycReasons(application.reasonCodes),
    document_expiry: application.documentExpiry,
    aml_hit_count: application.amlHitCount,
  });
  return `${head.slice(0, -1)},"metadata":${application.metadata},${tail.slice(1)}`;
}
