import { direction, type Language } from "./language.ts";

// Arabic texts in Algeria use Latin digits.
const locale: Readonly<Record<Language, string>> = { fr: "fr-DZ", ar: "ar-DZ-u-nu-latn", en: "en-GB" };

/** Returns an amount in dinars with its currency, from centimes. */
export function formatAmount(amountMinor: number | bigint, language: Language): string {
  const number = new Intl.NumberFormat(locale[language], { minimumFractionDigits: 2 }).format(Number(amountMinor) / 100);
  const amount = `${number}\u00a0DZD`;
  // Isolated, so that number and currency keep their order in right-to-left text.
  return direction[language] === "rtl" ? `\u2066${amount}\u2069` : amount;
}

const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "Africa/Algiers" } as const;

/** Returns the time of day in Algeria. */
export const formatTime = (ms: number, language: Language): string => new Intl.DateTimeFormat(locale[language], time).format(ms);

/** Returns date and time in Algeria. */
export const formatDate = (ms: number, language: Language): string =>
  new Intl.DateTimeFormat(locale[language], { day: "numeric", month: "long", year: "numeric", ...time }).format(ms);
