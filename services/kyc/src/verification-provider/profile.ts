import { parseJson, readCountry, readDate, readObject, readOneOf } from "./read-values.ts";
import type { FieldRefusal } from "./verification-provider.ts";

const readName = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" && value.length <= 255 ? value : undefined;

/**
 * Profile fields that the vendors compare with the document, each with the function that reads its
 * value.
 */
const comparedFields = {
  first_name: (value: unknown) => readName(value),
  last_name: (value: unknown) => readName(value),
  birth_date: readDate,
  gender: (value: unknown) => readOneOf(["M", "F"], value),
  nationality: readCountry,
} as const;

export type ComparedField = keyof typeof comparedFields;

const forms: Record<ComparedField, string> = {
  first_name: "a text of 1 to 255 characters",
  last_name: "a text of 1 to 255 characters",
  birth_date: "a date, YYYY-MM-DD",
  gender: "M or F",
  nationality: "an ISO 3166-1 alpha-3 code, for example DZA",
};

/**
 * Policies for a profile field that no vendor compares. "refuse" rejects the request, and "review"
 * requires a review of the application.
 */
export const uncomparedPolicies = ["refuse", "review"] as const;
export type UncomparedFieldPolicy = (typeof uncomparedPolicies)[number];

/** The settings that all vendors have. */
export interface VendorConfig {
  readonly callbackUrl: string;
  readonly uncompared: UncomparedFieldPolicy;
  readonly timeoutMs: number;
}

/** Name that `profile_keys` contains for any field that no vendor compares. */
export const otherKey = "other";

/**
 * Returns the names of a profile's fields for `profile_keys`. `profile` is a JSON object as text.
 */
export function readProfileKeys(profile: string | undefined): string[] {
  const names = Object.keys(readObject(parseJson(profile ?? "{}")));
  return [...new Set(names.map((name) => (isCompared(name) ? name : otherKey)))];
}

/** Returns the fields that the vendors compare, with their values. */
export function readComparedFields(profile: string | undefined): Partial<Record<ComparedField, string>> {
  const fields = readObject(parseJson(profile ?? "{}"));
  return Object.fromEntries(
    Object.entries(comparedFields).flatMap(([name, read]) => {
      const value = read(fields[name]);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Returns a refusal for each field of the profile that the vendors cannot compare. */
export function refuseProfile(profile: string | undefined, policy: UncomparedFieldPolicy): FieldRefusal[] {
  return Object.entries(readObject(parseJson(profile ?? "{}"))).flatMap(([name, value]) => {
    const pointer = `/profile/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (isCompared(name)) {
      if (comparedFields[name](value) !== undefined) return [];
      return [{ pointer, detail: `The verification provider compares this field only as ${forms[name]}. Correct or omit it.` }];
    }
    if (policy === "review") return [];
    const known = Object.keys(forms).join(", ");
    const detail = `The verification provider cannot compare this field with a document. Omit it. It compares ${known}.`;
    return [{ pointer, detail }];
  });
}

const isCompared = (name: string): name is ComparedField => Object.hasOwn(comparedFields, name);
