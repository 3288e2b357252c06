import type { Language } from "./language.ts";

interface Texts {
  readonly title: string;
  readonly what: string;
  readonly ready: string;
  /** Followed by the names of what does not answer. */
  readonly notReady: string;
  readonly places: Readonly<Record<"guide" | "reference" | "problems" | "sandbox", readonly [name: string, what: string]>>;
}

/** What the first page of the API's address says. The documents it leads to are in English. */
export const firstPageTexts: Readonly<Record<Language, Texts>> = {
  fr: {
    title: "Amana",
    what: "Une interface pour les entreprises : vérifier des personnes, gérer des clients et leurs comptes, encaisser et rembourser des paiements par carte, et en être averties par des webhooks signés. Elle s’adresse à des serveurs, munis d’une clé.",
    ready: "Tout répond.",
    notReady: "Ne répond pas en ce moment :",
    places: {
      guide: ["Guide", "Premiers pas, paiements, vérifications, webhooks, mise en production (en anglais)."],
      reference: ["Référence", "Chaque opération, chaque champ (en anglais). Le document : /openapi.json"],
      problems: ["Problèmes", "Chaque code d’erreur, et s’il vaut la peine de réessayer (en anglais)."],
      sandbox: ["Bac à sable", "Cartes d’essai, vérifications et pannes, avec des formulaires. Rien n’y est réel."],
    },
  },
  ar: {
    title: "أمانة",
    what: "واجهة برمجية للشركات: التحقق من هوية الأشخاص، وإدارة الزبائن وحساباتهم، وقبول الدفع بالبطاقة وردّ المبالغ، مع إشعارات موقعة عند كل تغيير. وهي موجهة إلى الخوادم التي تحمل مفتاحًا.",
    ready: "كل الخدمات تجيب.",
    notReady: "لا يجيب في الوقت الحالي:",
    places: {
      guide: ["الدليل", "الخطوات الأولى والمدفوعات والتحقق والإشعارات والانتقال إلى التشغيل الفعلي (بالإنجليزية)."],
      reference: ["المرجع", "كل عملية وكل حقل (بالإنجليزية). الوثيقة: \u2066/openapi.json\u2069"],
      problems: ["المشكلات", "كل رمز خطأ، وهل تفيد إعادة المحاولة (بالإنجليزية)."],
      sandbox: ["البيئة التجريبية", "بطاقات اختبار وعمليات تحقق وأعطال، مع استمارات. لا شيء فيها حقيقي."],
    },
  },
  en: {
    title: "Amana",
    what: "An interface for businesses: verify people, keep clients and their accounts, take and refund card payments, and hear of it all by signed webhooks. It is meant for servers, which call it with a key.",
    ready: "Everything answers.",
    notReady: "Not answering right now:",
    places: {
      guide: ["Guide", "First steps, payments, verifications, webhooks, going live."],
      reference: ["Reference", "Every operation and every field. The document: /openapi.json"],
      problems: ["Problems", "Every error code, and whether another try helps."],
      sandbox: ["Sandbox", "Test cards, verdicts and faults, with forms. Nothing in it is real."],
    },
  },
};
