import type { Random } from "../random.ts";
import {
  absent,
  documentExpiry,
  type Reasons,
  type Sign,
  type SpecifiedValue,
  type TruthTableRow,
  type Verdict,
} from "./specified.ts";

/** Fields that replace fields of the sandbox's response, and the evidence and codes in them. */
export interface VendorResponse extends TruthTableRow {
  readonly answer: Readonly<Record<string, unknown>>;
  readonly codes: readonly string[];
}

export const good = (json: unknown): SpecifiedValue => ({ json, sign: "+" });
export const bad = (json: unknown): SpecifiedValue => ({ json, sign: "-" });

/**
 * Returns functions that draw values. Most drawn values are positive, so that usually a single
 * value decides the verdict.
 */
export function createDraw(random: Random) {
  const badShare = random.pick([0, 0, 0.03, 0.1, 0.4]);
  const isBad = () => random.chance(badShare);
  return {
    isBad,
    draw: <T>(positive: readonly T[], negative: readonly T[]): T => random.pick(isBad() ? negative : positive),
  };
}

export type Draw = ReturnType<typeof createDraw>;

export const drawVerdict = (random: Random): Verdict =>
  random.pick(["APPROVED", "APPROVED", "APPROVED", "REJECTED", "NEEDS_REVIEW"]);

/** Draws the expiry of a document. No expiry is within `excludedDays` days of today. */
export function drawExpiry(random: Random, { isBad }: Draw, todayMs: number, excludedDays: number): SpecifiedValue {
  if (!isBad()) return documentExpiry(random.integer(excludedDays, 3_000), todayMs);
  if (random.chance(0.5)) return documentExpiry(-random.integer(excludedDays, 3_000), todayMs);
  return bad(random.pick([absent, null, "", "soon", "2031-02-30", "20310630", 20_310_630]));
}

/**
 * The vendor's words for each of Amana's reason codes, and words for which kyc has no reason code.
 */
export interface ReasonWords {
  readonly byCode: Readonly<Record<string, readonly string[]>>;
  readonly unknown: readonly string[];
}

export interface DrawnReasons {
  readonly words: readonly string[];
  readonly content: Reasons["content"];
  readonly codes: readonly string[];
}

/** Draws an empty list of reasons, only PROFILE_MISMATCH, or other reasons. */
export function drawReasons(random: Random, { isBad }: Draw, { byCode, unknown }: ReasonWords): DrawnReasons {
  if (random.chance(0.15)) return { words: [pickWord("PROFILE_MISMATCH")], content: "profile", codes: ["PROFILE_MISMATCH"] };
  if (!isBad()) return { words: [], content: "nothing", codes: [] };
  if (random.chance(0.3)) return { words: [random.pick(unknown)], content: "more", codes: [] };
  const otherCodes = Object.keys(byCode).filter((code) => code !== "PROFILE_MISMATCH");
  const codes = [...new Set(Array.from({ length: random.integer(1, 3) }, () => random.pick(otherCodes)))];
  return { words: codes.map(pickWord), content: "more", codes };

  function pickWord(code: string): string {
    return random.pick(byCode[code] ?? []);
  }
}

/** Returns the sign of the earliest expiry, or "-" if a document has no valid expiry. */
export function expirySignOf(expiries: readonly SpecifiedValue[]): Sign {
  if (expiries.length === 0 || expiries.some(({ sign }) => sign === "-")) return "-";
  return expiries.some(({ sign }) => sign === "expired") ? "expired" : "+";
}
