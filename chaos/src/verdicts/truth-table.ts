import type { Requirements } from "@amana/kyc/evaluate";
import type { Report } from "../report.ts";
import { computeServiceVerdict } from "./service-verdict.ts";
import {
  computeSpecifiedVerdict,
  documentExpiries,
  documentType,
  documentTypes,
  evidence,
  objectOf,
  reasons,
  type TruthTableRow,
  verdicts,
} from "./specified.ts";

const allTerms: readonly Requirements[] = [
  { requireVideo: true, allowedDocuments: ["id_card", "passport"] },
  { requireVideo: true, allowedDocuments: ["passport"] },
  { requireVideo: false, allowedDocuments: ["id_card", "passport"] },
];

/** Number of violations that ends the comparison. One error may affect thousands of rows. */
const violationsMax = 20;

/** Compares the service with the specification for every combination of field values. */
export function checkTruthTable(report: Report, todayMs: number): void {
  const counts = { APPROVED: 0, NEEDS_REVIEW: 0, REJECTED: 0 };
  const today = formatDay(todayMs);
  for (const terms of allTerms) {
    for (const row of generateRows(terms, todayMs)) {
      counts[compareVerdicts(report, row, terms, today)] += 1;
      if (report.violations.length >= violationsMax) return;
    }
  }
  for (const [verdict, rows] of Object.entries(counts)) report.count(`combinations: ${verdict}`, rows);
}

/** Returns the specified verdict. Records a violation if the service returns another verdict. */
export function compareVerdicts(report: Report, row: TruthTableRow, terms: Requirements, today: string) {
  const expected = computeSpecifiedVerdict(row, terms.requireVideo);
  const verdict = computeServiceVerdict(row.fields, terms, today);
  if (verdict !== expected) {
    report.violation(`${JSON.stringify({ ...objectOf(row.fields), ...terms })}: verdict ${verdict}, specified ${expected}`);
  }
  return expected;
}

/** Returns the day in UTC as YYYY-MM-DD. */
export const formatDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

function* generateRows({ allowedDocuments }: Requirements, todayMs: number): Generator<TruthTableRow> {
  const types = documentTypes.map((json) => documentType(json, allowedDocuments));
  const expiries = documentExpiries(todayMs);
  for (const reported of verdicts)
    for (const reason of reasons)
      for (const liveness of evidence.liveness_outcome)
        for (const face of evidence.face_match_outcome)
          for (const aml of evidence.aml_decision)
            for (const hits of evidence.aml_hit_count)
              for (const type of types)
                for (const expiry of expiries) {
                  yield {
                    fields: {
                      verdict: reported,
                      reason_codes: reason.json,
                      liveness_outcome: liveness.json,
                      face_match_outcome: face.json,
                      aml_decision: aml.json,
                      aml_hit_count: hits.json,
                      document_type: type.json,
                      document_expiry: expiry.json,
                    },
                    signs: [liveness.sign, face.sign, aml.sign, hits.sign, type.sign, expiry.sign],
                    content: reason.content,
                  };
                }
}
