import { type Body, isBoolean, isObject, isOneOf, isText, isWholeNumber, readFields } from "../checks.ts";
import type { Application } from "./application.ts";
import type { Submission } from "./evaluate-submission.ts";
import { differsFromProfile } from "./profile.ts";
import { documentTypes, outcomes, type Reason, type ReasonCode, reasonCodes } from "./vocabulary.ts";

const holdSecondsMax = 86_400;
const messageLengthMax = 500;

const rules = {
  outcome: `must be one of ${outcomes.join(", ")}, or omitted to apply the provider's rules`,
  reasons: `must be a list of ${reasonCodes.join(", ")}, as strings or as {code, message}`,
  diditFailed: 'Didit has no outcome "failed". Submit with another outcome, then use the control call "resubmit"',
  answer: "must be an object whose fields override the application after the check; null removes a field",
};

/**
 * Reads a tester's settings for a submission. Names and birth date are compared with the profile,
 * but not stored.
 */
export function readSubmission(
  body: Body,
  { profile, dialect }: Pick<Application, "profile" | "dialect">,
): { submission: Submission; holdMs: number } | { problems: string[] } {
  const { outcome } = body;
  const { problems, optional } = readFields({
    ...body,
    outcome: isText(outcome) ? outcome.toLowerCase() : outcome,
    // Null counts as absent for fields with a default.
    reason_codes: body["reason_codes"] ?? [],
    aml_hit_count: body["aml_hit_count"] ?? 0,
    hold_seconds: body["hold_seconds"] ?? 0,
  });
  const fields = {
    outcome: optional("outcome", isOneOf(outcomes), rules.outcome),
    reasons: readReasons(optional("reason_codes", isReasonList, rules.reasons)),
    documentType: optional("document_type", isOneOf(documentTypes), `must be ${documentTypes.join(" or ")}`),
    documentExpiry: optional("document_expiry", isDate, "must be a date, YYYY-MM-DD"),
    nationality: optional("nationality", isCountry, "must be three capital letters"),
    isAmlCleared: optional("aml_cleared", isBoolean, "must be true or false"),
    amlHitCount: optional("aml_hit_count", isHitCount, "must be a whole number from 0 to 1000") ?? 0,
  };
  const holdSeconds = optional("hold_seconds", isHold, `must be a number from 0 to ${holdSecondsMax}`) ?? 0;
  const identity = {
    first_name: optional("first_name", isText, "must be a string"),
    last_name: optional("last_name", isText, "must be a string"),
    birth_date: optional("birth_date", isText, "must be a string"),
  };
  const answer = optional("answer", isObject, rules.answer);
  if (dialect === "didit" && fields.outcome === "failed") problems.push(rules.diditFailed);
  if (problems.length > 0) return { problems };
  const submission: Submission = { ...fields, answer, profileDiffers: differsFromProfile(profile, identity) };
  return { submission, holdMs: Math.round(holdSeconds * 1000) };
}

const isCountry = (value: unknown): value is string => /^[A-Z]{3}$/.test(String(value));

const isHitCount = (value: unknown) => isWholeNumber(value, 0, 1000);

const isHold = (value: unknown): value is number => typeof value === "number" && value >= 0 && value <= holdSecondsMax;

const codeOf = (item: unknown) => (isObject(item) ? item["code"] : item);

const isReasonList = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.every((item) => isOneOf(reasonCodes)(codeOf(item)));

/** Returns the reasons without duplicates. */
function readReasons(items: readonly unknown[] = []): Reason[] {
  const reasons = new Map<unknown, Reason>();
  for (const item of items) {
    const code = codeOf(item) as ReasonCode;
    const message = isObject(item) ? item["message"] : undefined;
    reasons.set(code, { code, ...(isText(message) && { message: message.slice(0, messageLengthMax) }) });
  }
  return [...reasons.values()];
}

function isDate(value: unknown): value is string {
  if (!isText(value) || !/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const date = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
}
