import {
  parseJson,
  readCount,
  readCountry,
  readDate,
  readLink,
  readMatching,
  readObject,
  readOneOf,
  readTime,
  readToken,
} from "../read-values.ts";
import {
  type ApplicationState,
  amlDecisions,
  type CallbackHint,
  type ChangesSince,
  type CreatedApplication,
  checkOutcomes,
  documentTypes,
  kycStatuses,
  type ReasonCode,
  reasonCodes,
  verdicts,
} from "../verification-provider.ts";

const reasonsMax = 20;

/**
 * Reads an application's state from a response of the provider. This function is the allow-list:
 * kyc neither logs nor stores any other field. Unknown values become undefined. `unread` lists the
 * evidence fields with unknown values. Returns undefined if id, reference, status or sequence is
 * missing or invalid.
 */
export function readState(content: unknown): ApplicationState | undefined {
  const fields = readObject(content);
  const providerId = readToken(fields["provider_id"]);
  const reference = readToken(fields["reference"]);
  const status = readOneOf(kycStatuses, fields["status"]);
  const sequence = readCount(fields["sequence"]);
  if (!providerId || !reference || !status || sequence === undefined) return undefined;
  const unread: string[] = [];
  const readEvidence = <T>(name: string, read: (value: unknown) => T | undefined): T | undefined => {
    const value = fields[name] === "" ? null : fields[name];
    const result = read(value);
    if (value != null && result === undefined) unread.push(name);
    return result;
  };
  const evidence = {
    verdict: readEvidence("verdict", (value) => readOneOf(verdicts, value)),
    livenessOutcome: readEvidence("liveness_outcome", (value) => readOneOf(checkOutcomes, value)),
    faceMatchOutcome: readEvidence("face_match_outcome", (value) => readOneOf(checkOutcomes, value)),
    documentType: readEvidence("document_type", (value) => readOneOf(documentTypes, value)),
    documentExpiry: readEvidence("document_expiry", readDate),
    amlHitCount: readEvidence("aml_hit_count", readCount),
    amlDecision: readEvidence("aml_decision", (value) => readOneOf(amlDecisions, value)),
  };
  const reasons = readReasons(fields["reason_codes"] ?? []);
  if (!reasons.isComplete) unread.push("reason_codes");
  return {
    providerId,
    reference,
    status,
    sequence,
    attemptsUsed: readCount(fields["attempts_used"]) ?? 0,
    reasonCodes: reasons.codes,
    ...evidence,
    unread,
    nationality: readCountry(fields["nationality"]),
    linkExpiresAt: readTime(fields["link_expires_at"]),
    completedAt: readTime(fields["completed_at"]),
  };
}

export function readCreated(content: unknown): CreatedApplication | undefined {
  const fields = readObject(content);
  const providerId = readToken(fields["provider_id"]);
  const linkUrl = readLink(fields["link_url"]);
  const linkExpiresAt = readTime(fields["link_expires_at"]);
  const status = readOneOf(kycStatuses, fields["status"]);
  return providerId && linkUrl && linkExpiresAt && status ? { providerId, linkUrl, linkExpiresAt, status } : undefined;
}

export function readChanges(content: unknown, after: string | null): ChangesSince | undefined {
  const { events, cursor } = readObject(content);
  if (!Array.isArray(events)) return undefined;
  const changes = events.flatMap((event) => {
    const { sequence, application } = readObject(event);
    const providerId = readToken(readObject(application)["provider_id"]);
    const sequenceNumber = readCount(sequence);
    return providerId && sequenceNumber !== undefined ? [{ providerId, sequence: sequenceNumber }] : [];
  });
  return { changes, cursor: readToken(cursor) ?? after };
}

/**
 * Returns the provider's error code. Ignores the message, which may contain personal data.
 */
export const readErrorCode = (content: unknown): string =>
  readMatching(/^[A-Za-z0-9_.-]{1,64}$/, readObject(content)["error"]) ?? "unnamed";

/**
 * Returns the ids and the sequence in a callback. kyc does not use the other fields of a callback.
 */
export function readCallbackHint(body: Uint8Array): CallbackHint | undefined {
  const fields = readObject(parseJson(Buffer.from(body).toString("utf8")));
  const application = readObject(fields["application"]);
  const eventId = readToken(fields["event_id"]);
  const sequence = readCount(fields["sequence"]);
  const providerId = readToken(application["provider_id"]);
  const reference = readToken(application["reference"]);
  return eventId && sequence !== undefined && providerId && reference ? { eventId, sequence, providerId, reference } : undefined;
}

/**
 * Returns each known reason code once. `isComplete` is true if every entry of the list is a known
 * code.
 */
function readReasons(value: unknown): { codes: ReasonCode[]; isComplete: boolean } {
  const entries = Array.isArray(value) ? value.slice(0, reasonsMax) : [];
  const knownCodes = entries.map((entry) => readOneOf(reasonCodes, readObject(entry)["code"]));
  return {
    codes: [...new Set(knownCodes.filter((code) => code !== undefined))],
    isComplete: Array.isArray(value) && value.length <= reasonsMax && !knownCodes.includes(undefined),
  };
}
