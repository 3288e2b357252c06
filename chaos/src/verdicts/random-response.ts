import type { Requirements } from "@amana/kyc/evaluate";
import type { Random } from "../random.ts";
import {
  absent,
  codes,
  documentExpiry,
  documentType,
  evidence,
  type Reasons,
  reasonsOf,
  type SpecifiedValue,
  type TruthTableRow,
  verdicts,
} from "./specified.ts";

/** Values that no field permits. They have all types of JSON. */
const invalidValues: readonly unknown[] = [
  null,
  "",
  " ",
  true,
  false,
  -1,
  1.5,
  2 ** 53,
  1e308,
  [],
  ["PASSED"],
  {},
  { code: "CLEAR" },
  "passed",
  "PASSED ",
  "clear",
  "CLEARED",
  "Passport",
  "\u0130d_card",
  "constructor",
  "__proto__",
  "toString",
  "2031-02-30",
  "2031-6-30",
  "20310630",
  "2031-06-30T00:00:00Z",
  "9999999",
  "x".repeat(1_000),
];

/** Returns random conditions of an application that affect its verdict. */
export const randomTerms = (random: Random): Requirements => ({
  requireVideo: random.chance(0.85),
  allowedDocuments: random.pick([["id_card", "passport"], ["passport"], ["id_card"]] as const),
});

/**
 * Returns a random response of a correct, faulty or malicious provider. Most fields are positive,
 * so that usually a single field decides the verdict. No expiry is within `excludedDays` days of
 * today, because midnight may pass before the response is evaluated.
 */
export function randomResponse(random: Random, terms: Requirements, todayMs: number, excludedDays = 0): TruthTableRow {
  const invalidShare = random.pick([0, 0.05, 0.15, 0.5]);
  const isInvalid = () => random.chance(invalidShare);
  const pickValue = (values: readonly SpecifiedValue[]): SpecifiedValue => {
    if (!isInvalid()) return values[0] as SpecifiedValue;
    return random.chance(0.5) ? random.pick(values) : pickInvalidValue(random);
  };
  const type = isInvalid() ? random.pick(["id_card", "passport", absent, ...invalidValues]) : random.pick(terms.allowedDocuments);
  const days = isInvalid() ? random.integer(-3_000, 3_000) : random.integer(0, 3_000);
  const expiry = isInvalid()
    ? pickInvalidValue(random)
    : documentExpiry(days < 0 ? days - excludedDays : days + excludedDays, todayMs);
  const verdict = random.chance(0.8)
    ? random.pick(["APPROVED", "APPROVED", "REJECTED", "NEEDS_REVIEW"])
    : random.pick([...verdicts, ...invalidValues]);
  const reasons = randomReasons(random, isInvalid);
  const cells = {
    liveness_outcome: pickValue(evidence.liveness_outcome),
    face_match_outcome: pickValue(evidence.face_match_outcome),
    aml_decision: pickValue(evidence.aml_decision),
    aml_hit_count: pickValue(evidence.aml_hit_count),
    document_type: documentType(type, terms.allowedDocuments),
    document_expiry: expiry,
  };
  const fields = Object.fromEntries(Object.entries(cells).map(([name, { json }]) => [name, json]));
  return {
    fields: { ...fields, verdict, reason_codes: reasons.json, ...createIrrelevantFields(random) },
    signs: Object.values(cells).map(({ sign }) => sign),
    content: reasons.content,
  };
}

/** Returns a value that is invalid in every field. It is no valid hit count, date or word. */
const pickInvalidValue = (random: Random): SpecifiedValue => ({ json: random.pick([absent, ...invalidValues]), sign: "-" });

function randomReasons(random: Random, isInvalid: () => boolean): Reasons {
  if (random.chance(0.2)) return reasonsOf("PROFILE_MISMATCH");
  if (!isInvalid()) return random.chance(0.5) ? reasonsOf() : { json: absent, content: "nothing" };
  const form = random.integer(1, 5);
  // An empty list, null and an absent list mean no reasons. Any other value that is not a list
  // counts as a reason.
  if (form === 1) {
    const json = random.pick(invalidValues.filter((value) => value !== null && !(Array.isArray(value) && value.length === 0)));
    return { json, content: "more" };
  }
  if (form === 2) {
    const { json } = reasonsOf("PROFILE_MISMATCH");
    return { json: [...(json as unknown[]), random.pick([null, "AML_MATCH", 7, {}, { code: null }, []])], content: "more" };
  }
  const count = random.chance(0.05) ? 25 : random.integer(1, 3);
  const reasonCodes = Array.from({ length: count }, () => random.pick([...codes, "NEW_CODE", "aml_match", "PROFILE_MISMATCH"]));
  // kyc reads at most 20 reasons. A longer list counts as "more", because its end may contain any
  // code.
  return count > 20 ? { ...reasonsOf(...reasonCodes), content: "more" } : reasonsOf(...reasonCodes);
}

/** Returns no fields, or fields that must not change the verdict because kyc does not read them. */
const createIrrelevantFields = (random: Random): Record<string, unknown> =>
  random.chance(0.5)
    ? {}
    : {
        nationality: random.pick(["DZA", "ALI", "dz", null, 12, "Canary"]),
        decision_summary: random.pick(["Everything is fine", "APPROVED", null, 7]),
        risk_score: random.integer(0, 100),
        sanctions_hits: random.integer(0, 3),
        liveness: "FAILED",
        face_match_score: 0.1,
      };
