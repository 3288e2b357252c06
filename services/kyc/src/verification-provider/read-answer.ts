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
 * The allow-list at the boundary: what is not read here never reaches our code, logs or database.
 * Unknown words count as not said; where a verdict could rest on one, the field is named as unread.
 * Undefined for an answer that does not say what it is about and how far it has come.
 */
export function readState(answer: unknown): ApplicationState | undefined {
  const fields = readObject(answer);
  const providerId = word(fields["provider_id"]);
  const reference = word(fields["reference"]);
  const status = oneOf(kycStatuses, fields["status"]);
  const sequence = count(fields["sequence"]);
  if (!providerId || !reference || !status || sequence === undefined) return undefined;
  const unread: string[] = [];
  const weighed = <T>(name: string, read: (value: unknown) => T | undefined): T | undefined => {
    const value = fields[name] === "" ? null : fields[name];
    const known = read(value);
    if (value != null && known === undefined) unread.push(name);
    return known;
  };
  const evidence = {
    verdict: weighed("verdict", (value) => oneOf(verdicts, value)),
    livenessOutcome: weighed("liveness_outcome", (value) => oneOf(checkOutcomes, value)),
    faceMatchOutcome: weighed("face_match_outcome", (value) => oneOf(checkOutcomes, value)),
    documentType: weighed("document_type", (value) => oneOf(documentTypes, value)),
    documentExpiry: weighed("document_expiry", date),
    amlHitCount: weighed("aml_hit_count", count),
    amlDecision: weighed("aml_decision", (value) => oneOf(amlDecisions, value)),
  };
  const reasons = readReasons(fields["reason_codes"] ?? []);
  if (!reasons.isWhole) unread.push("reason_codes");
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

export function readCreated(answer: unknown): CreatedApplication | undefined {
  const fields = readObject(answer);
  const providerId = word(fields["provider_id"]);
  const linkUrl = link(fields["link_url"]);
  const linkExpiresAt = time(fields["link_expires_at"]);
  const status = oneOf(kycStatuses, fields["status"]);
  return providerId && linkUrl && linkExpiresAt && status ? { providerId, linkUrl, linkExpiresAt, status } : undefined;
}

export function readChanges(answer: unknown, after: string | null): ChangesSince | undefined {
  const { events, cursor } = readObject(answer);
  if (!Array.isArray(events)) return undefined;
  const changes = events.flatMap((event) => {
    const { sequence, application } = readObject(event);
    const providerId = word(readObject(application)["provider_id"]);
    const number = count(sequence);
    return providerId && number !== undefined ? [{ providerId, sequence: number }] : [];
  });
  return { changes, cursor: word(cursor) ?? after };
}

/** The provider's name for what went wrong. Its message is not read: it may repeat what we sent. */
export const readErrorCode = (answer: unknown): string =>
  matching(/^[A-Za-z0-9_.-]{1,64}$/, readObject(answer)["error"]) ?? "unnamed";

/** What a callback is about. Nothing else in it is used. */
export function readCallback(body: Uint8Array) {
  const fields = readObject(parse(Buffer.from(body).toString("utf8")));
  const application = readObject(fields["application"]);
  const eventId = word(fields["event_id"]);
  const sequence = count(fields["sequence"]);
  const providerId = word(application["provider_id"]);
  const reference = word(application["reference"]);
  return eventId && sequence !== undefined && providerId && reference ? { eventId, sequence, providerId, reference } : undefined;
}

/** Undefined for what is not JSON. */
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

/** The known codes, each once; not whole when something in the list is none. */
function readReasons(value: unknown): { codes: ReasonCode[]; isWhole: boolean } {
  const entries = Array.isArray(value) ? value.slice(0, reasonsMax) : [];
  const known = entries.map((entry) => oneOf(reasonCodes, readObject(entry)["code"]));
  return {
    codes: [...new Set(known.filter((code) => code !== undefined))],
    isWhole: Array.isArray(value) && value.length <= reasonsMax && !known.includes(undefined),
  };
}

const oneOf = <const T extends string>(words: readonly T[], value: unknown): T | undefined =>
  words.find((known) => known === value);

const matching = (pattern: RegExp, value: unknown): string | undefined =>
  typeof value === "string" && pattern.test(value) ? value : undefined;

/** Ids and cursors: short, visible ASCII. A number is taken as its digits. */
const word = (value: unknown): string | undefined =>
  matching(/^[\x21-\x7e]{1,255}$/, typeof value === "number" ? String(value) : value);

const count = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 2 ** 31 - 1 ? (value as number) : undefined;

const country = (value: unknown): string | undefined => (typeof value === "string" && isCountryAlpha3(value) ? value : undefined);

function time(value: unknown): Date | undefined {
  const read = new Date(matching(/^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/, value) ?? Number.NaN);
  return Number.isNaN(read.getTime()) ? undefined : read;
}

/** Only days that exist. */
function date(value: unknown): string | undefined {
  const day = matching(/^\d{4}-\d{2}-\d{2}$/, value);
  const read = new Date(`${day}T00:00:00Z`);
  return day !== undefined && !day.startsWith("0000") && !Number.isNaN(read.getTime()) && read.toISOString().startsWith(day)
    ? day
    : undefined;
}

const link = (value: unknown): string | undefined =>
  typeof value === "string" && value.length <= linkCharactersMax && /^https?:$/.test(URL.parse(value)?.protocol ?? "")
    ? value
    : undefined;
