import type { ReasonCode } from "../verification-provider.ts";

/** Risks that have no effect on the verdict if Didit reports them with the type "information". */
const informational = [
  "QR_NOT_DETECTED",
  "BARCODE_NOT_DETECTED",
  "UNPARSED_ADDRESS",
  "DUPLICATED_IP_ADDRESS",
  "LOW_FACE_LUMINANCE",
  "HIGH_FACE_LUMINANCE",
];

const unreadable = [
  "IMAGE_TOO_BLURRY",
  "IMAGE_TOO_DARK",
  "IMAGE_TOO_BRIGHT",
  "IMAGE_QUALITY_TOO_LOW",
  "DOCUMENT_NOT_FULLY_VISIBLE",
  "DOCUMENT_OCCLUSION_DETECTED",
  "CRITICAL_FIELD_OCCLUSION_DETECTED",
  "COULD_NOT_RECOGNIZE_DOCUMENT",
  "COULD_NOT_DETECT_DOCUMENT_TYPE",
  "MRZ_NOT_DETECTED",
  "NAME_NOT_DETECTED",
  "DATE_OF_BIRTH_NOT_DETECTED",
  "EXPIRATION_DATE_NOT_DETECTED",
  "DOCUMENT_NUMBER_NOT_DETECTED",
  "AGE_NOT_DETECTED",
  "PORTRAIT_IMAGE_NOT_DETECTED",
];

/** The Didit risks for each reason code (docs.didit.me, the warnings page of each feature). */
const risksOf: Partial<Record<ReasonCode, readonly string[]>> = {
  DOCUMENT_EXPIRED: ["DOCUMENT_EXPIRED"],
  DOCUMENT_UNREADABLE: unreadable,
  DOCUMENT_NOT_ALLOWED: ["DOCUMENT_NOT_SUPPORTED_FOR_APPLICATION"],
  DOCUMENT_TAMPERED: [
    "SCREEN_CAPTURE_DETECTED",
    "PRINTED_COPY_DETECTED",
    "PORTRAIT_MANIPULATION_DETECTED",
    "DATA_INCONSISTENT",
    "MRZ_AND_DATA_EXTRACTED_FROM_OCR_NOT_SAME",
    "MRZ_VALIDATION_FAILED",
    "BARCODE_VALIDATION_FAILED",
    "QR_VALIDATION_FAILED",
    "DOCUMENT_SIDES_MISMATCH",
    "DOCUMENT_NUMBER_FORMAT_MISMATCH",
    "PERSONAL_NUMBER_FORMAT_MISMATCH",
    "INVALID_DATE",
  ],
  FACE_MISMATCH: ["LOW_FACE_MATCH_SIMILARITY", "LOW_FRONT_CAMERA_FACE_MATCH_SIMILARITY"],
  LIVENESS_FAILED: ["LIVENESS_FACE_ATTACK", "LOW_LIVENESS_SCORE", "NO_FACE_DETECTED", "MULTIPLE_FACES_DETECTED"],
  UNDERAGE: ["MINIMUM_AGE_NOT_MET", "AGE_BELOW_MINIMUM"],
  AML_MATCH: ["POSSIBLE_MATCH_FOUND"],
  DUPLICATE: [
    "POSSIBLE_DUPLICATED_USER",
    "DUPLICATED_FACE",
    "POSSIBLE_DUPLICATED_FACE",
    "DUPLICATED_FACE_NAME_MISMATCH",
    "DOCUMENT_NAME_DIFFERENT_FROM_OTHER_APPROVED_DOCUMENTS",
  ],
};

const codeOf = new Map(Object.entries(risksOf).flatMap(([code, risks]) => risks.map((risk) => [risk, code as ReasonCode])));

/**
 * Returns the reason code of a warning. Returns "none" if the warning does not affect the verdict.
 * Returns undefined if the risk is unknown, so that a person must decide.
 */
export function reasonOfRisk(risk: unknown, logType: unknown): ReasonCode | "none" | undefined {
  if (typeof risk !== "string") return undefined;
  if (logType === "information" && (unreadable.includes(risk) || informational.includes(risk))) return "none";
  if (risk.endsWith("_MISMATCH_WITH_PROVIDED")) return "PROFILE_MISMATCH";
  return codeOf.get(risk);
}
