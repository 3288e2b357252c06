/**
 * The specified rules ("Evaluate" in services/kyc/README.md) as a table. The table follows only the
 * text of the specification, so that kyc's evaluation can be compared with it. `absent` is the
 * value of a field that the response does not contain.
 */
export const absent: unique symbol = Symbol("absent");

/** Positive or negative evidence, or the expiry date of an expired document. */
export type Sign = "+" | "-" | "expired";
export type Verdict = "APPROVED" | "NEEDS_REVIEW" | "REJECTED";

/** A value of one field of the provider's response, and its sign as evidence. */
export interface SpecifiedValue {
  readonly json: unknown;
  readonly sign: Sign;
}

const positive = (json: unknown): SpecifiedValue => ({ json, sign: "+" });
const negative = (json: unknown): SpecifiedValue => ({ json, sign: "-" });

/**
 * The tested values of each field that affects the verdict: all specified values, an absent value
 * and an unknown value.
 */
export const evidence = {
  liveness_outcome: [positive("PASSED"), ...["FAILED", "INCONCLUSIVE", "NOT_PERFORMED", absent, "LIVE"].map(negative)],
  face_match_outcome: [positive("PASSED"), ...["FAILED", "INCONCLUSIVE", "NOT_PERFORMED", absent, "SIMILAR"].map(negative)],
  aml_decision: [positive("CLEAR"), ...["POSSIBLE_MATCH", "CONFIRMED_MATCH", absent, "UNSURE"].map(negative)],
  aml_hit_count: [positive(0), ...[1, absent, "0"].map(negative)],
} as const satisfies Record<string, readonly SpecifiedValue[]>;

/** Returns a positive value for an allowed document type. An unknown type is never allowed. */
export const documentType = (type: unknown, allowed: readonly string[]): SpecifiedValue =>
  (type === "id_card" || type === "passport") && allowed.includes(type) ? positive(type) : negative(type);
export const documentTypes: readonly unknown[] = ["id_card", "passport", absent, "driving_licence"];

const dayMs = 86_400_000;
/** Returns an expiry date `days` after today, in UTC. Negative days are in the past. */
export const documentExpiry = (days: number, todayMs: number): SpecifiedValue => ({
  json: new Date(todayMs + days * dayMs).toISOString().slice(0, 10),
  sign: days < 0 ? "expired" : "+",
});
export const documentExpiries = (todayMs: number): readonly SpecifiedValue[] => [
  ...[-1, 0, 1].map((days) => documentExpiry(days, todayMs)),
  ...[absent, "soon"].map(negative),
];

export const codes = [
  "DOCUMENT_EXPIRED",
  "DOCUMENT_UNREADABLE",
  "DOCUMENT_NOT_ALLOWED",
  "DOCUMENT_TAMPERED",
  "FACE_MISMATCH",
  "LIVENESS_FAILED",
  "PROFILE_MISMATCH",
  "UNDERAGE",
  "AML_MATCH",
  "DUPLICATE",
] as const;

/** A list of reasons. */
export interface Reasons {
  readonly json: unknown;
  /**
   * "profile" means only PROFILE_MISMATCH. "more" means any other code, including unknown codes.
   */
  readonly content: "nothing" | "profile" | "more";
}
export const reasonsOf = (...reasonCodes: readonly string[]): Reasons => {
  const content =
    reasonCodes.length === 0 ? "nothing" : reasonCodes.every((code) => code === "PROFILE_MISMATCH") ? "profile" : "more";
  return { json: reasonCodes.map((code) => ({ code })), content };
};
export const reasons: readonly Reasons[] = [
  { json: absent, content: "nothing" },
  reasonsOf(),
  reasonsOf("PROFILE_MISMATCH"),
  reasonsOf("AML_MATCH"),
  reasonsOf("PROFILE_MISMATCH", "UNDERAGE"),
  reasonsOf("PROFILE_MISMATCH", "NEW_CODE"),
  reasonsOf("NEW_CODE"),
  { json: "AML_MATCH", content: "more" },
];

export const verdicts: readonly unknown[] = ["APPROVED", "REJECTED", "NEEDS_REVIEW", absent, "MAYBE"];

/**
 * A rule has the provider's verdict, the worst sign of the evidence ("expired" before "-" before
 * "+"), the content of the reasons, and Amana's verdict. The first rule that matches applies.
 */
const rules: readonly [reported: string, worst: Sign | "any", content: Reasons["content"] | "any", verdict: Verdict][] = [
  ["any", "expired", "any", "REJECTED"],
  ["APPROVED", "+", "nothing", "APPROVED"],
  ["REJECTED", "+", "profile", "NEEDS_REVIEW"],
  ["REJECTED", "any", "any", "REJECTED"],
  ["any", "any", "any", "NEEDS_REVIEW"],
];

/** A response of the provider, with the signs of its evidence and the content of its reasons. */
export interface TruthTableRow {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly signs: readonly Sign[];
  readonly content: Reasons["content"];
}

/** Returns the specified verdict. Without video, liveness counts as negative evidence. */
export function computeSpecifiedVerdict({ fields, signs, content }: TruthTableRow, withVideo: boolean): Verdict {
  const worst: Sign = signs.includes("expired") ? "expired" : signs.includes("-") || !withVideo ? "-" : "+";
  const matches = (pattern: string, value: unknown) => pattern === "any" || pattern === value;
  const rule = rules.find(
    ([reported, sign, listed]) => matches(reported, fields["verdict"]) && matches(sign, worst) && matches(listed, content),
  );
  if (!rule) throw new Error("no rule matches, although the last rule must match every response");
  return rule[3];
}

/**
 * Returns the provider's JSON object of these parts, without absent fields. The comparison of all
 * combinations calls this function two million times, so it creates no intermediate objects.
 */
export function objectOf(...parts: readonly Readonly<Record<string, unknown>>[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const fields of parts) for (const name in fields) if (fields[name] !== absent) object[name] = fields[name];
  return object;
}
