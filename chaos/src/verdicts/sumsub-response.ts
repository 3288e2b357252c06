import type { Requirements } from "@amana/kyc/evaluate";
import type { Random } from "../random.ts";
import { absent, documentType, objectOf, type SpecifiedValue, type Verdict } from "./specified.ts";
import {
  bad,
  createDraw,
  drawExpiry,
  drawReasons,
  drawVerdict,
  good,
  type ReasonWords,
  type VendorResponse,
} from "./vendor-values.ts";

/**
 * Draws applicants of Sumsub with their steps and AML cases, and computes the signs of the
 * evidence. Like `specified.ts`, this file follows only the specification.
 */
const reasonWords: ReasonWords = {
  byCode: {
    DOCUMENT_EXPIRED: ["EXPIRATION_DATE"],
    DOCUMENT_UNREADABLE: ["UNSATISFACTORY_PHOTOS", "SCREENSHOTS", "DOCUMENT_DAMAGED", "FRONT_SIDE_MISSING", "DIGITAL_DOCUMENT"],
    DOCUMENT_NOT_ALLOWED: ["NOT_DOCUMENT", "ID_INVALID", "WRONG_USER_REGION"],
    DOCUMENT_TAMPERED: ["FORGERY", "GRAPHIC_EDITOR"],
    FACE_MISMATCH: ["SELFIE_MISMATCH", "BAD_FACE_MATCHING"],
    LIVENESS_FAILED: ["BAD_SELFIE", "FRAUDULENT_LIVENESS"],
    PROFILE_MISMATCH: ["PROBLEMATIC_APPLICANT_DATA", "INCONSISTENT_PROFILE"],
    UNDERAGE: ["AGE_REQUIREMENT_MISMATCH"],
    AML_MATCH: ["SANCTIONS", "PEP", "ADVERSE_MEDIA"],
    DUPLICATE: ["DUPLICATE"],
  },
  unknown: [
    "BLOCKLIST",
    "FRAUDULENT_PATTERNS",
    "CHECK_UNAVAILABLE",
    "SPAM",
    "NEW_LABEL",
    "EXTERNAL_DECISION_REJECTION",
    "toString",
  ],
};

const results: Readonly<Record<Verdict, object>> = {
  APPROVED: { reviewStatus: "completed", reviewResult: { reviewAnswer: "GREEN" } },
  REJECTED: { reviewStatus: "completed", reviewResult: { reviewAnswer: "RED", reviewRejectType: "FINAL" } },
  NEEDS_REVIEW: { reviewStatus: "onHold", reviewResult: { reviewAnswer: "RED" } },
};

const answered = (reviewAnswer: unknown) => ({ reviewResult: { reviewAnswer } });
const green = answered("GREEN");
const notGreen = [answered("RED"), answered(null), answered("green"), {}, { reviewResult: null }];

const selfies = [good(green)];
const badSelfies = [null, ...notGreen].map(bad);

const selfieSet = (videoRequired: unknown) => ({ idDocSetType: "SELFIE", videoRequired });
const docSets = [good([selfieSet("passiveLiveness")]), good([{ idDocSetType: "IDENTITY" }, selfieSet("passiveLiveness")])];
const badDocSets: readonly SpecifiedValue[] = [
  [],
  null,
  [selfieSet("photoRequired")],
  [selfieSet(null)],
  [selfieSet("passiveLiveness"), selfieSet("photoRequired")],
  "passiveLiveness",
].map(bad);

const hit = (matchStatus: string) => ({ review: { matchStatus } });
const amlCases = [
  good({}),
  good({ review: { reviewAnswer: "GREEN" } }),
  good({ review: { answer: "GREEN", reviewAnswer: "GREEN" } }),
];
const badAmlCases: readonly SpecifiedValue[] = [
  null,
  ...["false_positive", "whitelisted", "unknown", "true_positive"].map((status) => ({ hits: [hit(status)] })),
  ...[null, {}, 0].map((hits) => ({ hits })),
  ...[null, {}, { answer: "RED" }, { answer: "GREEN", reviewAnswer: "RED" }].map((review) => ({ review })),
  ...["5b594ade0a975a36c9349e66", null].map((targetEntityId) => ({ targetEntityId })),
].map(bad);

const otherSteps = [good({}), good({ PHONE_VERIFICATION: green })];
const badOtherSteps: readonly SpecifiedValue[] = [...notGreen].map((step) => bad({ PROOF_OF_RESIDENCE: step }));

const types = [good("individual"), good(null)];
const badTypes = ["company", "controllerOf", 1].map(bad);

const levelOf = ({ requireVideo, allowedDocuments }: Requirements): string => {
  if (!requireVideo) return "amana still";
  if (allowedDocuments.length > 1) return "amana";
  return allowedDocuments[0] === "id_card" ? "amana id card" : "amana passport";
};

/**
 * Returns a random applicant of Sumsub. Its fields replace the fields of the sandbox's responses.
 */
export function createSumsubResponse(random: Random, terms: Requirements, todayMs: number, excludedDays: number): VendorResponse {
  const draws = createDraw(random);
  const { draw, isBad } = draws;
  const verdict = drawVerdict(random);
  const selfie = draw(selfies, badSelfies);
  const sets = draw(docSets, badDocSets);
  const aml = draw(amlCases, badAmlCases);
  const steps = draw(otherSteps, badOtherSteps);
  const type = draw(types, badTypes);
  const level = draw([good(levelOf(terms))], ["another level", null].map(bad));
  const document = drawDocument();
  const reasons = drawReasons(random, draws, reasonWords);
  const { reviewResult, ...status } = results[verdict] as { reviewResult: object };
  const rejectLabels = reasons.words.length > 0 ? { rejectLabels: reasons.words } : {};
  const answer = {
    type: type.json,
    review: {
      attemptId: "attempt-final",
      attemptCnt: 1,
      levelName: level.json,
      ...status,
      reviewDate: new Date(todayMs).toISOString().replace("T", " ").replace(/\..*/, "+0000"),
      reviewResult: { ...reviewResult, ...rejectLabels },
    },
    info: { idDocs: document.idDocs, nationality: random.pick(["DZA", "ALI", null, 12]) },
    requiredIdDocs: { docSets: sets.json },
    requiredIdDocsStatus: { IDENTITY: document.step, SELFIE: selfie.json, ...(steps.json as object) },
    amlCase: aml.json,
  };
  // kyc reads the AML case only if the applicant is approved or on hold.
  const amlSign = verdict === "REJECTED" ? "-" : aml.sign;
  return {
    answer,
    codes: reasons.codes,
    fields: { verdict },
    signs: [selfie.sign, sets.sign, amlSign, steps.sign, type.sign, level.sign, ...document.signs],
    content: reasons.content,
  };

  function drawDocument() {
    const expiry = drawExpiry(random, draws, todayMs, excludedDays);
    if (isBad() && random.chance(0.4)) {
      const idDocs = [{ idDocType: "PASSPORT", country: "DZA", validUntil: expiry.json === absent ? null : expiry.json }];
      return { step: null, idDocs, signs: ["-" as const] };
    }
    const name = isBad() ? random.pick(["id_card", "passport"] as const) : random.pick(terms.allowedDocuments);
    const kind: SpecifiedValue = isBad()
      ? bad(random.pick(["DRIVERS", "RESIDENCE_PERMIT", "id_card"]))
      : { ...documentType(name, terms.allowedDocuments), json: name.toUpperCase() };
    const step = { idDocType: kind.json, country: "DZA", ...(isBad() && verdict === "APPROVED" ? random.pick(notGreen) : green) };
    const idDoc = objectOf({ idDocType: kind.json, country: "DZA", validUntil: expiry.json });
    const otherIdDoc = { ...idDoc, idDocType: "DRIVERS_OTHER" };
    const [idDocs, isOneDocument] = isBad()
      ? ([
          random.pick([[], null, [idDoc, idDoc], [{ ...idDoc, country: "FRA" }], [{ ...idDoc, termless: true }]]),
          false,
        ] as const)
      : ([random.pick([[idDoc], [idDoc, otherIdDoc]]), true] as const);
    const isGreen = "reviewResult" in step && JSON.stringify(step.reviewResult) === JSON.stringify(green.reviewResult);
    return {
      step,
      idDocs,
      signs: [kind.sign, isGreen ? ("+" as const) : ("-" as const), isOneDocument ? expiry.sign : ("-" as const)],
    };
  }
}
