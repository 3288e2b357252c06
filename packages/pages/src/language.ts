import Negotiator from "negotiator";

/** Languages of the pages that card holders and applicants read, in order of preference. */
export const languages = ["fr", "ar", "en"] as const;
export type Language = (typeof languages)[number];

/** The `dir` attribute of each language. */
export const direction: Readonly<Record<Language, "ltr" | "rtl">> = { fr: "ltr", ar: "rtl", en: "ltr" };

/** The name of each language in the language itself, for a menu. */
export const languageName: Readonly<Record<Language, string>> = { fr: "Français", ar: "العربية", en: "English" };

/** Returns the language of a code such as "ar" or "AR"; undefined for any other value. */
export function parseLanguage(code: unknown): Language | undefined {
  return languages.find((language) => typeof code === "string" && language === code.toLowerCase());
}

/**
 * Returns the supported language with the highest weight in an Accept-Language header (RFC 9110,
 * section 12.5.4), or French when the header has none.
 */
export function preferredLanguage(acceptLanguage: string | undefined): Language {
  const headers = { "accept-language": acceptLanguage?.slice(0, 500) ?? "" };
  return parseLanguage(new Negotiator({ headers }).language([...languages])) ?? "fr";
}
