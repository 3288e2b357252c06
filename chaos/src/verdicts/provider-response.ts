import type { KycProvider } from "@amana/dev-env/services";
import type { Requirements } from "@amana/kyc/evaluate";
import type { Random } from "../random.ts";
import { createDiditResponse } from "./didit-response.ts";
import { randomResponse, randomTerms } from "./random-response.ts";
import { codes, computeSpecifiedVerdict, objectOf, type TruthTableRow, type Verdict } from "./specified.ts";
import { createSumsubResponse } from "./sumsub-response.ts";

/** A random response of the provider to a submission, and the result that Amana must return. */
export interface ProviderResponse {
  /** Body of the sandbox's control call `submit`. */
  readonly submission: object;
  readonly expected: Verdict;
  /** Known reason codes in the response. The API must return them. */
  readonly codes: readonly string[];
  /** True if the provider itself waits for a person's decision. */
  readonly isInReview: boolean;
}

const outcomes: Readonly<Record<string, string>> = {
  APPROVED: "approved",
  REJECTED: "rejected",
  NEEDS_REVIEW: "needs_review",
};
/** A personal name that the provider returns and that must not appear in the API. */
export const canaryName = "Canary Applicant";
/**
 * No document expires within this number of days before or after today, because midnight may pass
 * during the check.
 */
const excludedDays = 2;

/**
 * Returns random conditions of an application. For a vendor, conditions without video permit both
 * documents, because kyc has no vendor setting for one document without video.
 */
export function drawTerms(random: Random, provider: KycProvider): Requirements {
  const terms = randomTerms(random);
  return provider === "port" || terms.requireVideo ? terms : { ...terms, allowedDocuments: ["id_card", "passport"] };
}

/** Returns a random response of the provider in its own protocol. */
export function drawResponse(random: Random, terms: Requirements, provider: KycProvider): ProviderResponse {
  const nowMs = Date.now();
  if (provider === "port") return drawPortResponse(random, randomResponse(random, terms, nowMs, excludedDays), terms);
  const createResponse = provider === "didit" ? createDiditResponse : createSumsubResponse;
  const { answer, ...row } = createResponse(random, terms, nowMs, excludedDays);
  return {
    submission: { outcome: outcomes[String(row.fields["verdict"])], hold_seconds: 0, answer },
    expected: computeSpecifiedVerdict(row, terms.requireVideo),
    codes: row.codes,
    isInReview: row.fields["verdict"] === "NEEDS_REVIEW",
  };
}

function drawPortResponse(random: Random, row: TruthTableRow, { requireVideo }: Requirements): ProviderResponse {
  const expected = computeSpecifiedVerdict(row, requireVideo);
  const reasons = row.fields["reason_codes"];
  const returnedCodes = Array.isArray(reasons)
    ? reasons.slice(0, 20).map((reason) => (reason as { code?: unknown } | null)?.code)
    : [];
  return {
    submission: {
      outcome: outcomes[expected],
      hold_seconds: 0,
      answer: { ...replaceAbsentWithNull(row.fields), ...withCanaries(random, reasons) },
    },
    expected,
    codes: codes.filter((code) => returnedCodes.includes(code)),
    isInReview: row.fields["verdict"] === "NEEDS_REVIEW",
  };
}

/** Replaces absent fields by null, because the sandbox removes a field whose value is null. */
const replaceAbsentWithNull = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.keys(fields).map((field) => [field, objectOf(fields)[field] ?? null]));

/** Returns a personal name in all free texts and in fields that kyc does not use. */
function withCanaries(random: Random, providerReasons: unknown): Record<string, unknown> {
  if (random.chance(0.3)) return {};
  const reasons = Array.isArray(providerReasons)
    ? {
        reason_codes: providerReasons.map((reason) =>
          isObject(reason) ? { ...reason, message: canaryName, applicant: canaryName } : reason,
        ),
      }
    : {};
  return {
    decision_summary: `${canaryName} was seen`,
    error_message: canaryName,
    first_name: canaryName,
    nationality: canaryName,
    ...reasons,
  };
}

const isObject = (reason: unknown): reason is { code: unknown } =>
  typeof reason === "object" && reason !== null && !Array.isArray(reason);
