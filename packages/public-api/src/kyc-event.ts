import { type KycEvent, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { Type } from "typebox";
import { kycStatusNames, kycVerdictNames, kycVerdicts, renderKycReasons } from "./kyc-application.ts";
import { enumNames } from "./render.ts";

/** KYC_COMPLETED and the others, by proto number; among them steps that businesses are not told of. */
export const kycEventTypeNames = enumNames(KycEventType);

export const KycEventJson = Type.Object({
  id: Type.String({ format: "uuid", description: "Of the event; the same on every attempt." }),
  event: Type.String({ examples: ["KYC_COMPLETED"] }),
  occurred_at: Type.String({ format: "date-time" }),
  business_id: Type.String({ format: "uuid" }),
  application_id: Type.String({ format: "uuid" }),
  client_id: Type.Optional(Type.String({ format: "uuid" })),
  external_id: Type.Optional(Type.String()),
  metadata: Type.Object({}, { additionalProperties: true, description: "As it was sent: key order, escapes and numbers." }),
  status: Type.String({ examples: ["COMPLETED"] }),
  verdict: Type.Optional(Type.Enum([...kycVerdicts])),
  reason_codes: Type.Array(Type.Object({ code: Type.String(), message: Type.Optional(Type.String()) })),
  document_expiry: Type.Optional(Type.String({ format: "date" })),
  aml_hit_count: Type.Integer(),
});

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
