export const languages = ["fr", "ar", "en"] as const;
export type Language = (typeof languages)[number];

export const direction: Record<Language, "ltr" | "rtl"> = { fr: "ltr", ar: "rtl", en: "ltr" };

/** The reader's best of our languages (RFC 9110, section 12.5.4); French when none is asked for. */
export function preferredLanguage(acceptLanguage: string | undefined): Language {
  const wishes = (acceptLanguage ?? "")
    .slice(0, 500)
    .split(",")
    .map((part) => {
      const [range = "", ...parameters] = part.trim().toLowerCase().split(";");
      const quality = parameters.map((parameter) => /^\s*q=([01](?:\.\d{0,3})?)\s*$/.exec(parameter)?.[1]).find(Boolean);
      return { primary: range.split("-")[0] ?? "", quality: Number(quality ?? 1) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
  for (const { primary } of wishes) {
    const found = languages.find((language) => language === primary);
    if (found) return found;
  }
  return "fr";
}
