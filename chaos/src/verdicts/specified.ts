/**
 * The rules of the specification (decisions §3, "Rules" and "Vocabulary"), as a table and from its
 * text alone, to be held against what the service makes of an answer. A value stands for itself or,
 * absent, for a field that is not there.
 */
export const absent: unique symbol = Symbol("absent");

export type Sign = "+" | "-" | "expired";
export type Verdict = "APPROVED" | "NEEDS_REVIEW" | "REJECTED";

/** One value that the provider may give in one field, and what it is worth as evidence. */
export interface Value {
  readonly json: unknown;
  readonly sign: Sign;
}

const plus = (json: unknown): Value => ({ json, sign: "+" });
const minus = (json: unknown): Value => ({ json, sign: "-" });

/**
 * Every value of the vocabulary, an absent one and one that is unknown, of each field that a
 * verdict can rest on.
 */
export const evidence = {
  liveness_outcome: [plus("PASSED"), ...["FAILED", "INCONCLUSIVE", "NOT_PERFORMED", absent, "LIVE"].map(minus)],
  face_match_outcome: [plus("PASSED"), ...["FAILED", "INCONCLUSIVE", "NOT_PERFORMED", absent, "SIMILAR"].map(minus)],
  aml_decision: [plus("CLEAR"), ...["POSSIBLE_MATCH", "CONFIRMED_MATCH", absent, "UNSURE"].map(minus)],
  aml_hit_count: [plus(0), ...[1, absent, "0"].map(minus)],
} as const satisfies Record<string, readonly Value[]>;

/** Whether a kind of document is one that was asked for; a kind nobody knows never is. */
export const documentType = (type: unknown, allowed: readonly string[]): Value =>
  (type === "id_card" || type === "passport") && allowed.includes(type) ? plus(type) : minus(type);
export const documentTypes: readonly unknown[] = ["id_card", "passport", absent, "driving_licence"];

const dayMs = 86_400_000;
/** A document so many days before or after today, in UTC. */
export const documentExpiry = (days: number, todayMs: number): Value => ({
  json: new Date(todayMs + days * dayMs).toISOString().slice(0, 10),
  sign: days < 0 ? "expired" : "+",
});
export const documentExpiries = (todayMs: number): readonly Value[] => [
  ...[-1, 0, 1].map((days) => documentExpiry(days, todayMs)),
  ...[absent, "soon"].map(minus),
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

/**
 * A list of reasons: whether it speaks of nothing, of the profile alone, or of anything else, known
 * to us or not.
 */
export interface Reasons {
  readonly json: unknown;
  readonly speakOf: "nothing" | "profile" | "more";
}
export const reasonsOf = (...named: readonly string[]): Reasons => {
  const speakOf = named.length === 0 ? "nothing" : named.every((code) => code === "PROFILE_MISMATCH") ? "profile" : "more";
  return { json: named.map((code) => ({ code })), speakOf };
};
export const reasons: readonly Reasons[] = [
  { json: absent, speakOf: "nothing" },
  reasonsOf(),
  reasonsOf("PROFILE_MISMATCH"),
  reasonsOf("AML_MATCH"),
  reasonsOf("PROFILE_MISMATCH", "UNDERAGE"),
  reasonsOf("PROFILE_MISMATCH", "NEW_CODE"),
  reasonsOf("NEW_CODE"),
  { json: "AML_MATCH", speakOf: "more" },
];

export const verdicts: readonly unknown[] = ["APPROVED", "REJECTED", "NEEDS_REVIEW", absent, "MAYBE"];

/**
 * What the provider said, what its evidence is worth in the worst field, and what its reasons speak
 * of: first match wins.
 */
const rules: readonly [said: string, worst: Sign | "any", speakOf: Reasons["speakOf"] | "any", verdict: Verdict][] = [
  ["any", "expired", "any", "REJECTED"],
  ["APPROVED", "+", "nothing", "APPROVED"],
  ["REJECTED", "+", "profile", "NEEDS_REVIEW"],
  ["REJECTED", "any", "any", "REJECTED"],
  ["any", "any", "any", "NEEDS_REVIEW"],
];

/**
 * An answer of the provider: its fields, what those that are evidence are worth, and what its
 * reasons speak of.
 */
export interface Row {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly signs: readonly Sign[];
  readonly speakOf: Reasons["speakOf"];
}

/** Without a video, liveness is NOT_PERFORMED, whatever the provider says. */
export function specifiedVerdict({ fields, signs, speakOf }: Row, withVideo: boolean): Verdict {
  const worst: Sign = signs.includes("expired") ? "expired" : signs.includes("-") || !withVideo ? "-" : "+";
  const holds = (pattern: string, value: unknown) => pattern === "any" || pattern === value;
  const rule = rules.find(([s, w, r]) => holds(s, fields["verdict"]) && holds(w, worst) && holds(r, speakOf));
  if (!rule) throw new Error("the rules end with one that always holds");
  return rule[3];
}

/** The provider's JSON object: absent fields left out. */
export const objectOf = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== absent));
