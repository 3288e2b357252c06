import { countries } from "@amana/public-api";
import { isUuid } from "@amana/runtime";
import { type TObject, type TSchema, Type } from "typebox";
import { field } from "./field.ts";

const alpha3Codes = countries.map(({ alpha3 }) => alpha3);
const numericCodes = countries.map(({ numeric }) => numeric);

/** Characters as people count them when they type: code points, not UTF-16 units. */
const hasAtMost = (max: number) => (text: string) => text.length <= 2 * max && [...text].length <= max;

/** Free text, kept as it was sent. */
export const text = (max: number, options: { format?: string; description?: string; examples?: string[] } = {}) =>
  field(Type.String({ minLength: 1, maxLength: max, ...options }), {
    message: `must be a text of 1 to ${max} characters`,
    accepts: hasAtMost(max),
  });

/** Free text that goes on to the card processor, which counts UTF-16 units: most emoji are two. */
export const processorText = (max: number) => {
  const description = `At most ${max} UTF-16 units; most emoji are two.`;
  return field(Type.String({ format: "utf-16", minLength: 1, maxLength: max, description, examples: ["2026-0007"] }), {
    message: `must be a text of 1 to ${max} characters, where most emoji count as two`,
    accepts: (value: string) => value.length <= max,
  });
};

/** Ordering combining marks takes the square of their number; short texts come from no more. */
const composedFromMax = 1_000;
const composed = (value: string) => (value.length > composedFromMax ? value : value.normalize("NFC"));

/** A name or an address line: trimmed and composed (NFC), so that what looks alike is alike. */
export const nameText = (options: { description?: string; examples?: string[] } = { examples: ["Librairie El Kitab"] }) =>
  field(Type.String({ minLength: 1, maxLength: 200, pattern: "\\S", ...options }), {
    message: "must be a text of 1 to 200 characters",
    normalise: (value) => composed(value.trim()),
    accepts: hasAtMost(200),
  });

/** An amount. `range`: which ones, as a lookahead and in words. */
export const money = (options: { description: string; examples: string[]; range?: { pattern: string; message: string } }) => {
  const { range = { pattern: "", message: "" }, ...shown } = options;
  return field(Type.String({ pattern: `^${range.pattern}\\d{1,15}(\\.\\d{1,2})?$`, ...shown }), {
    message: `must be a decimal string such as "5000.00"${range.message}, with at most two decimals`,
  });
};

export const uuid = () =>
  field(Type.String({ format: "uuid" }), {
    message: "must be a UUID",
    normalise: (value) => value.toLowerCase(),
    accepts: isUuid,
  });

export const choice = <const T extends string>(values: readonly T[]) =>
  field(Type.Unsafe<T>(Type.Enum([...values])), { message: `must be one of ${values.join(", ")}` });

/** One of a few words in any case; kept as it is listed. */
export const anyCaseChoice = <const T extends string>(values: readonly T[]) =>
  field(
    Type.Unsafe<T>(Type.Enum([...values], { description: "Upper and lower case are the same here: any case is accepted." })),
    {
      message: `must be one of ${values.join(", ")}, in any case`,
      normalise: (value) => values.find((known) => known.toUpperCase() === value.toUpperCase()) ?? value,
    },
  );

export const flag = () => field(Type.Boolean(), { message: "must be true or false" });

export const integer = (minimum: number, maximum: number, options: { default?: number; description?: string } = {}) =>
  field(Type.Integer({ minimum, maximum, ...options }), { message: `must be a whole number from ${minimum} to ${maximum}` });

export const distinct = <T extends TSchema>(
  items: T,
  message: string,
  options: { description?: string; minItems?: number } = {},
) => field(Type.Array(items, { uniqueItems: true, ...options }), { message });

/** ISO 3166-1 alpha-3. The document lists a schema with a title once. */
export const country = () =>
  field(Type.Enum(alpha3Codes, { title: "CountryCode", description: "ISO 3166-1 alpha-3.", examples: ["DZA"] }), {
    message: "must be a country's three capitals such as DZA (ISO 3166-1 alpha-3)",
  });

/** ISO 3166-1 numeric, as a number: 12 stands for 012. */
export const countryNumber = () =>
  field(Type.Enum(numericCodes, { title: "CountryNumber", description: "ISO 3166-1 numeric.", examples: [12] }), {
    message: "must be a country's number such as 12 (ISO 3166-1 numeric)",
  });

/** A day, not before 1900. The format knows the lengths of months and leap years. */
export const date = (options: { description?: string; examples?: string[] } = {}) =>
  field(Type.String({ format: "date", pattern: "^(19|[2-9]\\d)", ...options }), {
    message: "must be a day such as 1990-05-17, not before 1900",
  });

/** Composed like what it is looked for in, where line breaks part the fields. */
export const search = (options: { description: string }) =>
  field(Type.String({ minLength: 1, maxLength: 100, pattern: "^[^\\n]*$", ...options }), {
    message: "must be a text of 1 to 100 characters without a line break",
    normalise: composed,
    accepts: hasAtMost(100),
  });

/** RFC 5321 with a domain name of at least two labels, in ASCII. */
export const email = () => {
  const pattern = "\\.[A-Za-z][A-Za-z0-9-]*[A-Za-z0-9]$";
  return field(Type.String({ format: "email", maxLength: 254, pattern, examples: ["amina@example.dz"] }), {
    message: "must be an e-mail address such as amina@example.dz, of at most 254 characters",
    normalise: (value) => value.trim(),
  });
};

/** ITU-T E.164: a plus sign and up to fifteen digits. */
export const phone = () =>
  field(Type.String({ pattern: "^\\+[1-9]\\d{6,14}$", examples: ["+213550123456"] }), {
    message: "must be a phone number in E.164 form such as +213550123456",
  });

const opaqueDepthMax = 8;

/** A JSON object of the caller's own making, whose text has a bound of its own. */
export const opaqueObject = (options: { description: string; examples: object[] }): TObject =>
  field(Type.Object({}, { additionalProperties: true, ...options }), {
    message: "must be a JSON object",
    accepts: (value: object) =>
      !Array.isArray(value) && (depthOf(value) <= opaqueDepthMax || `must be nested at most ${opaqueDepthMax} levels deep`),
  });

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? 1 + Object.values(value).reduce((deepest: number, inner) => Math.max(deepest, depthOf(inner)), 0)
    : 0;

const timestampPattern =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

function isTimestamp(value: string): boolean {
  const [, year, month, day] = timestampPattern.exec(value) ?? [];
  if (year === undefined) return false;
  // Date would turn 30 February into 2 March.
  return Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
}

/** A point in time with any offset (RFC 3339). In a query an unescaped "+" arrives as a space. */
export const timestamp = (options: { description?: string; examples?: string[] | undefined } = {}) =>
  field(Type.String({ format: "date-time", examples: ["2026-11-20T10:00:00Z"], ...options }), {
    message: "must be a timestamp with an offset such as 2026-11-20T10:00:00Z",
    normalise: (value) => value.replace(" ", "+"),
    accepts: isTimestamp,
  });

/** The filters of a list by when its things were created. */
export const createdBetween = () => ({
  created_from: timestamp({ description: "Created at this time or later." }),
  created_to: timestamp({ description: "Created before this time, which is itself left out." }),
});
