import type { Application } from "../application.ts";
import { canary, codesOf, overrideFields } from "../dialect.ts";
import type { ReasonCode } from "../vocabulary.ts";

type Feature = "id" | "liveness" | "face" | "aml";

/**
 * Feature and risk of the warning that Didit returns for each reason (docs.didit.me, warnings page
 * of each feature).
 */
const risks: Readonly<Record<ReasonCode, readonly [Feature, string]>> = {
  DOCUMENT_EXPIRED: ["id", "DOCUMENT_EXPIRED"],
  DOCUMENT_UNREADABLE: ["id", "IMAGE_TOO_BLURRY"],
  DOCUMENT_NOT_ALLOWED: ["id", "DOCUMENT_NOT_SUPPORTED_FOR_APPLICATION"],
  DOCUMENT_TAMPERED: ["id", "SCREEN_CAPTURE_DETECTED"],
  FACE_MISMATCH: ["face", "LOW_FACE_MATCH_SIMILARITY"],
  LIVENESS_FAILED: ["liveness", "LOW_LIVENESS_SCORE"],
  PROFILE_MISMATCH: ["id", "FULL_NAME_MISMATCH_WITH_PROVIDED"],
  UNDERAGE: ["id", "MINIMUM_AGE_NOT_MET"],
  AML_MATCH: ["aml", "POSSIBLE_MATCH_FOUND"],
  DUPLICATE: ["id", "POSSIBLE_DUPLICATED_USER"],
};

/** Returns the status of a session (docs.didit.me/integration/verification-statuses). */
export function sessionStatus({ status, verdict }: Application): string {
  if (status === "CREATED") return "Not Started";
  if (status === "COMPLETED") return verdict === "APPROVED" ? "Approved" : verdict === "REJECTED" ? "Declined" : "In Review";
  if (status === "FAILED") return "Resubmitted";
  return status === "EXPIRED" ? "Expired" : "In Progress";
}

/** Returns the decision of a session. Each personal field contains a canary. */
export function decisionOf(application: Application): Record<string, unknown> {
  const { providerId, reference, vendor, language } = application;
  const decision = {
    session_id: providerId,
    session_kind: "user",
    session_number: 1,
    session_url: canary("session-url"),
    status: sessionStatus(application),
    workflow_id: vendor?.workflowOrLevel,
    vendor_data: reference,
    environment: "sandbox",
    metadata: null,
    language,
    expected_details: Object.fromEntries((vendor?.profileNames ?? []).map((name) => [name, canary(name)])),
    contact_details: { email: canary("email"), phone: canary("phone") },
    reviews: (vendor?.reviews ?? []).map(({ to }) => ({
      user: canary("reviewer"),
      new_status: to,
      comment: canary("comment"),
    })),
    ...(application.documentType ? featuresOf(application) : withoutFeatures),
  };
  return overrideFields(decision, application.answer);
}

const withoutFeatures = {
  id_verifications: null,
  liveness_checks: null,
  face_matches: null,
  aml_screenings: null,
  ip_analyses: null,
};

function featuresOf(application: Application): object {
  const { requireVideo, documentType, documentExpiry, nationality, amlHitCount, isAmlCleared, verdict } = application;
  const codes = codesOf(application.reasons).filter((code) => code !== "AML_MATCH" || !isAmlCleared);
  const warningsOf = (feature: Feature) =>
    codes
      .map((code) => risks[code])
      .filter(([of]) => of === feature)
      .map(([, risk]) => ({
        feature,
        risk,
        log_type: verdict === "REJECTED" ? "error" : "warning",
        additional_data: { value: canary("warning") },
      }));
  const statusOf = (warnings: readonly object[]) =>
    warnings.length === 0 || verdict === "APPROVED" ? "Approved" : verdict === "REJECTED" ? "Declined" : "In Review";
  const id = warningsOf("id");
  const liveness = warningsOf("liveness");
  const face = warningsOf("face");
  const aml = warningsOf("aml");
  return {
    id_verifications: [
      {
        status: statusOf(id),
        document_type: documentType === "id_card" ? "Identity Card" : "Passport",
        document_number: canary("document-number"),
        personal_number: canary("personal-number"),
        expiration_date: documentExpiry,
        nationality,
        issuing_state: "DZA",
        first_name: canary("first-name"),
        last_name: canary("last-name"),
        date_of_birth: canary("birth-date"),
        address: canary("address"),
        mrz: canary("mrz"),
        front_image: canary("front-image"),
        portrait_image: canary("portrait-image"),
        matches: [{ vendor_data: canary("match") }],
        warnings: id,
      },
    ],
    liveness_checks: [
      {
        status: statusOf(liveness),
        method: requireVideo ? "ACTIVE_3D" : "PASSIVE",
        score: 97,
        video_url: canary("video"),
        warnings: liveness,
      },
    ],
    face_matches: [{ status: statusOf(face), score: 98, source_image: canary("source-image"), warnings: face }],
    aml_screenings: [
      {
        status: statusOf(aml),
        total_hits: amlHitCount,
        hits: Array.from({ length: amlHitCount }, () => ({
          caption: canary("hit-name"),
          review_status: isAmlCleared ? "False Positive" : "Unreviewed",
        })),
        screened_data: { full_name: canary("screened-name") },
        warnings: aml,
      },
    ],
    ip_analyses: [{ status: "Approved", ip_address: canary("ip-address"), device_model: canary("device"), warnings: [] }],
  };
}
