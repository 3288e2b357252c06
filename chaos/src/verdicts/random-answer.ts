import type { Random } from "../random.ts";
import type { Asked } from "./ours.ts";
import {
  absent,
  codes,
  documentExpiry,
  documentType,
  evidence,
  type Reasons,
  type Row,
  reasonsOf,
  type Value,
  verdicts,
} from "./specified.ts";

/** What no field's vocabulary knows, in every form that JSON has. */
const odd: readonly unknown[] = [
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

/** Applications are asked for in one of these ways. */
export const someTerms = (random: Random): Asked => ({
  requireVideo: random.chance(0.85),
  allowedDocuments: random.pick([["id_card", "passport"], ["passport"], ["id_card"]] as const),
});

/**
 * An answer as a provider might give it that is new, broken or hostile: mostly positive, so that
 * what is wrong stands alone as a rule. No expiry is `spared` that many days around today, which
 * may pass while the answer is on its way.
 */
export function someAnswer(random: Random, asked: Asked, todayMs: number, spared = 0): Row {
  const calm = random.pick([0, 0.05, 0.15, 0.5]);
  const isOdd = () => random.chance(calm);
  const worth = (values: readonly Value[]): Value => {
    if (!isOdd()) return values[0] as Value;
    return random.chance(0.5) ? random.pick(values) : strange(random);
  };
  const type = isOdd() ? random.pick(["id_card", "passport", absent, ...odd]) : random.pick(asked.allowedDocuments);
  const days = isOdd() ? random.integer(-3_000, 3_000) : random.integer(0, 3_000);
  const expiry = isOdd() ? strange(random) : documentExpiry(days < 0 ? days - spared : days + spared, todayMs);
  const said = random.chance(0.8)
    ? random.pick(["APPROVED", "APPROVED", "REJECTED", "NEEDS_REVIEW"])
    : random.pick([...verdicts, ...odd]);
  const given = someReasons(random, isOdd);
  const cells = {
    liveness_outcome: worth(evidence.liveness_outcome),
    face_match_outcome: worth(evidence.face_match_outcome),
    aml_decision: worth(evidence.aml_decision),
    aml_hit_count: worth(evidence.aml_hit_count),
    document_type: documentType(type, asked.allowedDocuments),
    document_expiry: expiry,
  };
  const fields = Object.fromEntries(Object.entries(cells).map(([name, { json }]) => [name, json]));
  return {
    fields: { ...fields, verdict: said, reason_codes: given.json, ...surroundings(random) },
    signs: Object.values(cells).map(({ sign }) => sign),
    speakOf: given.speakOf,
  };
}

/**
 * A hit count of 0 and a real date are among no strange values, so each is worth nothing in any
 * field.
 */
const strange = (random: Random): Value => ({ json: random.pick([absent, ...odd]), sign: "-" });

function someReasons(random: Random, isOdd: () => boolean): Reasons {
  if (random.chance(0.2)) return reasonsOf("PROFILE_MISMATCH");
  if (!isOdd()) return random.chance(0.5) ? reasonsOf() : { json: absent, speakOf: "nothing" };
  const form = random.integer(1, 5);
  // An empty list, a null and no list at all are one and the same; anything else that is no list
  // says something.
  if (form === 1) {
    const json = random.pick(odd.filter((value) => value !== null && !(Array.isArray(value) && value.length === 0)));
    return { json, speakOf: "more" };
  }
  if (form === 2) {
    const { json } = reasonsOf("PROFILE_MISMATCH");
    return { json: [...(json as unknown[]), random.pick([null, "AML_MATCH", 7, {}, { code: null }, []])], speakOf: "more" };
  }
  const count = random.chance(0.05) ? 25 : random.integer(1, 3);
  const named = Array.from({ length: count }, () => random.pick([...codes, "NEW_CODE", "aml_match", "PROFILE_MISMATCH"]));
  // Longer than any list that is read as a whole.
  return count > 20 ? { ...reasonsOf(...named), speakOf: "more" } : reasonsOf(...named);
}

/** What no verdict rests on, and what nobody asked for. */
const surroundings = (random: Random): Record<string, unknown> =>
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
