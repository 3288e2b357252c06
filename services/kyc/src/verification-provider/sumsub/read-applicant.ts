import { type VendorNames, vendorNameOf } from "../profile.ts";
import { type Fields, readCount, readCountry, readDate, readMatching, readObject, readTime, readToken } from "../read-values.ts";
import { endsReviewWithApproval, hashState, noEvidence, withoutProof } from "../vendor-state.ts";
import type {
  AmlDecision,
  ApplicationState,
  CheckOutcome,
  DocumentType,
  KnownApplication,
  KycStatus,
  ReasonCode,
  Verdict,
} from "../verification-provider.ts";
import { reasonOfLabel } from "./sumsub-reasons.ts";

/** Ids and review of an applicant, without its steps. */
export interface ApplicantReview {
  readonly providerId: string;
  readonly reference: string;
  readonly reviewStatus: string;
  /**
   * Undefined if `reviewStatus` is `init`, because only the steps show whether the status is
   * CREATED or OPENED.
   */
  readonly status: KycStatus | undefined;
  readonly verdict: Verdict | undefined;
  readonly levelName: string | undefined;
}

const statuses = new Map<string, KycStatus>([
  ["awaitingUser", "OPENED"],
  ["pending", "SUBMITTED"],
  ["prechecked", "PROCESSING"],
  ["queued", "PROCESSING"],
  // An applicant with this status can already have a review result, which is not final.
  ["awaitingService", "PROCESSING"],
]);

const itemsMax = 100;
const faceLabels: readonly unknown[] = ["SELFIE_MISMATCH", "BAD_FACE_MATCHING"];

/**
 * Reads the ids and the review of an applicant (docs.sumsub.com/docs/applicant-statuses). Returns
 * undefined if the review status or its result is unknown. `isDeactivatedHere` is true if kyc
 * itself has just deactivated the applicant. In this case the returned status comes from the review
 * and is not CANCELED.
 */
export function readReview(content: unknown, isDeactivatedHere = false): ApplicantReview | undefined {
  const fields = readObject(content);
  const review = readObject(fields["review"]);
  const providerId = readToken(fields["id"]);
  const reference = readToken(fields["externalUserId"]);
  const reviewStatus = readMatching(/^[A-Za-z]{1,32}$/, review["reviewStatus"]);
  if (!providerId || !reference || !reviewStatus) return undefined;
  const ids = { providerId, reference, reviewStatus, levelName: readMatching(/^.{1,255}$/u, review["levelName"]) };
  if (fields["deleted"] === true && !isDeactivatedHere) return { ...ids, status: "CANCELED", verdict: undefined };
  if (reviewStatus === "init") return { ...ids, status: undefined, verdict: undefined };
  if (reviewStatus === "onHold") return { ...ids, status: "COMPLETED", verdict: "NEEDS_REVIEW" };
  if (reviewStatus === "completed") {
    const { reviewAnswer, reviewRejectType } = readObject(review["reviewResult"]);
    if (reviewAnswer === "GREEN") return { ...ids, status: "COMPLETED", verdict: "APPROVED" };
    if (reviewAnswer === "RED" && reviewRejectType === "FINAL") return { ...ids, status: "COMPLETED", verdict: "REJECTED" };
    if (reviewAnswer === "RED" && reviewRejectType === "RETRY") return { ...ids, status: "FAILED", verdict: undefined };
    return undefined;
  }
  const status = statuses.get(reviewStatus);
  return status && { ...ids, status, verdict: undefined };
}

interface Responses {
  /** Response to GET /resources/applicants/{id}/one. */
  readonly applicant: unknown;
  /** Response to GET …/requiredIdDocsStatus, or undefined if it was not read. */
  readonly steps: unknown;
  /** Response to GET …/amlCase, or undefined if it was not read or no case exists. */
  readonly amlCase: unknown;
}

/** The verdict, and the sets for reason codes and for names of unread fields. */
interface Reader {
  readonly verdict: Verdict | undefined;
  readonly reasons: Set<ReasonCode>;
  readonly unread: Set<string>;
}

/**
 * Reads an applicant's state. This function is the allow-list for Sumsub: no other field reaches
 * our code. `level` is the name of the configured level for the application's requirements.
 */
export function readApplicant(
  review: ApplicantReview,
  responses: Responses,
  known: KnownApplication,
  level: string | undefined,
): ApplicationState {
  const fields = readObject(responses.applicant);
  const steps = readObject(responses.steps);
  const reviewFields = readObject(fields["review"]);
  const { providerId, reference, verdict } = review;
  const status = review.status ?? (known.status === "CREATED" && !hasBegun(steps) ? "CREATED" : "OPENED");
  const isDecided = status === "COMPLETED";
  const { rejectLabels } = readObject(reviewFields["reviewResult"]);
  const reader: Reader = { verdict, reasons: new Set(), unread: new Set() };
  const { reasons, unread } = reader;
  if (isDecided) {
    readLabels(reader, rejectLabels, known);
    if (level === undefined || review.levelName !== level) unread.add("level");
    if (fields["type"] !== undefined && fields["type"] !== "individual") unread.add("type");
    readOtherSteps(reader, steps);
    readProfile(reader, fields, known);
  }
  const attempts = readCount(reviewFields["attemptCnt"]) ?? 0;
  const state = {
    providerId,
    reference,
    status,
    sequence: undefined,
    attemptsUsed: review.reviewStatus === "init" ? 0 : Math.max(1, attempts),
    verdict,
    ...(isDecided
      ? { ...readEvidence(reader, fields, steps, rejectLabels), ...readAml(reader, responses.amlCase, providerId) }
      : noEvidence),
    linkExpiresAt: undefined,
    completedAt: isDecided ? readSumsubTime(reviewFields["reviewDate"]) : undefined,
  };
  const attempt = [readToken(reviewFields["attemptId"]), attempts, readSumsubTime(reviewFields["reviewDate"])];
  const complete = { ...state, reasonCodes: [...reasons], unread: [...unread] };
  return requireProof({ ...complete, stateHash: hashState(review.reviewStatus, attempt, complete) }, known);
}

/**
 * Changes the verdict of an approval during a review to NEEDS_REVIEW, unless an operator's approval
 * is pending. Sumsub's responses do not prove that a person approved the applicant.
 */
function requireProof(state: ApplicationState, known: KnownApplication): ApplicationState {
  if (!endsReviewWithApproval(state, known)) return state;
  return known.pendingOutcome === "APPROVED" ? { ...state, hasProofOfPerson: true } : withoutProof(state);
}

/**
 * Returns whether the applicant has begun a step. The step APPLICANT_DATA does not count, because
 * kyc itself fills in this step.
 */
const hasBegun = (steps: Fields): boolean =>
  Object.entries(steps).some(([name, step]) => name !== "APPLICANT_DATA" && step != null);

const answerOf = (step: unknown): unknown => readObject(readObject(step)["reviewResult"])["reviewAnswer"];

function readLabels({ verdict, reasons, unread }: Reader, rejectLabels: unknown, { pendingOutcome }: KnownApplication): void {
  if (rejectLabels == null) return;
  if (!Array.isArray(rejectLabels) || rejectLabels.length > itemsMax) {
    unread.add("reason_codes");
    return;
  }
  if (verdict === "APPROVED" && rejectLabels.length > 0) unread.add("reason_codes");
  for (const label of rejectLabels) {
    // Sumsub adds this label to each rejection by API. Ignores the label if kyc itself sent the
    // rejection for an operator.
    if (label === "EXTERNAL_DECISION_REJECTION" && pendingOutcome === "REJECTED") continue;
    const reason = reasonOfLabel(label);
    if (reason) reasons.add(reason);
    else unread.add("reason_codes");
  }
}

function readOtherSteps({ verdict, unread }: Reader, steps: Fields): void {
  if (verdict !== "APPROVED") return;
  for (const [name, step] of Object.entries(steps)) {
    if (name === "IDENTITY" || name === "SELFIE" || answerOf(step) === "GREEN") continue;
    const label = unread.size < itemsMax ? readMatching(/^[A-Z0-9_]{1,64}$/, name) : undefined;
    unread.add(label?.toLowerCase() ?? "other_step");
  }
}

function readEvidence({ verdict, reasons, unread }: Reader, fields: Fields, steps: Fields, rejectLabels: unknown) {
  const info = readObject(fields["info"]);
  const labels = Array.isArray(rejectLabels) ? rejectLabels : [];
  const identity = readObject(steps["IDENTITY"]);
  const hasIdentity = steps["IDENTITY"] != null;
  const documentType = documentTypeOf(identity["idDocType"]);
  if (hasIdentity && documentType === undefined) {
    unread.add("document_type");
    reasons.add("DOCUMENT_NOT_ALLOWED");
  }
  if (hasIdentity && verdict === "APPROVED" && answerOf(identity) !== "GREEN") unread.add("document_type");
  return {
    ...readSelfie(steps["SELFIE"], fields, labels),
    documentType,
    documentExpiry: readExpiry(info, identity),
    nationality: readCountry(info["nationality"]),
  };
}

function readSelfie(
  step: unknown,
  fields: Fields,
  labels: readonly unknown[],
): { livenessOutcome: CheckOutcome | undefined; faceMatchOutcome: CheckOutcome | undefined } {
  if (step == null) return { livenessOutcome: undefined, faceMatchOutcome: undefined };
  const { docSets } = readObject(fields["requiredIdDocs"]);
  const sets = (Array.isArray(docSets) ? docSets : []).map(readObject).filter((set) => set["idDocSetType"] === "SELFIE");
  const isLive = sets.length === 1 && sets[0]?.["videoRequired"] === "passiveLiveness";
  const answer = answerOf(step);
  if (answer === "GREEN") return { livenessOutcome: isLive ? "PASSED" : "NOT_PERFORMED", faceMatchOutcome: "PASSED" };
  if (answer !== "RED") return { livenessOutcome: "INCONCLUSIVE", faceMatchOutcome: "INCONCLUSIVE" };
  const isFaceBlamed = labels.some((label) => faceLabels.includes(label));
  const isOnlyFaceBlamed = isFaceBlamed && labels.every((label) => faceLabels.includes(label));
  return {
    livenessOutcome: isOnlyFaceBlamed ? "INCONCLUSIVE" : "FAILED",
    faceMatchOutcome: isFaceBlamed ? "FAILED" : "INCONCLUSIVE",
  };
}

/**
 * Returns the document's expiry if exactly one document has the type and country of the identity
 * step. Otherwise returns undefined.
 */
function readExpiry({ idDocs }: Fields, { idDocType, country }: Fields): string | undefined {
  const documents = (Array.isArray(idDocs) && idDocs.length <= itemsMax ? idDocs : []).map(readObject);
  const matching = documents.filter((document) => document["idDocType"] === idDocType && document["country"] === country);
  const [document] = matching;
  return matching.length === 1 && document?.["termless"] !== true ? readDate(document?.["validUntil"]) : undefined;
}

const documentTypeOf = (value: unknown): DocumentType | undefined =>
  value === "ID_CARD" ? "id_card" : value === "PASSPORT" ? "passport" : undefined;

/** Sumsub's names of profile fields, in requests and in applicants. */
export const sumsubNames: VendorNames = {
  first_name: "firstName",
  last_name: "lastName",
  birth_date: "dob",
  gender: "gender",
  nationality: "nationality",
};

/**
 * Compares the profile from the request with the document. The values are neither stored nor
 * logged.
 */
function readProfile({ reasons, unread }: Reader, fields: Fields, { profileKeys }: KnownApplication): void {
  const profile = readObject(fields["fixedInfo"]);
  const document = readObject(fields["info"]);
  for (const key of profileKeys) {
    const name = vendorNameOf(sumsubNames, key);
    if (name === undefined) {
      unread.add("profile");
      continue;
    }
    const [expected, actual] = [fold(profile[name]), fold(document[name])];
    if (!expected || expected !== actual) reasons.add("PROFILE_MISMATCH");
  }
}

/**
 * Converts a text to lower case and removes accents, hyphens, apostrophes and spaces, so that names
 * can be compared.
 */
const fold = (value: unknown): string | undefined =>
  typeof value === "string" && value.length <= 1_000
    ? value
        .normalize("NFD")
        .replaceAll(/\p{M}/gu, "")
        .replaceAll(/[\s\-‐-―']/gu, "")
        .toLowerCase()
    : undefined;

/**
 * Reads the AML case. Counts every hit, even if a rule at Sumsub resolved the hit as a false
 * positive.
 */
function readAml({ unread }: Reader, content: unknown, providerId: string) {
  const absent = { amlHitCount: undefined, amlDecision: undefined };
  if (content === undefined) return absent;
  const { targetEntityId, hits, review } = readObject(content);
  if (targetEntityId !== providerId) {
    unread.add("aml_decision");
    return absent;
  }
  if (!Array.isArray(hits)) return absent;
  const { answer, reviewAnswer } = readObject(review);
  const answers = [answer, reviewAnswer].filter((value) => value != null);
  const isGreen = answers.length > 0 && answers.every((value) => value === "GREEN");
  const isConfirmed = hits.some((hit) => readObject(readObject(hit)["review"])["matchStatus"] === "true_positive");
  const amlDecision: AmlDecision = isConfirmed ? "CONFIRMED_MATCH" : hits.length === 0 && isGreen ? "CLEAR" : "POSSIBLE_MATCH";
  return { amlHitCount: readCount(hits.length), amlDecision };
}

/** Reads a time in Sumsub's format ("2026-05-01 10:30:00+0000") or in ISO 8601. */
function readSumsubTime(value: unknown): Date | undefined {
  const text = readMatching(/^[\dT:.Z+ -]{19,32}$/, value);
  return text === undefined ? undefined : readTime(text.replace(" ", "T").replace(/([+-]\d{2})(\d{2})$/, "$1:$2"));
}
