import { parseJson, readCountry, readDate, readObject, readOneOf } from "./read-values.ts";
import type { FieldRefusal } from "./verification-provider.ts";

const readName = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" && value.length <= 255 ? value : undefined;

/**
 * Profile fields that the vendors compare with the document. `read` returns the value, or undefined
 * if the value is invalid. `form` describes valid values.
 */
const comparedFields = {
  first_name: { read: readName, form: "a text of 1 to 255 characters" },
  last_name: { read: readName, form: "a text of 1 to 255 characters" },
  birth_date: { read: readDate, form: "a date, YYYY-MM-DD" },
  gender: { read: (value: unknown) => readOneOf(["M", "F"], value), form: "M or F" },
  nationality: { read: readCountry, form: "an ISO 3166-1 alpha-3 code, for example DZA" },
} as const;

type ComparedField = keyof typeof comparedFields;

/** A vendor's names of the compared fields. */
export type VendorNames = Readonly<Record<ComparedField, string>>;

/**
 * Policies for a profile field that no vendor compares. "refuse" rejects the request, and "review"
 * requires a review of the application.
 */
export const uncomparedPolicies = ["refuse", "review"] as const;
type UncomparedFieldPolicy = (typeof uncomparedPolicies)[number];

/** The settings that all vendors have. */
export interface VendorConfig {
  readonly callbackUrl: string;
  readonly uncompared: UncomparedFieldPolicy;
  readonly timeoutMs: number;
}

/**
 * Returns the names of a profile's fields for `profile_keys`. All fields that no vendor compares
 * have the name "other". `profile` is a JSON object as text.
 */
export function readProfileKeys(profile: string | undefined): string[] {
  const names = Object.keys(fieldsOf(profile));
  return [...new Set(names.map((name) => (isCompared(name) ? name : "other")))];
}

/** Returns the valid values of the compared fields, by the vendor's field names. */
export function readComparedFields(profile: string | undefined, names: VendorNames): Record<string, string> {
  const fields = fieldsOf(profile);
  return Object.fromEntries(
    Object.entries(comparedFields).flatMap(([name, { read }]) => {
      const value = read(fields[name]);
      return value === undefined ? [] : [[names[name as ComparedField], value]];
    }),
  );
}

/** Returns the vendor's name of a field in `profile_keys`, or undefined for "other". */
export const vendorNameOf = (names: VendorNames, key: string): string | undefined => (isCompared(key) ? names[key] : undefined);

/** Returns a refusal for each field of the profile that the vendors cannot compare. */
export function refuseProfile(profile: string | undefined, policy: UncomparedFieldPolicy): FieldRefusal[] {
  return Object.entries(fieldsOf(profile)).flatMap(([name, value]) => {
    const pointer = `/profile/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (isCompared(name)) {
      const { read, form } = comparedFields[name];
      if (read(value) !== undefined) return [];
      return [{ pointer, detail: `The verification provider compares this field only as ${form}. Correct or omit it.` }];
    }
    if (policy === "review") return [];
    const known = Object.keys(comparedFields).join(", ");
    const detail = `The verification provider cannot compare this field with a document. Omit it. It compares ${known}.`;
    return [{ pointer, detail }];
  });
}

const fieldsOf = (profile: string | undefined) => readObject(parseJson(profile ?? "{}"));

const isCompared = (name: string): name is ComparedField => Object.hasOwn(comparedFields, name);
