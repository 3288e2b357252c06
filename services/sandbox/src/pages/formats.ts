import { direction, type Language } from "@amana/pages";

// Arabic texts in Algeria use Latin digits.
const locale: Readonly<Record<Language, string>> = { fr: "fr-DZ", ar: "ar-DZ-u-nu-latn", en: "en-GB" };

export function formatAmount(amountMinor: number, language: Language): string {
  const amount = `${new Intl.NumberFormat(locale[language], { minimumFractionDigits: 2 }).format(amountMinor / 100)}\u00a0DZD`;
  // Isolated, so that number and currency keep their order in right-to-left text.
  return direction[language] === "rtl" ? `\u2066${amount}\u2069` : amount;
}

const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "Africa/Algiers" } as const;

export const formatTime = (ms: number, language: Language) => new Intl.DateTimeFormat(locale[language], time).format(ms);

export const formatDate = (ms: number, language: Language) =>
  new Intl.DateTimeFormat(locale[language], { day: "numeric", month: "long", year: "numeric", ...time }).format(ms);
