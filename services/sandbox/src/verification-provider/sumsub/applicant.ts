import type { Application } from "../application.ts";
import { canary, codesOf, overrideFields } from "../dialect.ts";
import type { ReasonCode } from "../vocabulary.ts";

/** Reject label of each reason (docs.sumsub.com/docs/rejection-labels). */
const labels: Readonly<Record<ReasonCode, string>> = {
  DOCUMENT_EXPIRED: "EXPIRATION_DATE",
  DOCUMENT_UNREADABLE: "LOW_QUALITY",
  DOCUMENT_NOT_ALLOWED: "NOT_DOCUMENT",
  DOCUMENT_TAMPERED: "FORGERY",
  FACE_MISMATCH: "SELFIE_MISMATCH",
  LIVENESS_FAILED: "BAD_SELFIE",
  PROFILE_MISMATCH: "PROBLEMATIC_APPLICANT_DATA",
  UNDERAGE: "AGE_REQUIREMENT_MISMATCH",
  AML_MATCH: "SANCTIONS",
  DUPLICATE: "DUPLICATE",
};

const statusOf: Readonly<Record<string, string>> = {
  CREATED: "init",
  OPENED: "init",
  SUBMITTED: "pending",
  PROCESSING: "queued",
  FAILED: "completed",
  COMPLETED: "completed",
};

export const labelsOf = ({ reasons, isAmlCleared }: Application): string[] =>
  codesOf(reasons)
    .filter((code) => code !== "AML_MATCH" || !isAmlCleared)
    .map((code) => labels[code]);

/**
 * Returns whether the applicant is deactivated or deleted. Such an applicant permits no operation.
 */
export const isInactive = ({ vendor }: Application): boolean => Boolean(vendor?.isDeleted || vendor?.isDeactivated);

/**
 * Returns the review status. It does not change when the link expires or the applicant is
 * deactivated.
 */
export function reviewStatus({ status, verdict, attemptsUsed }: Application): string {
  if (status === "COMPLETED" && verdict === "NEEDS_REVIEW") return "onHold";
  return statusOf[status] ?? (attemptsUsed > 0 ? "completed" : "init");
}

export function reviewResult(application: Application): object | undefined {
  const { verdict, isRejectedByApi } = application;
  const status = reviewStatus(application);
  const rejectLabels = [...labelsOf(application), ...(isRejectedByApi ? ["EXTERNAL_DECISION_REJECTION"] : [])];
  const comments = { moderationComment: canary("comment"), clientComment: canary("client-comment") };
  if (status === "onHold") return { reviewAnswer: "RED", rejectLabels, ...comments };
  if (status !== "completed") return undefined;
  if (verdict === "APPROVED") return { reviewAnswer: "GREEN" };
  const isFinal = verdict === "REJECTED";
  return {
    reviewAnswer: "RED",
    reviewRejectType: isFinal ? "FINAL" : "RETRY",
    rejectLabels: isFinal ? rejectLabels : ["LOW_QUALITY"],
    ...comments,
  };
}

const documentOf = ({ documentType, documentExpiry }: Application) => ({
  idDocType: documentType === "id_card" ? "ID_CARD" : "PASSPORT",
  country: "DZA",
  firstName: canary("first-name"),
  lastName: canary("last-name"),
  dob: canary("birth-date"),
  number: canary("document-number"),
  mrzLine1: canary("mrz"),
  validUntil: documentExpiry,
});

/** Returns an applicant with personal data (docs.sumsub.com/reference/get-applicant-data). */
export function applicantOf(application: Application): object {
  const { providerId, reference, vendor, language, attemptsUsed, completedAtMs, nationality } = application;
  const names = vendor?.profileNames ?? [];
  const isDifferent = codesOf(application.reasons).includes("PROFILE_MISMATCH");
  const profile = Object.fromEntries(names.map((name) => [name, name === "nationality" ? nationality : canary(name)]));
  const document = isDifferent ? Object.fromEntries(names.map((name) => [name, canary(`other-${name}`)])) : profile;
  const applicant = {
    id: providerId,
    createdAt: "2026-01-01 00:00:00",
    clientId: "amana",
    inspectionId: canary("inspection"),
    externalUserId: reference,
    ...(vendor?.isDeleted && { deleted: true }),
    type: "individual",
    lang: language,
    applicantPlatform: canary("device"),
    ipCountry: canary("ip-address"),
    email: canary("email"),
    phone: canary("phone"),
    fixedInfo: profile,
    info: {
      ...document,
      ...(application.documentType && {
        nationality,
        middleName: canary("middle-name"),
        addresses: [{ town: canary("address") }],
        idDocs: [documentOf(application)],
      }),
    },
    requiredIdDocs: {
      docSets: [
        { idDocSetType: "IDENTITY", types: application.allowedDocuments.map((type) => type.toUpperCase()) },
        {
          idDocSetType: "SELFIE",
          types: ["SELFIE"],
          videoRequired: application.requireVideo ? "passiveLiveness" : "photoRequired",
        },
      ],
    },
    review: {
      reviewId: canary("review"),
      attemptId: `attempt-${attemptsUsed}`,
      attemptCnt: attemptsUsed,
      levelName: vendor?.workflowOrLevel,
      reviewStatus: reviewStatus(application),
      reviewResult: reviewResult(application),
      ...(completedAtMs !== undefined && {
        reviewDate: new Date(completedAtMs).toISOString().replace("T", " ").replace(/\..*/, "+0000"),
      }),
    },
  };
  const { requiredIdDocsStatus: _steps, amlCase: _case, ...answer } = application.answer ?? {};
  return overrideFields(applicant, answer);
}

/** Returns the verification steps (docs.sumsub.com/reference/get-status-of-verification-steps). */
export function stepsOf(application: Application): object {
  if (!application.documentType) {
    const { document } = application.steps;
    const begun = document ? { idDocType: document.toUpperCase(), country: "DZA" } : null;
    return overrideFields({ IDENTITY: begun, SELFIE: null }, stepsOverride(application));
  }
  const { idDocType, country } = documentOf(application);
  const codes = codesOf(application.reasons);
  const answer = (isRed: boolean) => ({ reviewResult: { reviewAnswer: isRed ? "RED" : "GREEN" }, imageIds: [canary("image")] });
  const hasDocumentReason = codes.some((code) => code.startsWith("DOCUMENT_") || code === "UNDERAGE");
  const steps = {
    IDENTITY: { idDocType, country, ...answer(application.verdict !== "APPROVED" && hasDocumentReason) },
    SELFIE: { idDocType: "SELFIE", country, ...answer(codes.includes("FACE_MISMATCH") || codes.includes("LIVENESS_FAILED")) },
  };
  return overrideFields(steps, stepsOverride(application));
}

const stepsOverride = ({ answer }: Application) => (answer?.["requiredIdDocsStatus"] ?? {}) as Readonly<Record<string, unknown>>;

/** Returns the AML case (docs.sumsub.com/reference/get-aml-case-data), if there is one. */
export function amlCaseOf(application: Application): object | undefined {
  const { providerId, amlHitCount, isAmlCleared, amlDecision, answer } = application;
  const overrides = answer?.["amlCase"];
  if (!application.documentType || overrides === null) return undefined;
  const matchStatus =
    amlDecision === "CONFIRMED_MATCH" ? "true_positive" : isAmlCleared || amlDecision === "CLEAR" ? "false_positive" : "unknown";
  const amlCase = {
    targetEntityId: providerId,
    review: { answer: amlHitCount > 0 && !isAmlCleared ? "RED" : "GREEN" },
    hits: Array.from({ length: amlHitCount }, () => ({ name: canary("hit-name"), review: { matchStatus } })),
  };
  return overrideFields(amlCase, overrides as Readonly<Record<string, unknown>> | undefined);
}
