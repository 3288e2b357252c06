import { type VendorNames, vendorNameOf } from "../profile.ts";
import {
  countMax,
  type Fields,
  readCount,
  readCountry,
  readDate,
  readMatching,
  readObject,
  readTime,
  readToken,
} from "../read-values.ts";
import { hashState, noEvidence } from "../vendor-state.ts";
import type {
  ApplicationState,
  CheckOutcome,
  DocumentType,
  KnownApplication,
  KycStatus,
  ReasonCode,
  Verdict,
} from "../verification-provider.ts";
import { reasonOfRisk } from "./didit-reasons.ts";

/**
 * Our status and verdict for each Didit session status
 * (docs.didit.me/integration/verification-statuses).
 */
const statuses = new Map<unknown, readonly [KycStatus, Verdict?]>([
  ["Not Started", ["CREATED"]],
  ["In Progress", ["OPENED"]],
  ["Resubmitted", ["FAILED"]],
  ["Approved", ["COMPLETED", "APPROVED"]],
  // The session was approved, and a document has expired since then.
  ["Kyc Expired", ["COMPLETED", "APPROVED"]],
  ["Declined", ["COMPLETED", "REJECTED"]],
  ["In Review", ["COMPLETED", "NEEDS_REVIEW"]],
  ["Expired", ["EXPIRED"]],
  ["Abandoned", ["EXPIRED"]],
]);

export const readStatus = (value: unknown): KycStatus | undefined => statuses.get(value)?.[0];

/**
 * Sections of a decision that `readOtherSections` skips: sections that other functions read, and
 * `reviews`, which is not a feature.
 */
const readElsewhere = new Set(["id_verifications", "liveness_checks", "face_matches", "aml_screenings", "reviews"]);
/** Didit's names of profile fields, in requests and in decisions. */
export const diditNames: VendorNames = {
  first_name: "first_name",
  last_name: "last_name",
  birth_date: "date_of_birth",
  gender: "gender",
  nationality: "nationality",
};
const itemsMax = 100;

/**
 * Reads the decision of a session (docs.didit.me/sessions-api/retrieve-session). This function is
 * the allow-list for Didit: no other field reaches our code. Returns undefined if the status is
 * unknown. `environment` is the configured environment, live or sandbox.
 */
export function readDecision(content: unknown, known: KnownApplication, environment: string): ApplicationState | undefined {
  const fields = readObject(content);
  const providerId = readToken(fields["session_id"]);
  const reference = readToken(fields["vendor_data"]);
  const [status, verdict] = statuses.get(fields["status"]) ?? [];
  if (!providerId || !reference || !status) return undefined;
  const isDecided = status === "COMPLETED";
  const reader = createReader(fields, isDecided && verdict === "APPROVED");
  const evidence = isDecided ? readEvidence(reader, fields, known) : noEvidence;
  if (isDecided && fields["environment"] !== environment) reader.unread.add("environment");
  if (isDecided && fields["session_kind"] !== "user") reader.unread.add("session_kind");
  const state = {
    providerId,
    reference,
    status,
    sequence: undefined,
    attemptsUsed: isDecided || status === "FAILED" ? 1 : 0,
    verdict,
    ...evidence,
    reasonCodes: [...reader.reasons],
    unread: [...reader.unread],
    linkExpiresAt: undefined,
    completedAt: undefined,
  };
  return { ...state, stateHash: hashState(fields["status"], state) };
}

type Reader = ReturnType<typeof createReader>;

/** Creates a reader of sections that collects reason codes and the names of unread fields. */
function createReader(fields: Fields, isApproved: boolean) {
  const reasons = new Set<ReasonCode>();
  const unread = new Set<string>();
  const readWarnings = (name: string, value: unknown) => {
    if (!Array.isArray(value) || value.length > itemsMax) {
      unread.add(name);
      return;
    }
    for (const warning of value) {
      const { risk, log_type: logType } = readObject(warning);
      const reason = reasonOfRisk(risk, logType);
      if (reason === undefined) unread.add(name);
      else if (reason !== "none") reasons.add(reason);
    }
  };
  return {
    reasons,
    unread,
    /**
     * Returns the items of a section, or an empty list if it is absent or unreadable. `label` is
     * the name of the section in `unread`.
     */
    items(name: string, label = name): Fields[] {
      const value = fields[name];
      if (value == null) return [];
      if (!Array.isArray(value) || value.length > itemsMax) {
        unread.add(label);
        return [];
      }
      const items = value.map(readObject);
      for (const item of items) {
        // In an approved session, every feature must be approved.
        if (isApproved && item["status"] !== "Approved") unread.add(label);
        readWarnings(label, item["warnings"]);
      }
      return items;
    },
  };
}

function readEvidence(reader: Reader, fields: Fields, known: KnownApplication) {
  const documents = reader.items("id_verifications");
  const liveness = reader.items("liveness_checks");
  const faces = reader.items("face_matches");
  const screenings = reader.items("aml_screenings");
  readOtherSections(reader, fields);
  readProfile(reader, fields, known);
  return {
    livenessOutcome: combineOutcomes(liveness.map(livenessOf)),
    faceMatchOutcome: combineOutcomes(faces.map((face) => checkOf(face["status"]))),
    ...readDocuments(reader, documents),
    ...readScreenings(screenings),
  };
}

/**
 * Adds each feature of the other sections to `unread` if Didit did not approve the feature. A
 * section is a feature if it is a list of objects, or an object with a status or warnings.
 */
function readOtherSections(reader: Reader, fields: Fields): void {
  for (const [name, value] of Object.entries(fields)) {
    if (readElsewhere.has(name)) continue;
    const isFeature = Array.isArray(value)
      ? value.some((item) => typeof item === "object")
      : "status" in readObject(value) || "warnings" in readObject(value);
    // The vendor chooses the name, and kyc logs it. Uses only a limited number of names in the
    // expected format.
    const label = (reader.unread.size < itemsMax ? readMatching(/^[a-z_]{1,64}$/, name) : undefined) ?? "other_feature";
    if (!isFeature) continue;
    for (const item of reader.items(name, label)) if (item["status"] !== "Approved") reader.unread.add(label);
  }
}

function readProfile(reader: Reader, fields: Fields, { profileKeys }: KnownApplication): void {
  const expected = readObject(fields["expected_details"]);
  for (const key of profileKeys) {
    const name = vendorNameOf(diditNames, key);
    if (name === undefined || expected[name] == null) reader.unread.add("profile");
  }
}

function readDocuments(reader: Reader, documents: readonly Fields[]) {
  const types = documents.map(({ document_type: type }) => documentTypeOf(type));
  const documentType = allEqual(types);
  if (documents.length > 0 && documentType === undefined) {
    reader.unread.add("document_type");
    reader.reasons.add("DOCUMENT_NOT_ALLOWED");
  }
  const expiries = documents.map(({ expiration_date: date }) => readDate(date));
  const isComplete = expiries.length > 0 && !expiries.includes(undefined);
  return {
    documentType,
    documentExpiry: isComplete ? expiries.toSorted()[0] : undefined,
    nationality: allEqual(documents.map(({ nationality }) => readCountry(nationality))),
  };
}

/**
 * Reads the AML result. Counts every hit, even a "False Positive", because Didit sets this status
 * automatically if the score of a hit is low.
 */
function readScreenings(screenings: readonly Fields[]) {
  if (screenings.length === 0) return { amlHitCount: undefined, amlDecision: undefined };
  const counts = screenings.map(({ total_hits: total, hits }) => {
    const count = readCount(total);
    return count === undefined || !Array.isArray(hits) ? undefined : Math.max(count, hits.length);
  });
  const amlHitCount = counts.reduce<number | undefined>(
    (sum, count) => (sum === undefined || count === undefined ? undefined : Math.min(sum + count, countMax)),
    0,
  );
  const hits = screenings.flatMap(({ hits }) => (Array.isArray(hits) ? hits.map(readObject) : []));
  const isConfirmed = hits.some(({ review_status: status }) => status === "Confirmed Match");
  const isClear = amlHitCount === 0 && screenings.every(({ status }) => status === "Approved");
  const amlDecision = isConfirmed ? ("CONFIRMED_MATCH" as const) : isClear ? ("CLEAR" as const) : ("POSSIBLE_MATCH" as const);
  return { amlHitCount, amlDecision };
}

const documentTypeOf = (value: unknown): DocumentType | undefined =>
  value === "Identity Card" ? "id_card" : value === "Passport" ? "passport" : undefined;

const checkOf = (status: unknown): CheckOutcome =>
  status === "Approved" ? "PASSED" : status === "Declined" ? "FAILED" : "INCONCLUSIVE";

/**
 * Returns whether a liveness method proves liveness. PASSIVE does not prove liveness, because it
 * evaluates only one picture.
 */
export const isActiveLiveness = (method: unknown): boolean =>
  typeof method === "string" && ["ACTIVE_3D", "FLASHING"].includes(method.toUpperCase());

function livenessOf({ status, method }: Fields): CheckOutcome {
  const outcome = checkOf(status);
  return outcome === "PASSED" && !isActiveLiveness(method) ? "INCONCLUSIVE" : outcome;
}

function combineOutcomes(outcomes: readonly CheckOutcome[]): CheckOutcome | undefined {
  if (outcomes.length === 0) return undefined;
  if (outcomes.includes("FAILED")) return "FAILED";
  return outcomes.every((outcome) => outcome === "PASSED") ? "PASSED" : "INCONCLUSIVE";
}

const allEqual = <T>(values: readonly (T | undefined)[]): T | undefined =>
  values.every((value) => value === values[0]) ? values[0] : undefined;

/** Page size of a request for reviews. */
export const reviewsMax = 20;

/**
 * Returns whether the newest status change is an approval by a person in Didit's console. A note
 * that the API added has the same actor type as a person, but no e-mail address and no previous
 * status. Returns undefined if the content is not a list of reviews.
 */
export function isApprovedByPerson(content: unknown): boolean | undefined {
  const { results, next } = readObject(content);
  if (!Array.isArray(results)) return undefined;
  const rows = results.map(readObject);
  const timeOf = ({ created_at: time }: Fields) => readTime(time)?.getTime() ?? Number.NaN;
  // Didit does not document the order of the reviews. If the oldest reviews come first, the newest
  // review may be on a later page.
  const isCut = results.length >= reviewsMax || next != null;
  const isNewestFirst = timeOf(rows[0] ?? {}) > timeOf(rows.at(-1) ?? {});
  if (isCut && !isNewestFirst) return false;
  const changes = rows.filter(({ activity_type: type }) => type === "STATUS_UPDATED");
  // A change without a readable time may be the newest change.
  if (changes.some((change) => Number.isNaN(timeOf(change)))) return false;
  const newestMs = Math.max(...changes.map(timeOf));
  // If several changes have the newest time, each of them may be the newest change.
  const newest = changes.filter((change) => timeOf(change) === newestMs);
  return newest.length > 0 && newest.every((change) => change["new_status"] === "Approved" && isByPerson(change));
}

function isByPerson(approval: Fields): boolean {
  const { actor_type: actor, actor_email: email, previous_status: previous } = approval;
  return actor === "CONSOLE_USER" && typeof email === "string" && email !== "" && typeof previous === "string" && previous !== "";
}
