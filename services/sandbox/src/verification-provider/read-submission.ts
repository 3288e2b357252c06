import type { Submission } from "./conclude.ts";
import { differs, type ProfileDigest } from "./profile.ts";
import {
  type DocumentType,
  documentTypes,
  type Outcome,
  outcomes,
  type Reason,
  type ReasonCode,
  reasonCodes,
} from "./vocabulary.ts";

const holdSecondsMax = 86_400;
const messageLengthMax = 500;

export interface SubmitWish {
  readonly submission: Submission;
  readonly holdMs: number;
}

/** Reads what a tester wants of a submission. Names and birth date are compared here and go no further. */
export function readSubmission(
  body: Readonly<Record<string, unknown>>,
  profile: ProfileDigest | undefined,
): SubmitWish | { problems: string[] } {
  const problems: string[] = [];
  const check = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem);
  };
  const outcome = typeof body["outcome"] === "string" ? body["outcome"].toLowerCase() : body["outcome"];
  const { document_type: type, document_expiry: expiry, nationality, first_name, last_name, birth_date } = body;
  const hits = body["aml_hit_count"] ?? 0;
  const holdSeconds = body["hold_seconds"] ?? 0;
  const reasons = readReasons(body["reason_codes"] ?? []);
  const { answer } = body;

  check(
    outcome === undefined || outcomes.some((known) => known === outcome),
    `outcome must be one of ${outcomes.join(", ")}, or left out to let the provider's rules decide`,
  );
  check(reasons !== undefined, `reason_codes must be a list of ${reasonCodes.join(", ")}, as texts or as {code, message}`);
  check(
    type === undefined || documentTypes.some((known) => known === type),
    `document_type must be ${documentTypes.join(" or ")}`,
  );
  check(expiry === undefined || isDate(expiry), "document_expiry must be a date, YYYY-MM-DD");
  check(nationality === undefined || /^[A-Z]{3}$/.test(String(nationality)), "nationality must be three capital letters");
  check(
    Number.isInteger(hits) && Number(hits) >= 0 && Number(hits) <= 1000,
    "aml_hit_count must be a whole number from 0 to 1000",
  );
  check(
    typeof holdSeconds === "number" && holdSeconds >= 0 && holdSeconds <= holdSecondsMax,
    `hold_seconds must be a number from 0 to ${holdSecondsMax}`,
  );
  const names = { first_name, last_name, birth_date };
  for (const [name, value] of Object.entries(names)) {
    check(value === undefined || typeof value === "string", `${name} must be a text`);
  }
  check(
    answer === undefined || (typeof answer === "object" && answer !== null && !Array.isArray(answer)),
    "answer must be an object of fields to lay over the finished answer, null to take one away",
  );
  if (problems.length > 0) return { problems };

  return {
    holdMs: Math.round(Number(holdSeconds) * 1000),
    submission: {
      ...(outcome !== undefined && { outcome: outcome as Outcome }),
      ...(type !== undefined && { documentType: type as DocumentType }),
      ...(expiry !== undefined && { documentExpiry: String(expiry) }),
      ...(nationality !== undefined && { nationality: String(nationality) }),
      ...(answer !== undefined && { answer: answer as Record<string, unknown> }),
      reasons: reasons ?? [],
      amlHitCount: Number(hits),
      profileDiffers: differs(profile, names as Record<keyof typeof names, string>),
    },
  };
}

/** Each once, whatever its form. */
function readReasons(value: unknown): Reason[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const reasons = new Map<ReasonCode, Reason>();
  for (const item of value) {
    const { code, message } = typeof item === "object" && item !== null ? item : { code: item, message: undefined };
    const known = reasonCodes.find((candidate) => candidate === code);
    if (!known) return undefined;
    reasons.set(known, { code: known, ...(typeof message === "string" && { message: message.slice(0, messageLengthMax) }) });
  }
  return [...reasons.values()];
}

function isDate(value: unknown): boolean {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const date = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
}
