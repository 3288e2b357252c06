/**
 * Review statuses. Pages: https://docs.sumsub.com/reference/get-applicant-review-status and
 * https://docs.sumsub.com/reference/reset-applicant (2026-11-28). Public client libraries of the
 * API also handle "awaitingUser" and "awaitingService".
 */
export type SumsubStatus =
  | "init"
  | "pending"
  | "prechecked"
  | "queued"
  | "completed"
  | "onHold"
  | "awaitingUser"
  | "awaitingService";

/**
 * The result of a review. Page:
 * https://docs.sumsub.com/docs/receive-and-interpret-results-via-api.md (2026-11-28).
 */
export interface SumsubResult {
  readonly reviewAnswer: "GREEN" | "RED";
  readonly rejectLabels?: readonly string[];
  /**
   * RETRY means that the applicant may submit again. FINAL means that the applicant may not submit
   * again.
   */
  readonly reviewRejectType?: "FINAL" | "RETRY";
  /** Comment that may be shown to the applicant. */
  readonly moderationComment?: string;
  /** Comment that must not be shown to the applicant. */
  readonly clientComment?: string;
  readonly buttonIds?: readonly string[];
}

export interface SumsubApplicant {
  readonly id: string;
  readonly inspectionId: string;
  readonly externalUserId: string;
  readonly createdAt: Date;
  readonly type: "individual" | "company";
  readonly given: Readonly<Record<string, unknown>>;
  levelName: string;
  status: SumsubStatus;
  result: SumsubResult | undefined;
  attempt: number;
  /** True if documents and the data from these documents exist. */
  hasDocuments: boolean;
  /** True if the applicant is deactivated. The API names this field `deleted`. */
  deactivated: boolean;
  /** True if the applicant is permanently deleted. Reads then return status 404. */
  erased: boolean;
  tags: readonly string[];
  amlHits: readonly SumsubAmlHit[] | undefined;
}

export interface SumsubAmlHit {
  readonly id: string;
  readonly name: string;
  readonly riskLabels: readonly string[];
}

export interface SumsubLevel {
  readonly id: string;
  readonly name: string;
  readonly docSets: readonly Readonly<Record<string, unknown>>[];
  readonly type?: "individual" | "company";
}

/**
 * Name of the field that contains the AML vendor. Two versions of the page
 * https://docs.sumsub.com/reference/get-aml-case-data (2026-11-28) have different names.
 */
export type AmlVendorField = "screeningVendor" | "vendorAttribution";

const twoDigits = (value: number) => String(value).padStart(2, "0");

/** Formats a time in UTC, for example as "2026-11-28 10:00:00". */
export const dateTime = (at: Date): string =>
  `${at.getUTCFullYear()}-${twoDigits(at.getUTCMonth() + 1)}-${twoDigits(at.getUTCDate())} ` +
  `${twoDigits(at.getUTCHours())}:${twoDigits(at.getUTCMinutes())}:${twoDigits(at.getUTCSeconds())}`;

/** Formats a time in UTC with milliseconds, as in `createdAtMs` of a webhook. */
export const dateTimeMs = (at: Date): string => `${dateTime(at)}.${String(at.getUTCMilliseconds()).padStart(3, "0")}`;

/**
 * Returns the review of an applicant as in Sumsub's responses. Pages:
 * https://docs.sumsub.com/reference/get-applicant-review-status and
 * https://docs.sumsub.com/reference/get-applicant-data (2026-11-28).
 */
export const reviewBody = (applicant: SumsubApplicant): Record<string, unknown> => ({
  reviewId: `R${applicant.id.slice(-5)}`,
  attemptId: `A${applicant.id.slice(-4)}${applicant.attempt}`,
  attemptCnt: applicant.attempt,
  ...(applicant.status === "init" ? {} : { elapsedSincePendingMs: 115_879, elapsedSinceQueuedMs: 95_785 }),
  ...(applicant.attempt > 1 ? { reprocessing: true } : {}),
  levelName: applicant.levelName,
  levelAutoCheckMode: null,
  createDate: `${dateTime(applicant.createdAt)}+0000`,
  ...(applicant.status === "completed" ? { reviewDate: `${dateTime(applicant.createdAt)}+0000` } : {}),
  ...(applicant.result ? { reviewResult: applicant.result } : {}),
  reviewStatus: applicant.status,
  priority: 0,
});

// Personal data from the page's example, which kyc must not store.
const recognizedInfo = {
  firstName: "Serge",
  firstNameEn: "Serge",
  lastName: "Sew",
  lastNameEn: "Sew",
  dob: "2000-03-04",
  country: "DEU",
  nationality: "DEU",
  addresses: [{ street: "Musterstrasse 1", town: "Berlin", postCode: "10115", country: "DEU" }],
  idDocs: [
    {
      idDocType: "ID_CARD",
      country: "DEU",
      firstName: "Serge",
      firstNameEn: "Serge",
      lastName: "Sew",
      lastNameEn: "Sew",
      validUntil: "2028-09-04",
      number: "LGXX359T8",
      dob: "2000-03-04",
      mrzLine1: "IDD<<LGXX359T88<<<<<<<<<<<<<<<",
      mrzLine2: "8904034<2809045D<<<<<<<<<<<<<8",
      mrzLine3: "SEW<<SERGE<<<<<<<<<<<<<<<<<<<<",
    },
  ],
};

const requiredIdDocs = (level: SumsubLevel) => ({ docSets: level.docSets });

/**
 * Returns an applicant as in Sumsub's responses. Page:
 * https://docs.sumsub.com/reference/get-applicant-data (2026-11-28).
 */
export const applicantBody = (applicant: SumsubApplicant, level: SumsubLevel, clientId: string): Record<string, unknown> => ({
  id: applicant.id,
  createdAt: dateTime(applicant.createdAt),
  key: "WBFHTKYHGUTOLX",
  clientId,
  inspectionId: applicant.inspectionId,
  externalUserId: applicant.externalUserId,
  ...applicant.given,
  ...(applicant.hasDocuments ? { info: recognizedInfo } : {}),
  applicantPlatform: "API",
  ipCountry: "DEU",
  agreement: { createdAt: dateTime(applicant.createdAt), source: "WebSDK", targets: ["constConsentEn_v8"] },
  requiredIdDocs: requiredIdDocs(level),
  review: reviewBody(applicant),
  lang: applicant.given["lang"] ?? "en",
  type: applicant.type,
  riskLabels: { attemptId: `A${applicant.id.slice(-4)}`, createdAt: dateTime(applicant.createdAt), device: [] },
  questionnaires: [],
  tags: applicant.tags,
  notes: [],
  ...(applicant.deactivated ? { deleted: true } : { deleted: false }),
});

/**
 * Returns the status of each step. The status of a step is null before an upload. Page:
 * https://docs.sumsub.com/reference/get-applicant-verification-steps-status (2026-11-28).
 */
export function stepsBody(applicant: SumsubApplicant, level: SumsubLevel): Record<string, unknown> {
  const { result } = applicant;
  const step = (name: string, index: number) => {
    if (!applicant.hasDocuments) return null;
    const ids = [122_352_326 + index * 2, 122_352_327 + index * 2];
    // In this imitation, only the first step has the result of a rejection.
    const own = result && index > 0 ? { reviewAnswer: "GREEN" } : result;
    return {
      ...(own ? { reviewResult: own } : {}),
      country: "DEU",
      idDocType: name === "SELFIE" ? "SELFIE" : "ID_CARD",
      imageIds: ids,
      imageReviewResults: Object.fromEntries(own ? ids.map((id) => [String(id), own]) : []),
      forbidden: false,
      partialCompletion: null,
      stepStatuses: null,
      imageStatuses: [],
    };
  };
  return Object.fromEntries(
    level.docSets.map(({ idDocSetType }, index) => [String(idDocSetType), step(String(idDocSetType), index)]),
  );
}

/**
 * Returns an AML case as in Sumsub's responses. Page:
 * https://docs.sumsub.com/reference/get-aml-case-data (2026-11-28).
 */
export const amlBody = (
  applicant: SumsubApplicant,
  hits: readonly SumsubAmlHit[],
  vendorField: AmlVendorField,
): Record<string, unknown> => ({
  id: `c${applicant.id.slice(1)}`,
  createdAt: dateTime(applicant.createdAt),
  targetEntityType: "applicant",
  targetEntityId: applicant.id,
  ...(vendorField === "screeningVendor"
    ? { screeningVendor: "complyAdvantage" }
    : { vendorAttribution: "Powered by ComplyAdvantage CSOM" }),
  ongoingMonitoring: { enabled: true },
  review: { answer: hits.length === 0 ? "GREEN" : "RED" },
  riskLabels: [...new Set(hits.flatMap(({ riskLabels }) => riskLabels))],
  hits: hits.map((hit) => ({ ...hit, dob: ["1974"], countries: ["ES"], sources: ["https://news.example.org/articles/sample"] })),
});

/**
 * Returns a level as in Sumsub's responses. Page:
 * https://docs.sumsub.com/reference/get-available-applicant-levels (2026-11-28).
 */
export const levelBody = (level: SumsubLevel, clientId: string): Record<string, unknown> => ({
  id: level.id,
  clientId,
  name: level.name,
  desc: "",
  type: "standalone",
  applicantType: level.type ?? "individual",
  requiredIdDocs: requiredIdDocs(level),
  notificationSettings: { applicantNotificationState: [] },
  websdkFlowId: null,
  msdkFlowId: null,
  createdAt: "2024-01-15 10:30:00",
  createdBy: "service",
  modifiedAt: "2024-01-15 10:30:00",
  customPrivacyNoteText: null,
  watchListCheckSettings: null,
});
