import { isCountryAlpha3 } from "@amana/public-api";
import {
  type ApplicationState,
  amlDecisions,
  type ChangesSince,
  type CreatedApplication,
  checkOutcomes,
  documentTypes,
  kycStatuses,
  type ReasonCode,
  reasonCodes,
  verdicts,
} from "./verification-provider.ts";

type Fields = Readonly<Record<string, unknown>>;

const reasonsMax = 20;
const linkCharactersMax = 2_048;

/**
 * Reads an application's state from a response of the provider. This is the allow-list: fields that
 * are not read here never reach our code, logs or database. Unknown values become undefined.
 * Unknown values of evidence are also listed in `unread`. Returns undefined if id, reference,
 * status or sequence is missing or invalid.
 */
export function readState(content: unknown): ApplicationState | undefined {
  const fields = readObject(content);
  const providerId = token(fields["provider_id"]);
  const reference = token(fields["reference"]);
  const status = oneOf(kycStatuses, fields["status"]);
  const sequence = count(fields["sequence"]);
  if (!providerId || !reference || !status || sequence === undefined) return undefined;
  const unread: string[] = [];
  const readEvidence = <T>(name: string, read: (value: unknown) => T | undefined): T | undefined => {
    const value = fields[name] === "" ? null : fields[name];
    const result = read(value);
    if (value != null && result === undefined) unread.push(name);
    return result;
  };
  const evidence = {
    verdict: readEvidence("verdict", (value) => oneOf(verdicts, value)),
    livenessOutcome: readEvidence("liveness_outcome", (value) => oneOf(checkOutcomes, value)),
    faceMatchOutcome: readEvidence("face_match_outcome", (value) => oneOf(checkOutcomes, value)),
    documentType: readEvidence("document_type", (value) => oneOf(documentTypes, value)),
    documentExpiry: readEvidence("document_expiry", date),
    amlHitCount: readEvidence("aml_hit_count", count),
    amlDecision: readEvidence("aml_decision", (value) => oneOf(amlDecisions, value)),
  };
  const reasons = readReasons(fields["reason_codes"] ?? []);
  if (!reasons.isComplete) unread.push("reason_codes");
  return {
    providerId,
    reference,
    status,
    sequence,
    attemptsUsed: count(fields["attempts_used"]) ?? 0,
    reasonCodes: reasons.codes,
    ...evidence,
    unread,
    nationality: country(fields["nationality"]),
    linkExpiresAt: time(fields["link_expires_at"]),
    completedAt: time(fields["completed_at"]),
  };
}

export function readCreated(content: unknown): CreatedApplication | undefined {
  const fields = readObject(content);
  const providerId = token(fields["provider_id"]);
  const linkUrl = link(fields["link_url"]);
  const linkExpiresAt = time(fields["link_expires_at"]);
  const status = oneOf(kycStatuses, fields["status"]);
  return providerId && linkUrl && linkExpiresAt && status ? { providerId, linkUrl, linkExpiresAt, status } : undefined;
}

export function readChanges(content: unknown, after: string | null): ChangesSince | undefined {
  const { events, cursor } = readObject(content);
  if (!Array.isArray(events)) return undefined;
  const changes = events.flatMap((event) => {
    const { sequence, application } = readObject(event);
    const providerId = token(readObject(application)["provider_id"]);
    const number = count(sequence);
    return providerId && number !== undefined ? [{ providerId, sequence: number }] : [];
  });
  return { changes, cursor: token(cursor) ?? after };
}

/**
 * Returns the provider's error code. Ignores its message, which may contain personal data we sent.
 */
export const readErrorCode = (content: unknown): string =>
  matching(/^[A-Za-z0-9_.-]{1,64}$/, readObject(content)["error"]) ?? "unnamed";

/** Returns the ids and the sequence of a callback. Its other fields are not used. */
export function readCallback(body: Uint8Array) {
  const fields = readObject(parse(Buffer.from(body).toString("utf8")));
  const application = readObject(fields["application"]);
  const eventId = token(fields["event_id"]);
  const sequence = count(fields["sequence"]);
  const providerId = token(application["provider_id"]);
  const reference = token(application["reference"]);
  return eventId && sequence !== undefined && providerId && reference ? { eventId, sequence, providerId, reference } : undefined;
}

/** Returns undefined if the text is not JSON. */
export function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function readObject(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** Returns the known codes, each once. `isComplete`: every entry of the list was read. */
function readReasons(value: unknown): { codes: ReasonCode[]; isComplete: boolean } {
  const entries = Array.isArray(value) ? value.slice(0, reasonsMax) : [];
  const known = entries.map((entry) => oneOf(reasonCodes, readObject(entry)["code"]));
  return {
    codes: [...new Set(known.filter((code) => code !== undefined))],
    isComplete: Array.isArray(value) && value.length <= reasonsMax && !known.includes(undefined),
  };
}

const oneOf = <const T extends string>(values: readonly T[], value: unknown): T | undefined =>
  values.find((allowed) => allowed === value);

const matching = (pattern: RegExp, value: unknown): string | undefined =>
  typeof value === "string" && pattern.test(value) ? value : undefined;

/** Reads an id or a cursor: up to 255 characters of visible ASCII. A number becomes its digits. */
const token = (value: unknown): string | undefined =>
  matching(/^[\x21-\x7e]{1,255}$/, typeof value === "number" ? String(value) : value);

const count = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 2 ** 31 - 1 ? (value as number) : undefined;

const country = (value: unknown): string | undefined => (typeof value === "string" && isCountryAlpha3(value) ? value : undefined);

function time(value: unknown): Date | undefined {
  const parsed = new Date(matching(/^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/, value) ?? Number.NaN);
  return Number.isNaN(parsed.getTime()) ? undefined : parsed;
}

/** Reads a day as YYYY-MM-DD, only if it exists in the calendar. */
function date(value: unknown): string | undefined {
  const day = matching(/^\d{4}-\d{2}-\d{2}$/, value);
  const parsed = new Date(`${day}T00:00:00Z`);
  return day !== undefined && !day.startsWith("0000") && !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day)
    ? day
    : undefined;
}

const link = (value: unknown): string | undefined =>
  typeof value === "string" && value.length <= linkCharactersMax && /^https?:$/.test(URL.parse(value)?.protocol ?? "")
    ? value
    : undefined;
