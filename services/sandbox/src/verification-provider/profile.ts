import { hash, randomBytes } from "node:crypto";

const comparedFields = ["first_name", "last_name", "birth_date"] as const;

export type Identity = Partial<Record<(typeof comparedFields)[number], string | undefined>>;

/**
 * Salted digests of a profile. The provider can compare the digests with the values of a document,
 * but cannot read the values of the profile. Each application has its own salt, so that equal names
 * have different digests.
 */
export interface ProfileDigest {
  readonly salt: string;
  readonly fields: Identity;
}

export function digestProfile(profile: Readonly<Record<string, unknown>>): ProfileDigest {
  const salt = randomBytes(16).toString("hex");
  const fields: Identity = {};
  for (const name of comparedFields) {
    const value = profile[name];
    if (typeof value === "string" && value.trim() !== "") fields[name] = digest(salt, value);
  }
  return { salt, fields };
}

/** Returns whether a field that both the profile and the document have is different. */
export function differsFromProfile(profile: ProfileDigest | undefined, identity: Identity): boolean {
  if (!profile) return false;
  return comparedFields.some((name) => {
    const expected = profile.fields[name];
    const value = identity[name];
    return expected !== undefined && value !== undefined && expected !== digest(profile.salt, value);
  });
}

/** Removes case and accents, because documents use capitals and often omit accents. */
const comparable = (text: string) =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[\s'’-]+/g, " ")
    .trim()
    .toUpperCase();

const digest = (salt: string, value: string) => hash("sha256", `${salt}:${comparable(value)}`);
