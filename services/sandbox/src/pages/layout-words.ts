import type { Language } from "./language.ts";

const fr = {
  sandbox: "Bac à sable",
  sandboxNotice: "Rien n’est réel ici\u00a0: ni argent ni document n’en sort.",
  chooseLanguage: "Choisir la langue",
};

const ar: typeof fr = {
  sandbox: "بيئة تجريبية",
  sandboxNotice: "لا شيء هنا حقيقي: لا يخرج من هذه البيئة أي مال أو وثيقة.",
  chooseLanguage: "اختيار اللغة",
};

const en: typeof fr = {
  sandbox: "Sandbox",
  sandboxNotice: "Nothing here is real: no money and no document leaves it.",
  chooseLanguage: "Choose a language",
};

export const layoutWords: Readonly<Record<Language, typeof fr>> = { fr, ar, en };
