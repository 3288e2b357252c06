import type { Language } from "@amana/pages";

// Arabic texts in Algeria use Latin digits.
const locale: Readonly<Record<Language, string>> = { fr: "fr-DZ", ar: "ar-DZ-u-nu-latn", en: "en-GB" };

/** Returns an amount with its currency, for example "5 000,00 DZD". It is read left to right. */
export function formatAmount(amountMinor: bigint, currency: string, language: Language): string {
  // A text, because a number cannot represent all amounts exactly.
  const decimal = `${amountMinor / 100n}.${String(amountMinor % 100n).padStart(2, "0")}` as `${number}`;
  return `${new Intl.NumberFormat(locale[language], { minimumFractionDigits: 2 }).format(decimal)}\u00a0${currency}`;
}

/** Returns date and time in Algeria. */
export const formatTime = (at: Date, language: Language): string =>
  new Intl.DateTimeFormat(locale[language], {
    day: "numeric",
    month: "long",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone: "Africa/Algiers",
  }).format(at);
