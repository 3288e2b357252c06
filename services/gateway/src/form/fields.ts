import { countries } from "@amana/public-api";
import { type TObject, type TSchema, Type } from "typebox";
import { field } from "./field.ts";

const alpha3Codes = countries.map(({ alpha3 }) => alpha3);
const numericCodes = countries.map(({ numeric }) => numeric);

/** Counts code points, not UTF-16 code units. */
const hasAtMost = (max: number) => (text: string) => text.length <= 2 * max && [...text].length <= max;

/** A string that is stored unchanged. */
export const text = (max: number, options: { format?: string; description: string; examples?: string[] }) =>
  field(Type.String({ minLength: 1, maxLength: max, ...options }), {
    message: `must be a string of 1 to ${max} characters`,
    accepts: hasAtMost(max),
  });

/** A string for the card processor, which counts UTF-16 code units. */
export const processorText = (max: number, purpose: string) => {
  const description = `${purpose} At most ${max} UTF-16 code units; most emoji count as two.`;
  return field(Type.String({ format: "utf-16", minLength: 1, maxLength: max, description, examples: ["2026-0007"] }), {
    message: `must be a string of 1 to ${max} UTF-16 code units; most emoji count as two`,
    accepts: (value: string) => value.length <= max,
  });
};

/**
 * Maximum length of a string that is converted to NFC. The conversion takes quadratic time in the
 * number of combining marks. Longer strings need no conversion, because they exceed the length
 * limit of every field.
 */
const nfcLengthMax = 1_000;
const toNfc = (value: string) => (value.length > nfcLengthMax ? value : value.normalize("NFC"));

/** A name or an address line, trimmed and in NFC, so that equal-looking strings are equal. */
export const nameText = (options: { max?: number; description?: string; examples?: string[] }) => {
  const { max = 200, ...shown } = options;
  return field(Type.String({ minLength: 1, maxLength: max, pattern: "\\S", ...shown }), {
    message: `must be a string of 1 to ${max} characters`,
    normalise: (value) => toNfc(value.trim()),
    accepts: hasAtMost(max),
  });
};

/**
 * An amount. `range` contains the accepted range twice: as a lookahead for the pattern and as a
 * text for the message.
 */
export const money = (options: { description: string; examples: string[]; range?: { pattern: string; message: string } }) => {
  const { range = { pattern: "", message: "" }, ...shown } = options;
  return field(Type.String({ pattern: `^${range.pattern}\\d{1,15}(\\.\\d{1,2})?$`, ...shown }), {
    message: `must be a decimal string such as "5000.00"${range.message}, with at most two decimals`,
  });
};

/**
 * Schema of a field with an amount that the card processor accepts. The schema permits at most
 * twelve digits before the decimal point.
 */
export const chargedAmountField = (description: string) =>
  money({
    description: `${description} In DZD, from 50.00 to 999999999999.99, with at most two decimals.`,
    examples: ["5000.00"],
    range: { pattern: "(?=0*([5-9]\\d|[1-9]\\d{2,11})(\\.|$))", message: ', from "50.00" to "999999999999.99"' },
  });

/** Returns `{ description }`, or an empty object if the description is undefined. */
const descriptionOf = (description: string | undefined) => (description === undefined ? {} : { description });

export const uuid = (description: string) =>
  field(Type.String({ format: "uuid", description }), {
    message: "must be a UUID",
    normalise: (value) => value.toLowerCase(),
  });

export const choice = <const T extends string>(values: readonly T[], description?: string) =>
  field(Type.Unsafe<T>(Type.Enum([...values], descriptionOf(description))), { message: `must be one of ${values.join(", ")}` });

/**
 * Accepts each of `values` in upper or lower case. The stored value has the spelling of `values`.
 */
export const anyCaseChoice = <const T extends string>(values: readonly T[], purpose: string) =>
  field(Type.Unsafe<T>(Type.Enum([...values], { description: `${purpose} Upper and lower case are accepted.` })), {
    message: `must be one of ${values.join(", ")}, in upper or lower case`,
    normalise: (value) => values.find((listedValue) => listedValue.toUpperCase() === value.toUpperCase()) ?? value,
  });

export const flag = (description?: string) =>
  field(Type.Boolean(descriptionOf(description)), { message: "must be true or false" });

export const integer = (minimum: number, maximum: number, options: { default?: number; description: string }) =>
  field(Type.Integer({ minimum, maximum, ...options }), { message: `must be a whole number from ${minimum} to ${maximum}` });

export const distinct = <T extends TSchema>(items: T, message: string, options: { description: string; minItems?: number }) =>
  field(Type.Array(items, { uniqueItems: true, ...options }), { message });

/**
 * Country code (ISO 3166-1 alpha-3). The title makes the schema one shared component in the OpenAPI
 * document.
 */
export const country = () =>
  field(Type.Enum(alpha3Codes, { title: "CountryCode", description: "Country code (ISO 3166-1 alpha-3).", examples: ["DZA"] }), {
    message: "must be a country code of three capital letters such as DZA (ISO 3166-1 alpha-3)",
  });

/** Numeric country code (ISO 3166-1) as an integer: 12 for the code 012. */
export const countryNumber = () =>
  field(
    Type.Enum(numericCodes, {
      title: "CountryNumber",
      description: "Numeric country code (ISO 3166-1) without leading zeros.",
      examples: [12],
    }),
    {
      message: "must be a numeric country code such as 12 (ISO 3166-1)",
    },
  );

/** A date in 1900 or later. The format rejects days that a month does not have. */
export const date = (options: { description: string; examples: string[] }) =>
  field(Type.String({ format: "date", pattern: "^(19|[2-9]\\d)", ...options }), {
    message: "must be a date such as 1990-05-17, in 1900 or later",
  });

/**
 * A search text, in NFC like the searched text. Line breaks are rejected, because they separate the
 * fields of the searched text.
 */
export const search = (options: { description: string }) =>
  field(Type.String({ minLength: 1, maxLength: 100, pattern: "^[^\\n]*$", ...options }), {
    message: "must be a string of 1 to 100 characters without a line break",
    normalise: toNfc,
    accepts: hasAtMost(100),
  });

/** An e-mail address (RFC 5321) in ASCII. The domain name must have at least two labels. */
export const email = (description?: string) => {
  const pattern = "\\.[A-Za-z][A-Za-z0-9-]*[A-Za-z0-9]$";
  return field(
    Type.String({ format: "email", maxLength: 254, pattern, examples: ["amina@example.dz"], ...descriptionOf(description) }),
    {
      message: "must be an e-mail address of at most 254 characters such as amina@example.dz",
      normalise: (value) => value.trim(),
    },
  );
};

/** A phone number (ITU-T E.164): a plus sign and 7 to 15 digits. */
export const phone = (description?: string) =>
  field(Type.String({ pattern: "^\\+[1-9]\\d{6,14}$", examples: ["+213550123456"], ...descriptionOf(description) }), {
    message: "must be a phone number in E.164 format such as +213550123456",
  });

const opaqueDepthMax = 8;

/** A JSON object with any members. The route limits its size. */
export const opaqueObject = (options: { description: string; examples: object[] }): TObject =>
  field(Type.Object({}, { additionalProperties: true, ...options }), {
    message: "must be a JSON object",
    accepts: (value: object) =>
      !Array.isArray(value) && (depthOf(value) <= opaqueDepthMax || `must be nested at most ${opaqueDepthMax} levels deep`),
  });

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? 1 + Object.values(value).reduce((depthMax: number, child) => Math.max(depthMax, depthOf(child)), 0)
    : 0;

/**
 * A timestamp with an offset (RFC 3339). The format `date-time` also accepts leap seconds, more
 * than nine decimals and the suffixes of RFC 9557. `accepts` rejects these values. In a query, an
 * unescaped "+" arrives as a space.
 */
export const timestamp = (options: { description: string; examples?: string[] }) =>
  field(Type.String({ format: "date-time", examples: ["2026-11-20T10:00:00Z"], ...options }), {
    message: "must be a timestamp with an offset such as 2026-11-20T10:00:00Z",
    normalise: (value) => value.replace(" ", "+"),
    accepts: (value: string) => /:[0-5]\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i.test(value),
  });

/** The parameters with which a list is filtered by creation time. */
export const createdBetween = () => ({
  created_from: timestamp({ description: "Start of the range of creation times, inclusive." }),
  created_to: timestamp({ description: "End of the range of creation times, exclusive." }),
});
