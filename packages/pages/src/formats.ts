import { direction, type Language } from "./language.ts";

// Arabic texts in Algeria use Latin digits.
const locale: Readonly<Record<Language, string>> = { fr: "fr-DZ", ar: "ar-DZ-u-nu-latn", en: "en-GB" };

/**
 * Creates the format of a language once, because creation takes longer than rendering a page, and
 * only for the first use, because the formats would add 20 ms to the start of each service.
 */
function perLanguage<Format>(create: (locale: string) => Format): (language: Language) => Format {
  const formats = new Map<Language, Format>();
  return (language) => {
    const format = formats.get(language) ?? create(locale[language]);
    formats.set(language, format);
    return format;
  };
}

const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "Africa/Algiers" } as const;
const date = { day: "numeric", month: "long", year: "numeric", ...time } as const;
const amountFormat = perLanguage((name) => new Intl.NumberFormat(name, { minimumFractionDigits: 2 }));
const timeFormat = perLanguage((name) => new Intl.DateTimeFormat(name, time));
const dateFormat = perLanguage((name) => new Intl.DateTimeFormat(name, date));

/** Returns an amount in dinars with its currency, from centimes. */
export function formatAmount(amountMinor: number | bigint, language: Language): string {
  const number = amountFormat(language).format(Number(amountMinor) / 100);
  const amount = `${number}\u00a0DZD`;
  // Isolates the amount, so that number and currency keep their order in right-to-left text.
  return direction[language] === "rtl" ? `\u2066${amount}\u2069` : amount;
}

/** Returns the time of day in Algeria. */
export const formatTime = (ms: number, language: Language): string => timeFormat(language).format(ms);

/** Returns date and time in Algeria. */
export const formatDate = (ms: number, language: Language): string => dateFormat(language).format(ms);
