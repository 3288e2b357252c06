import type { Language } from "@amana/pages";

const fr = {
  sandbox: "Bac à sable",
  sandboxNotice: "Rien n’est réel ici\u00a0: ni argent ni document n’en sort.",
  chooseLanguage: "Choisir la langue",
  errorTitle: "Erreur",
  attemptsLeft: (count: number) => (count === 1 ? "Il vous reste 1 essai." : `Il vous reste ${count} essais.`),
  backAutomatically: "Retour automatique dans (secondes)\u00a0:",
  stay: "Rester sur cette page",
};

export type CommonWords = typeof fr;

const ar: CommonWords = {
  sandbox: "بيئة تجريبية",
  sandboxNotice: "لا شيء هنا حقيقي: لا يخرج من هذه البيئة أي مال أو وثيقة.",
  chooseLanguage: "اختيار اللغة",
  errorTitle: "خطأ",
  attemptsLeft: (count) =>
    count === 1 ? "بقيت لديكم محاولة واحدة." : count === 2 ? "بقيت لديكم محاولتان." : `بقيت لديكم ${count} محاولات.`,
  backAutomatically: "عودة تلقائية خلال (بالثواني):",
  stay: "البقاء في هذه الصفحة",
};

const en: CommonWords = {
  sandbox: "Sandbox",
  sandboxNotice: "Nothing here is real: no money and no document leaves the sandbox.",
  chooseLanguage: "Choose a language",
  errorTitle: "Error",
  attemptsLeft: (count) => (count === 1 ? "You have 1 attempt left." : `You have ${count} attempts left.`),
  backAutomatically: "Returning automatically in (seconds):",
  stay: "Stay on this page",
};

/** Texts that the pages of the sandbox share. */
const commonWords: Readonly<Record<Language, CommonWords>> = { fr, ar, en };

/** Adds the common texts to the texts of a page. */
export const withCommonWords = <Words extends object>(words: Readonly<Record<Language, Words>>) => ({
  fr: { ...commonWords.fr, ...words.fr },
  ar: { ...commonWords.ar, ...words.ar },
  en: { ...commonWords.en, ...words.en },
});
