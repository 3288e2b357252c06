import { type KycApplication, KycApplicationSchema, type KycReason } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { Type } from "typebox";
import { kycStatuses, kycVerdicts } from "./names.ts";
import { createRenderer, withMember } from "./renderer.ts";

export const kycDocuments = ["id_card", "passport"] as const;

const optionalText = () => Type.Optional(Type.String());
const linkUrl = (more = "") =>
  Type.String({
    description: `Verification link for the applicant. Treat it as a secret: it allows the submission of documents.${more}`,
  });
const status = () => Type.Enum(kycStatuses);

/** Schema of the response to the creation of an application. */
export const KycApplicationCreation = Type.Object({
  id: Type.String({ format: "uuid" }),
  created_at: Type.String({ format: "date-time" }),
  link_url: linkUrl(),
  link_expires_at: Type.String({ format: "date-time" }),
  status: status(),
  client_id: Type.Optional(Type.String({ format: "uuid" })),
  external_id: optionalText(),
});

/**
 * Schema of an application for its business: the decision and its evidence, without applicant data.
 */
export const KycApplicationJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  created_at: Type.String({ format: "date-time" }),
  link_url: Type.Optional(linkUrl(" The link is removed 30 days after the end of the application.")),
  link_expires_at: Type.String({ format: "date-time" }),
  status: status(),
  synced_at: Type.String({
    format: "date-time",
    description: "Time at which the state was last received from the verification provider.",
  }),
  aml_hit_count: Type.Integer({ description: "Number of hits in anti-money-laundering lists." }),
  reason_codes: Type.Array(Type.Object({ code: Type.String({ examples: ["DOCUMENT_EXPIRED"] }), message: optionalText() })),
  attempts_used: Type.Integer({ description: "Number of submissions." }),
  attempts_remaining: Type.Integer({ description: "Number of submissions that are still possible." }),
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
  metadata: Type.Object(
    {},
    { additionalProperties: true, description: "Your own data, unchanged, including the order of keys." },
  ),
});

/** Schema of an application for operators, without the link, which is for the applicant only. */
export const KycReviewJson = Type.Omit(KycApplicationJson, ["link_url"]);

export const renderKycApplicationCreation = createRenderer(KycApplicationSchema, KycApplicationCreation, {
  link_url: ({ linkUrl }) => linkUrl ?? "",
});

const renderView = createRenderer(KycApplicationSchema, Type.Omit(KycApplicationJson, ["metadata"]), {
  reason_codes: ({ reasonCodes }) => renderKycReasons(reasonCodes),
});

/** Renders an application as JSON text. The JSON has a link only if the message has a link. */
export const renderKycApplication = (application: KycApplication): string =>
  withMember(renderView(application), "metadata", application.metadata);

export const renderKycReasons = (reasons: readonly KycReason[]) => reasons.map(({ code, message }) => ({ code, message }));
