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
import { evaluate, evaluateDecision } from "./evaluate.ts";

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

/** Yields every combination of verdict, terms and evidence, including absent and unread values. */
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
                      const evidenceFields = {
                        livenessOutcome,
                        faceMatchOutcome,
                        amlDecision,
                        amlHitCount,
                        documentType,
                        documentExpiry,
                      };
                      const evidence: Evidence = { ...evidenceFields, reasonCodes: reasons, unread };
                      yield { reported, evidence, term, verdict: evaluate(reported, evidence, term, today).verdict };
                    }
}

describe("evaluate, for all combinations of verdict and evidence", () => {
  const counts = { APPROVED: 0, NEEDS_REVIEW: 0, REJECTED: 0 };
  const approvedRows: { reported: unknown; evidence: Evidence; term: (typeof terms)[number] }[] = [];
  const rejectionCounts = { expired: 0, byProvider: 0, otherwise: 0 };
  const reviewedRejections: Evidence[] = [];
  for (const row of allCombinations()) {
    const { reported, evidence, verdict } = row;
    counts[verdict] += 1;
    if (verdict === "APPROVED") approvedRows.push(row);
    const isExpired = evidence.documentExpiry === "2026-02-28";
    if (verdict === "REJECTED")
      rejectionCounts[isExpired ? "expired" : reported === "REJECTED" ? "byProvider" : "otherwise"] += 1;
    if (reported === "REJECTED" && verdict === "NEEDS_REVIEW") reviewedRejections.push(evidence);
  }
  // Number of combinations for each verdict of the provider, and number of these combinations for
  // each expiry date.
  const rowsPerVerdict = 3 * 20 * 2 * 5 * 5 * 4 * 3 * 3 * 4;
  const rowsPerExpiry = rowsPerVerdict / 4;
  const positiveEvidence = {
    unread: [],
    livenessOutcome: "PASSED",
    faceMatchOutcome: "PASSED",
    amlDecision: "CLEAR",
    amlHitCount: 0,
  };

  test("evaluate returns APPROVED only if the provider approved and every field of the evidence is positive", () => {
    // Three combinations of terms and document type are allowed, and each occurs with two valid
    // expiry dates.
    expect(approvedRows).toHaveLength(6);
    for (const { reported, evidence, term } of approvedRows) {
      expect(reported).toBe("APPROVED");
      expect(evidence).toMatchObject({ ...positiveEvidence, reasonCodes: [] });
      expect(term.allowedDocuments).toContain(evidence.documentType);
      expect([today, "2026-03-02"]).toContain(evidence.documentExpiry);
      expect(term.requireVideo).toBe(true);
    }
  });

  test("evaluate returns NEEDS_REVIEW for a rejection by the provider only if PROFILE_MISMATCH is the only reason and the other evidence is positive", () => {
    expect(reviewedRejections).toHaveLength(6);
    for (const evidence of reviewedRejections)
      expect(evidence).toMatchObject({ ...positiveEvidence, reasonCodes: ["PROFILE_MISMATCH"] });
  });

  test("evaluate returns REJECTED only for an expired document or a rejection by the provider, and NEEDS_REVIEW for all remaining combinations", () => {
    expect(rejectionCounts).toEqual({
      expired: 4 * rowsPerExpiry,
      byProvider: 3 * rowsPerExpiry - reviewedRejections.length,
      otherwise: 0,
    });
    expect(counts.NEEDS_REVIEW).toBe(
      4 * rowsPerVerdict - rejectionCounts.expired - rejectionCounts.byProvider - approvedRows.length,
    );
  });
});

describe("evaluate, reason codes of Amana's rules", () => {
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
  ])("evaluate, for the evidence %o, adds the reason code %s exactly once", (change, code) => {
    for (const reasons of [[], [code]]) {
      const { reasonCodes: codes } = evaluate("APPROVED", { ...evidence, ...change, reasonCodes: reasons }, term, today);
      expect(codes).toEqual([code]);
    }
  });

  test("evaluate returns NEEDS_REVIEW with DOCUMENT_NOT_ALLOWED for a document type that the business did not allow", () => {
    const cardTerms = { ...term, allowedDocuments: ["id_card"] } as const;
    expect(evaluate("APPROVED", evidence, cardTerms, today)).toEqual({
      verdict: "NEEDS_REVIEW",
      reasonCodes: ["DOCUMENT_NOT_ALLOWED"],
    });
  });
});

test.each(verdicts)("`evaluateDecision` returns a person's decision %s, or REJECTED if the document has expired", (outcome) => {
  const reasons = { reasonCodes: ["AML_MATCH"] } as const;
  for (const documentExpiry of [today, "2026-03-02", undefined]) {
    expect(evaluateDecision(outcome, { ...reasons, documentExpiry }, today)).toEqual({
      verdict: outcome,
      reasonCodes: ["AML_MATCH"],
    });
  }
  expect(evaluateDecision(outcome, { ...reasons, documentExpiry: "2026-02-28" }, today)).toEqual({
    verdict: "REJECTED",
    reasonCodes: ["AML_MATCH", "DOCUMENT_EXPIRED"],
  });
});
