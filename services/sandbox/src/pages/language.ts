export const languages = ["fr", "ar", "en"] as const;

export type Language = (typeof languages)[number];

export const direction: Record<Language, "ltr" | "rtl"> = { fr: "ltr", ar: "rtl", en: "ltr" };

/** Each language by its own name, so that its readers find it. */
export const languageName: Record<Language, string> = { fr: "Français", ar: "العربية", en: "English" };

// Algeria writes Arabic with Latin digits.
const locale: Record<Language, string> = { fr: "fr-DZ", ar: "ar-DZ-u-nu-latn", en: "en-GB" };

export const isLanguage = (text: unknown): text is string => parseLanguage(text) !== undefined;

export function parseLanguage(text: unknown): Language | undefined {
  return languages.find((language) => typeof text === "string" && language === text.toLowerCase());
}

export function formatAmount(amountMinor: number, language: Language): string {
  const amount = `${new Intl.NumberFormat(locale[language], { minimumFractionDigits: 2 }).format(amountMinor / 100)}\u00a0DZD`;
  // Isolated: number and currency keep their order in a sentence that runs the other way.
  return direction[language] === "rtl" ? `\u2066${amount}\u2069` : amount;
}

const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "Africa/Algiers" } as const;

export const formatTime = (ms: number, language: Language) => new Intl.DateTimeFormat(locale[language], time).format(ms);

export const formatDate = (ms: number, language: Language) =>
  new Intl.DateTimeFormat(locale[language], { day: "numeric", month: "long", year: "numeric", ...time }).format(ms);
