import type { ReasonCode } from "../verification-provider.ts";

/** Sumsub's rejection labels for each reason code (docs.sumsub.com/docs/rejection-labels). */
const labelsOf: Partial<Record<ReasonCode, readonly string[]>> = {
  DOCUMENT_EXPIRED: ["EXPIRATION_DATE"],
  DOCUMENT_UNREADABLE: [
    "UNSATISFACTORY_PHOTOS",
    "LOW_QUALITY",
    "BLACK_AND_WHITE",
    "SCREENSHOTS",
    "DOCUMENT_DAMAGED",
    "DOCUMENT_PAGE_MISSING",
    "INCOMPLETE_DOCUMENT",
    "FRONT_SIDE_MISSING",
    "BACK_SIDE_MISSING",
    "UNFILLED_ID",
    "BAD_PROOF_OF_IDENTITY",
    "DIGITAL_DOCUMENT",
  ],
  DOCUMENT_NOT_ALLOWED: ["NOT_DOCUMENT", "ID_INVALID", "WRONG_USER_REGION"],
  DOCUMENT_TAMPERED: ["FORGERY", "GRAPHIC_EDITOR"],
  FACE_MISMATCH: ["SELFIE_MISMATCH", "BAD_FACE_MATCHING"],
  LIVENESS_FAILED: ["BAD_SELFIE", "BAD_VIDEO_SELFIE", "FRAUDULENT_LIVENESS"],
  PROFILE_MISMATCH: ["PROBLEMATIC_APPLICANT_DATA", "INCONSISTENT_PROFILE"],
  UNDERAGE: ["AGE_REQUIREMENT_MISMATCH"],
  AML_MATCH: ["SANCTIONS", "PEP", "ADVERSE_MEDIA", "CRIMINAL", "COMPROMISED_PERSONS"],
  DUPLICATE: ["DUPLICATE"],
};

const codeOf = new Map(Object.entries(labelsOf).flatMap(([code, labels]) => labels.map((label) => [label, code as ReasonCode])));

/**
 * Returns the reason code of a label. Returns undefined if the label is unknown, so that a person
 * must decide.
 */
export const reasonOfLabel = (label: unknown): ReasonCode | undefined =>
  typeof label === "string" ? codeOf.get(label) : undefined;
