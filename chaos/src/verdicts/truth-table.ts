import type { Report } from "../report.ts";
import { type Asked, ourVerdict } from "./ours.ts";
import {
  documentExpiries,
  documentType,
  documentTypes,
  evidence,
  objectOf,
  type Row,
  reasons,
  specifiedVerdict,
  verdicts,
} from "./specified.ts";

const asked: readonly Asked[] = [
  { requireVideo: true, allowedDocuments: ["id_card", "passport"] },
  { requireVideo: true, allowedDocuments: ["passport"] },
  { requireVideo: false, allowedDocuments: ["id_card", "passport"] },
];

/** Thousands of rows may differ for one reason. */
const shownMax = 20;

/**
 * Every value of every field with every other, read and judged by the service, against the
 * specification's own rules.
 */
export function tryTheTable(report: Report, todayMs: number): void {
  const counts = { APPROVED: 0, NEEDS_REVIEW: 0, REJECTED: 0 };
  const today = dayOf(todayMs);
  for (const terms of asked) {
    for (const row of rowsOf(terms, todayMs)) {
      counts[compare(report, row, terms, today)] += 1;
      if (report.violations.length >= shownMax) return;
    }
  }
  for (const [verdict, rows] of Object.entries(counts)) report.count(`rows of the table: ${verdict}`, rows);
}

/** Answers what is specified; anything else that the service makes of the row is a violation. */
export function compare(report: Report, row: Row, asked: Asked, today: string) {
  const expected = specifiedVerdict(row, asked.requireVideo);
  const verdict = ourVerdict(row.fields, asked, today);
  if (verdict !== expected) {
    report.violation(`${JSON.stringify({ ...objectOf(row.fields), ...asked })} is ${verdict}, not ${expected}`);
  }
  return expected;
}

/** The day in UTC. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

function* rowsOf({ allowedDocuments }: Asked, todayMs: number): Generator<Row> {
  const types = documentTypes.map((json) => documentType(json, allowedDocuments));
  const expiries = documentExpiries(todayMs);
  for (const said of verdicts)
    for (const given of reasons)
      for (const liveness of evidence.liveness_outcome)
        for (const face of evidence.face_match_outcome)
          for (const aml of evidence.aml_decision)
            for (const hits of evidence.aml_hit_count)
              for (const type of types)
                for (const expiry of expiries) {
                  yield {
                    fields: {
                      verdict: said,
                      reason_codes: given.json,
                      liveness_outcome: liveness.json,
                      face_match_outcome: face.json,
                      aml_decision: aml.json,
                      aml_hit_count: hits.json,
                      document_type: type.json,
                      document_expiry: expiry.json,
                    },
                    signs: [liveness.sign, face.sign, aml.sign, hits.sign, type.sign, expiry.sign],
                    speakOf: given.speakOf,
                  };
                }
}
