import { describe, expect, test } from "vitest";
import {
  amlDecisions,
  checkOutcomes,
  documentTypes,
  type Evidence,
  type ReasonCode,
  reasonCodes,
  verdicts,
} from "../verification-provider/verification-provider.ts";
import { decide, evaluate } from "./evaluate.ts";

const today = "2026-03-01";
const expiries = ["2026-02-28", today, "2026-03-02", undefined] as const;
const reasonLists: (readonly ReasonCode[])[] = [
  [],
  ...reasonCodes.map((code) => [code]),
  ...reasonCodes.filter((code) => code !== "PROFILE_MISMATCH").map((code) => ["PROFILE_MISMATCH", code] as const),
];
const terms = [
  { requireVideo: true, allowedDocuments: documentTypes },
  { requireVideo: true, allowedDocuments: ["passport"] },
  { requireVideo: false, allowedDocuments: documentTypes },
] as const;

/** Every verdict of the provider with every value of every cell, also absent and unread ones. */
function* everything() {
  for (const said of [...verdicts, undefined])
    for (const term of terms)
      for (const reasons of reasonLists)
        for (const unread of [[], ["reason_codes"]])
          for (const livenessOutcome of [...checkOutcomes, undefined])
            for (const faceMatchOutcome of [...checkOutcomes, undefined])
              for (const amlDecision of [...amlDecisions, undefined])
                for (const amlHitCount of [0, 1, undefined])
                  for (const documentType of [...documentTypes, undefined])
                    for (const documentExpiry of expiries) {
                      const given = { livenessOutcome, faceMatchOutcome, amlDecision, amlHitCount, documentType, documentExpiry };
                      const evidence: Evidence = { ...given, reasonCodes: reasons, unread };
                      yield { said, evidence, term, verdict: evaluate(said, evidence, term, today).verdict };
                    }
}

describe("over the whole table", () => {
  const counts = { APPROVED: 0, NEEDS_REVIEW: 0, REJECTED: 0 };
  const approved: { said: unknown; evidence: Evidence; term: (typeof terms)[number] }[] = [];
  const rejected = { expired: 0, said: 0, otherwise: 0 };
  const softened: Evidence[] = [];
  for (const row of everything()) {
    const { said, evidence, verdict } = row;
    counts[verdict] += 1;
    if (verdict === "APPROVED") approved.push(row);
    const isExpired = evidence.documentExpiry === "2026-02-28";
    if (verdict === "REJECTED") rejected[isExpired ? "expired" : said === "REJECTED" ? "said" : "otherwise"] += 1;
    if (said === "REJECTED" && verdict === "NEEDS_REVIEW") softened.push(evidence);
  }
  // The rows of one verdict of the provider, and of one expiry.
  const perVerdict = 3 * 20 * 2 * 5 * 5 * 4 * 3 * 3 * 4;
  const perExpiry = perVerdict / 4;
  const positive = { unread: [], livenessOutcome: "PASSED", faceMatchOutcome: "PASSED", amlDecision: "CLEAR", amlHitCount: 0 };

  test("only positive evidence in every cell, said to be approved, is APPROVED", () => {
    // Two documents where both are allowed, one where one is; two days.
    expect(approved).toHaveLength(6);
    for (const { said, evidence, term } of approved) {
      expect(said).toBe("APPROVED");
      expect(evidence).toMatchObject({ ...positive, reasonCodes: [] });
      expect(term.allowedDocuments).toContain(evidence.documentType);
      expect([today, "2026-03-02"]).toContain(evidence.documentExpiry);
      expect(term.requireVideo).toBe(true);
    }
  });

  test("only a doubt of the profile, and no other, softens a rejection", () => {
    expect(softened).toHaveLength(6);
    for (const evidence of softened) expect(evidence).toMatchObject({ ...positive, reasonCodes: ["PROFILE_MISMATCH"] });
  });

  test("an expired document and the provider's own rejections are REJECTED, and everything else is for a person", () => {
    expect(rejected).toEqual({ expired: 4 * perExpiry, said: 3 * perExpiry - softened.length, otherwise: 0 });
    expect(counts.NEEDS_REVIEW).toBe(4 * perVerdict - rejected.expired - rejected.said - approved.length);
  });
});

describe("a reason of our own", () => {
  const evidence: Evidence = {
    reasonCodes: [],
    unread: [],
    livenessOutcome: "PASSED",
    faceMatchOutcome: "PASSED",
    amlDecision: "CLEAR",
    amlHitCount: 0,
    documentType: "passport",
    documentExpiry: "2031-06-30",
  };
  const [term] = terms;

  test.each<[Partial<Evidence>, ReasonCode]>([
    [{ amlHitCount: 1 }, "AML_MATCH"],
    [{ documentExpiry: "2026-02-28" }, "DOCUMENT_EXPIRED"],
  ])("is given for %o, once", (change, code) => {
    for (const reasons of [[], [code]]) {
      const { reasonCodes: told } = evaluate("APPROVED", { ...evidence, ...change, reasonCodes: reasons }, term, today);
      expect(told).toEqual([code]);
    }
  });

  test("is given for a kind of document that was not asked for", () => {
    const onlyCards = { ...term, allowedDocuments: ["id_card"] } as const;
    expect(evaluate("APPROVED", evidence, onlyCards, today)).toEqual({
      verdict: "NEEDS_REVIEW",
      reasonCodes: ["DOCUMENT_NOT_ALLOWED"],
    });
  });
});

test.each(verdicts)("a person's %s stands, except for a document that has expired", (outcome) => {
  const reasons = { reasonCodes: ["AML_MATCH"] } as const;
  for (const documentExpiry of [today, "2026-03-02", undefined]) {
    expect(decide(outcome, { ...reasons, documentExpiry }, today)).toEqual({ verdict: outcome, reasonCodes: ["AML_MATCH"] });
  }
  expect(decide(outcome, { ...reasons, documentExpiry: "2026-02-28" }, today)).toEqual({
    verdict: "REJECTED",
    reasonCodes: ["AML_MATCH", "DOCUMENT_EXPIRED"],
  });
});
