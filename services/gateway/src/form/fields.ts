import { isMoneyText } from "@amana/public-api";
import { isUuid } from "@amana/runtime";
import { type TSchema, Type } from "typebox";
import { field } from "./field.ts";

/** Characters as people count them when they type: code points, not UTF-16 units. */
const lengthOf = (text: string) => [...text].length;

/** Free text, kept as it was sent. */
export const text = (max: number, options: { description?: string; examples?: string[] } = {}) =>
  field(Type.String({ minLength: 1, maxLength: max, ...options }), {
    message: `must be a text of 1 to ${max} characters`,
    accepts: (value: string) => value.length <= 2 * max && lengthOf(value) <= max,
  });

/** Free text that goes on to the card processor, which counts UTF-16 units: most emoji are two. */
export const processorText = (max: number) =>
  field(Type.String({ minLength: 1, maxLength: max, description: `At most ${max} UTF-16 units; most emoji are two.` }), {
    message: `must be a text of 1 to ${max} characters, where most emoji count as two`,
    accepts: (value: string) => value.length <= max,
  });

/** A name or an address line: trimmed and composed (NFC), so that what looks the same is the same. */
export const nameText = () =>
  field(Type.String({ minLength: 1, maxLength: 200, examples: ["Librairie El Kitab"] }), {
    message: "must be a text of 1 to 200 characters",
    normalise: (value) => value.trim().normalize("NFC"),
    accepts: (value: string) => value.length <= 400 && lengthOf(value) <= 200,
  });

export const money = (options: { description: string; examples: string[] }) =>
  field(Type.String({ pattern: "^\\d{1,15}(\\.\\d{1,2})?$", ...options }), {
    message: 'must be a decimal string such as "5000.00", with at most two decimals',
    accepts: isMoneyText,
  });

export const uuid = () =>
  field(Type.String({ format: "uuid" }), {
    message: "must be a UUID",
    normalise: (value) => value.toLowerCase(),
    accepts: isUuid,
  });

export const choice = <const T extends string>(values: readonly T[]) =>
  field(Type.Unsafe<T>(Type.Enum([...values])), { message: `must be one of ${values.join(", ")}` });

/** One of a few words in any case; kept in upper case. */
export const anyCaseChoice = <const T extends string>(values: readonly T[]) =>
  field(
    Type.Unsafe<T>(Type.Enum([...values], { description: "Upper and lower case are the same here: any case is accepted." })),
    {
      message: `must be one of ${values.join(", ")}, in any case`,
      normalise: (value) => value.toUpperCase(),
    },
  );

export const flag = () => field(Type.Boolean(), { message: "must be true or false" });

export const integer = (minimum: number, maximum: number, options: { default?: number } = {}) =>
  field(Type.Integer({ minimum, maximum, ...options }), { message: `must be a whole number from ${minimum} to ${maximum}` });

export const distinct = <T extends TSchema>(items: T, message: string, options: { description?: string } = {}) =>
  field(Type.Array(items, { uniqueItems: true, ...options }), { message });

const timestampPattern =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

function isTimestamp(value: string): boolean {
  const [, year, month, day] = timestampPattern.exec(value) ?? [];
  if (year === undefined) return false;
  // Date would turn 30 February into 2 March.
  return Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
}

/** A point in time with any offset (RFC 3339). In a query, a "+" that was not escaped arrives as a space. */
export const timestamp = (options: { description?: string } = {}) =>
  field(Type.String({ format: "date-time", examples: ["2026-11-20T10:00:00Z"], ...options }), {
    message: "must be a timestamp with an offset such as 2026-11-20T10:00:00Z",
    normalise: (value) => value.replace(" ", "+"),
    accepts: isTimestamp,
  });

/** Unix milliseconds of a text that `timestamp` accepted. */
export function timestampMs(value: string | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(Date.parse(value.toUpperCase()));
}
