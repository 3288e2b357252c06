import type { Requirements } from "@amana/kyc/evaluate";
import type { Random } from "../random.ts";
import { absent, documentType, objectOf, type SpecifiedValue } from "./specified.ts";
import {
  bad,
  createDraw,
  drawExpiry,
  drawReasons,
  drawVerdict,
  expirySignOf,
  good,
  type ReasonWords,
  type VendorResponse,
} from "./vendor-values.ts";

/**
 * Draws decisions of Didit and computes the signs of their evidence. Like `specified.ts`, this file
 * follows only the specification. Every item of a decision has a status and a list of warnings.
 */
const reasonWords: ReasonWords = {
  byCode: {
    DOCUMENT_EXPIRED: ["DOCUMENT_EXPIRED"],
    DOCUMENT_UNREADABLE: ["IMAGE_TOO_BLURRY", "DOCUMENT_NOT_FULLY_VISIBLE", "MRZ_NOT_DETECTED", "PORTRAIT_IMAGE_NOT_DETECTED"],
    DOCUMENT_NOT_ALLOWED: ["DOCUMENT_NOT_SUPPORTED_FOR_APPLICATION"],
    DOCUMENT_TAMPERED: ["PRINTED_COPY_DETECTED", "DATA_INCONSISTENT", "BARCODE_VALIDATION_FAILED", "INVALID_DATE"],
    FACE_MISMATCH: ["LOW_FACE_MATCH_SIMILARITY"],
    LIVENESS_FAILED: ["LIVENESS_FACE_ATTACK", "LOW_LIVENESS_SCORE"],
    PROFILE_MISMATCH: ["FULL_NAME_MISMATCH_WITH_PROVIDED", "DATE_OF_BIRTH_MISMATCH_WITH_PROVIDED"],
    UNDERAGE: ["MINIMUM_AGE_NOT_MET"],
    AML_MATCH: ["POSSIBLE_MATCH_FOUND"],
    DUPLICATE: ["POSSIBLE_DUPLICATED_USER", "DUPLICATED_FACE"],
  },
  unknown: [
    "DOCUMENT_IN_BLOCKLIST",
    "COULD_NOT_PERFORM_AML_SCREENING",
    "CUSTOM_STATUS_RULE_TRIGGERED",
    "NEW_RISK",
    "constructor",
  ],
};

const item = (fields: object = {}) => ({ status: "Approved", warnings: [], ...fields });
/** Values in place of a list of items. They are negative evidence. */
const noItems: readonly SpecifiedValue[] = [absent, [], "Approved", {}, 7].map(bad);
const badItems = (fields: object): readonly SpecifiedValue[] =>
  [
    { status: "Declined" },
    { status: "In Review" },
    { status: "approved" },
    { status: null },
    { warnings: null },
    { warnings: "none" },
  ].map((change) => bad([item({ ...fields, ...change })]));

const livenessValues = ["ACTIVE_3D", "FLASHING", "active_3d"].map((method) => good([item({ method })]));
const badLivenessValues: readonly SpecifiedValue[] = [
  ...noItems,
  ...badItems({ method: "ACTIVE_3D" }),
  ...["PASSIVE", null, "ACTIVE"].map((method) => bad([item({ method })])),
  bad([item({ method: "ACTIVE_3D" }), item({ method: "PASSIVE" })]),
];
const faceValues = [good([item()]), good([item(), item()])];
const badFaceValues: readonly SpecifiedValue[] = [...noItems, ...badItems({}), bad([item(), item({ status: "Declined" })])];

const noHits = { total_hits: 0, hits: [] };
const hit = (status: string) => ({ review_status: status });
const amlValues = [good([item(noHits)]), good([item(noHits), item(noHits)])];
const badAmlValues: readonly SpecifiedValue[] = [
  ...noItems,
  ...badItems(noHits),
  ...["Unreviewed", "False Positive", "Confirmed Match"].map((status) => bad([item({ total_hits: 0, hits: [hit(status)] })])),
  ...[1, "0", null, -1].map((total_hits) => bad([item({ ...noHits, total_hits })])),
  ...[null, {}, "none"].map((hits) => bad([item({ ...noHits, hits })])),
  bad([item(noHits), item({ total_hits: 2, hits: [hit("False Positive")] })]),
];

/** Features that kyc does not request. If they are present, Didit must have approved them too. */
const otherFeatures = [good({}), good({ ip_analyses: null }), good({ phone_verifications: [item()] })];
const badOtherFeatures: readonly SpecifiedValue[] = [
  { ip_analyses: [item({ status: "Declined" })] },
  { database_validations: [item({ status: "In Review" })] },
  { nfc_verifications: [item(), item({ status: null })] },
  { questionnaires: [item({ warnings: null })] },
].map(bad);

const session = [good({}), good({ metadata: { any: 1 } })];
const badSession: readonly SpecifiedValue[] = [
  { environment: "live" },
  { environment: null },
  { session_kind: "business" },
  { session_kind: null },
].map(bad);

const documentNames: Readonly<Record<string, string>> = { id_card: "Identity Card", passport: "Passport" };
const otherNames = [absent, null, "Driver's License", "Residence Permit", "passport", 1];

/** Returns a random decision of Didit, as fields of GET /v3/session/{id}/decision/. */
export function createDiditResponse(random: Random, terms: Requirements, todayMs: number, excludedDays: number): VendorResponse {
  const draws = createDraw(random);
  const { draw, isBad } = draws;
  const verdict = drawVerdict(random);
  const liveness = draw(livenessValues, badLivenessValues);
  const face = draw(faceValues, badFaceValues);
  const aml = draw(amlValues, badAmlValues);
  const otherFeature = draw(otherFeatures, badOtherFeatures);
  const header = draw(session, badSession);
  const documents = drawDocuments();
  const reasons = drawReasons(random, draws, reasonWords);
  const status = verdict === "APPROVED" && random.chance(0.1) ? { status: "Kyc Expired" } : {};
  const answer = {
    ...status,
    ...(header.json as object),
    ...(otherFeature.json as object),
    id_verifications: documents.json,
    liveness_checks: liveness.json === absent ? null : liveness.json,
    face_matches: face.json === absent ? null : face.json,
    aml_screenings: aml.json === absent ? null : aml.json,
    ...drawWarningFields(),
  };
  return {
    answer,
    codes: reasons.codes,
    fields: { verdict },
    signs: [liveness.sign, face.sign, aml.sign, otherFeature.sign, header.sign, ...documents.signs],
    content: reasons.content,
  };

  /** Draws warnings of a feature that kyc does not use, because warnings of any feature count. */
  function drawWarningFields(): object {
    const warnings = reasons.words.map((risk) => ({ risk, log_type: random.pick(["error", "warning"]) }));
    const meaningless = random.chance(0.2)
      ? [{ risk: random.pick(["QR_NOT_DETECTED", "LOW_FACE_LUMINANCE", "IMAGE_TOO_DARK"]), log_type: "information" }]
      : [];
    return { age_estimations: [item({ warnings: [...warnings, ...meaningless] })] };
  }

  function drawDocuments() {
    if (isBad() && random.chance(0.4)) return { json: random.pick([null, [], "Passport"]), signs: ["-" as const] };
    const count = random.chance(0.15) ? 2 : 1;
    const type = isBad() ? bad(random.pick(otherNames)) : drawAllowed();
    const types = Array.from({ length: count }, (_, i) => (i > 0 && isBad() ? bad("Residence Permit") : type));
    const expiries = types.map(() => drawExpiry(random, draws, todayMs, excludedDays));
    const json = types.map(({ json: document_type }, i) =>
      item(objectOf({ document_type, expiration_date: expiries[i]?.json, nationality: random.pick(["DZA", "ALI", null, 12]) })),
    );
    return { json, signs: [...types.map(({ sign }) => sign), expirySignOf(expiries)] };
  }

  function drawAllowed(): SpecifiedValue {
    const type = isBad() ? random.pick(["id_card", "passport"] as const) : random.pick(terms.allowedDocuments);
    return { ...documentType(type, terms.allowedDocuments), json: documentNames[type] };
  }
}
