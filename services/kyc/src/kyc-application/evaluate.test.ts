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

/** Yields every combination of a provider's verdict and evidence, also absent and unread values. */
function* allCombinations() {
  for (const reported of [...verdicts, undefined])
    for (const term of terms)
      for (const reasons of reasonLists)
        for (const unread of [[], ["reason_codes"]])
          for (const livenessOutcome of [...checkOutcomes, undefined])
            for (const faceMatchOutcome of [...checkOutcomes, undefined])
              for (const amlDecision of [...amlDecisions, undefined])
                for (const amlHitCount of [0, 1, undefined])
                  for (const documentType of [...documentTypes, undefined])
                    for (const documentExpiry of expiries) {
                      const fields = {
                        livenessOutcome,
                        faceMatchOutcome,
                        amlDecision,
                        amlHitCount,
                        documentType,
                        documentExpiry,
                      };
                      const evidence: Evidence = { ...fields, reasonCodes: reasons, unread };
                      yield { reported, evidence, term, verdict: evaluate(reported, evidence, term, today).verdict };
                    }
}

describe("evaluate, for all combinations of verdict and evidence", () => {
  const counts = { APPROVED: 0, NEEDS_REVIEW: 0, REJECTED: 0 };
  const approved: { reported: unknown; evidence: Evidence; term: (typeof terms)[number] }[] = [];
  const rejected = { expired: 0, byProvider: 0, otherwise: 0 };
  const softened: Evidence[] = [];
  for (const row of allCombinations()) {
    const { reported, evidence, verdict } = row;
    counts[verdict] += 1;
    if (verdict === "APPROVED") approved.push(row);
    const isExpired = evidence.documentExpiry === "2026-02-28";
    if (verdict === "REJECTED") rejected[isExpired ? "expired" : reported === "REJECTED" ? "byProvider" : "otherwise"] += 1;
    if (reported === "REJECTED" && verdict === "NEEDS_REVIEW") softened.push(evidence);
  }
  // Number of combinations per verdict of the provider, and per verdict and expiry.
  const perVerdict = 3 * 20 * 2 * 5 * 5 * 4 * 3 * 3 * 4;
  const perExpiry = perVerdict / 4;
  const positive = { unread: [], livenessOutcome: "PASSED", faceMatchOutcome: "PASSED", amlDecision: "CLEAR", amlHitCount: 0 };

  test("returns APPROVED only for the provider's approval with positive evidence in every field", () => {
    // Three allowed pairs of terms and document, each with two valid days.
    expect(approved).toHaveLength(6);
    for (const { reported, evidence, term } of approved) {
      expect(reported).toBe("APPROVED");
      expect(evidence).toMatchObject({ ...positive, reasonCodes: [] });
      expect(term.allowedDocuments).toContain(evidence.documentType);
      expect([today, "2026-03-02"]).toContain(evidence.documentExpiry);
      expect(term.requireVideo).toBe(true);
    }
  });

  test("changes a rejection to NEEDS_REVIEW only if PROFILE_MISMATCH is the only doubt", () => {
    expect(softened).toHaveLength(6);
    for (const evidence of softened) expect(evidence).toMatchObject({ ...positive, reasonCodes: ["PROFILE_MISMATCH"] });
  });

  test("returns REJECTED for an expired document and the provider's rejection, and NEEDS_REVIEW for all other evidence", () => {
    expect(rejected).toEqual({ expired: 4 * perExpiry, byProvider: 3 * perExpiry - softened.length, otherwise: 0 });
    expect(counts.NEEDS_REVIEW).toBe(4 * perVerdict - rejected.expired - rejected.byProvider - approved.length);
  });
});

describe("evaluate, reason codes of our rules", () => {
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
  ])("adds the reason once for %o", (change, code) => {
    for (const reasons of [[], [code]]) {
      const { reasonCodes: codes } = evaluate("APPROVED", { ...evidence, ...change, reasonCodes: reasons }, term, today);
      expect(codes).toEqual([code]);
    }
  });

  test("adds DOCUMENT_NOT_ALLOWED for a document type that the business did not allow", () => {
    const onlyCards = { ...term, allowedDocuments: ["id_card"] } as const;
    expect(evaluate("APPROVED", evidence, onlyCards, today)).toEqual({
      verdict: "NEEDS_REVIEW",
      reasonCodes: ["DOCUMENT_NOT_ALLOWED"],
    });
  });
});

test.each(verdicts)("decide returns a person's %s, and REJECTED for an expired document", (outcome) => {
  const reasons = { reasonCodes: ["AML_MATCH"] } as const;
  for (const documentExpiry of [today, "2026-03-02", undefined]) {
    expect(decide(outcome, { ...reasons, documentExpiry }, today)).toEqual({ verdict: outcome, reasonCodes: ["AML_MATCH"] });
  }
  expect(decide(outcome, { ...reasons, documentExpiry: "2026-02-28" }, today)).toEqual({
    verdict: "REJECTED",
    reasonCodes: ["AML_MATCH", "DOCUMENT_EXPIRED"],
  });
});
