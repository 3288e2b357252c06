import { isCountryAlpha3 } from "@amana/public-api";

/**
 * Fields of a response with unchecked values. Most functions of this file read one value and return
 * undefined if the value is missing or has another format. Only expected values therefore reach our
 * code.
 */
export type Fields = Readonly<Record<string, unknown>>;

const linkCharactersMax = 2_048;

/** Parses JSON. Returns undefined if the text is not JSON. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Returns the value if it is an object or a list, otherwise an empty object. */
export const readObject = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});

export const readOneOf = <const T extends string>(values: readonly T[], value: unknown): T | undefined =>
  values.find((allowed) => allowed === value);

export const readMatching = (pattern: RegExp, value: unknown): string | undefined =>
  typeof value === "string" && pattern.test(value) ? value : undefined;

/** Reads an id or a cursor: up to 255 visible ASCII characters. Converts a number to text. */
export const readToken = (value: unknown): string | undefined =>
  readMatching(/^[\x21-\x7e]{1,255}$/, typeof value === "number" ? String(value) : value);

/** Largest count that the database and the API can represent. */
export const countMax = 2 ** 31 - 1;

export const readCount = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= countMax ? (value as number) : undefined;

export const readCountry = (value: unknown): string | undefined =>
  typeof value === "string" && isCountryAlpha3(value) ? value : undefined;

/**
 * Reads an ISO 8601 time with an offset. The year must be from 1 to 9999, which PostgreSQL and
 * protobuf can represent.
 */
export function readTime(value: unknown): Date | undefined {
  const parsed = new Date(readMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/, value) ?? Number.NaN);
  const year = parsed.getUTCFullYear();
  return year >= 1 && year <= 9_999 ? parsed : undefined;
}

/** Reads a day as YYYY-MM-DD. Returns undefined if the day does not exist in the calendar. */
export function readDate(value: unknown): string | undefined {
  const day = readMatching(/^\d{4}-\d{2}-\d{2}$/, value);
  if (day === undefined || day.startsWith("0000")) return undefined;
  const parsed = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day) ? day : undefined;
}

export const readLink = (value: unknown): string | undefined =>
  typeof value === "string" && value.length <= linkCharactersMax && /^https?:$/.test(URL.parse(value)?.protocol ?? "")
    ? value
    : undefined;
