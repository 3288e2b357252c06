import { type KycApplication, KycApplicationSchema, type KycReason } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { Type } from "typebox";
import { kycStatuses, kycVerdicts } from "./names.ts";
import { renderer, withMember } from "./renderer.ts";

export const kycDocuments = ["id_card", "passport"] as const;

const optionalText = () => Type.Optional(Type.String());
const linkUrl = (more = "") =>
  Type.String({ description: `The verification link. Treat it as a secret: whoever has it can submit documents.${more}` });
const status = () => Type.Enum(kycStatuses);

/** The answer to the creation of an application. */
export const KycApplicationCreation = Type.Object({
  id: Type.String({ format: "uuid" }),
  created_at: Type.String({ format: "date-time" }),
  link_url: linkUrl(),
  link_expires_at: Type.String({ format: "date-time" }),
  status: status(),
  client_id: Type.Optional(Type.String({ format: "uuid" })),
  external_id: optionalText(),
});

/** What a business sees: the decision and where it comes from, nothing of the applicant. */
export const KycApplicationJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  created_at: Type.String({ format: "date-time" }),
  link_url: Type.Optional(linkUrl(" Absent from 30 days after the application ended: by then it has long led nowhere.")),
  link_expires_at: Type.String({ format: "date-time" }),
  status: status(),
  synced_at: Type.String({ format: "date-time", description: "When the verification provider was last heard of about it." }),
  aml_hit_count: Type.Integer(),
  reason_codes: Type.Array(Type.Object({ code: Type.String({ examples: ["DOCUMENT_EXPIRED"] }), message: optionalText() })),
  attempts_used: Type.Integer(),
  attempts_remaining: Type.Integer(),
  client_id: Type.Optional(Type.String({ format: "uuid" })),
  external_id: optionalText(),
  verdict: Type.Optional(Type.Enum(kycVerdicts)),
  completed_at: Type.Optional(Type.String({ format: "date-time" })),
  decision_summary: optionalText(),
  document_type: Type.Optional(Type.Enum([...kycDocuments])),
  document_expiry: Type.Optional(Type.String({ format: "date" })),
  nationality: Type.Optional(Type.String({ examples: ["DZA"] })),
  liveness_outcome: optionalText(),
  face_match_outcome: optionalText(),
  aml_decision: optionalText(),
  error_message: optionalText(),
  metadata: Type.Object({}, { additionalProperties: true, description: "As it was sent: key order, escapes and numbers." }),
});

/** What an operator sees of one: the link is between a business and its applicant. */
export const KycReviewJson = Type.Omit(KycApplicationJson, ["link_url"]);

export const renderKycApplicationCreation = renderer(KycApplicationSchema, KycApplicationCreation, {
  link_url: ({ linkUrl }) => linkUrl ?? "",
});

const renderView = renderer(KycApplicationSchema, Type.Omit(KycApplicationJson, ["metadata"]), {
  reason_codes: ({ reasonCodes }) => renderKycReasons(reasonCodes),
});

/** As JSON text; without the link for an application that came without it. */
export const renderKycApplication = (application: KycApplication): string =>
  withMember(renderView(application), "metadata", application.metadata);

export const renderKycReasons = (reasons: readonly KycReason[]) => reasons.map(({ code, message }) => ({ code, message }));
