import type { Language } from "@amana/pages";

interface Texts {
  readonly title: string;
  readonly description: string;
  readonly ready: string;
  /** Text before the names of the unavailable services. */
  readonly notReady: string;
  readonly links: Readonly<Record<"guide" | "reference" | "problems" | "sandbox", readonly [name: string, description: string]>>;
}

/** Texts of the gateway's first page. The documents to which the page links are in English. */
export const firstPageTexts: Readonly<Record<Language, Texts>> = {
  fr: {
    title: "Amana",
    description:
      "Une interface de programmation pour les entreprises : vérifier l’identité de personnes, gérer des clients et leurs comptes, encaisser et rembourser des paiements par carte, recevoir des webhooks signés. Vos serveurs l’appellent avec une clé d’API.",
    ready: "Tous les services fonctionnent.",
    notReady: "Indisponible en ce moment :",
    links: {
      guide: ["Guide", "Premiers pas, paiements, vérifications, webhooks, mise en production (en anglais)."],
      reference: ["Référence", "Toutes les opérations et tous les champs (en anglais). Document OpenAPI : /openapi.json"],
      problems: ["Problèmes", "Tous les codes d’erreur, et s’il faut réessayer (en anglais)."],
      sandbox: ["Bac à sable", "Cartes d’essai, vérifications et pannes, avec des formulaires. Rien n’y est réel."],
    },
  },
  ar: {
    title: "أمانة",
    description:
      "واجهة برمجية للشركات: التحقق من هوية الأشخاص، وإدارة الزبائن وحساباتهم، وقبول الدفع بالبطاقة وردّ المبالغ، واستلام إشعارات موقعة (webhooks). تستدعيها خوادمكم بمفتاح.",
    ready: "جميع الخدمات تعمل.",
    notReady: "غير متاح حاليًا:",
    links: {
      guide: ["الدليل", "الخطوات الأولى والمدفوعات والتحقق والإشعارات والانتقال إلى التشغيل الفعلي (بالإنجليزية)."],
      reference: ["المرجع", "كل العمليات وكل الحقول (بالإنجليزية). وثيقة OpenAPI: \u2066/openapi.json\u2069"],
      problems: ["المشكلات", "كل رموز الأخطاء، وهل تفيد إعادة المحاولة (بالإنجليزية)."],
      sandbox: ["البيئة التجريبية", "بطاقات اختبار وعمليات تحقق وأعطال، مع استمارات. لا شيء فيها حقيقي."],
    },
  },
  en: {
    title: "Amana",
    description:
      "An API for businesses: verify people, manage clients and their accounts, take and refund card payments, and receive signed webhooks. Your servers call it with an API key.",
    ready: "All services are operational.",
    notReady: "Currently unavailable:",
    links: {
      guide: ["Guide", "Quick start, payments, verification, webhooks, going live."],
      reference: ["Reference", "Every operation and every field. OpenAPI document: /openapi.json"],
      problems: ["Problems", "Every error code, and whether to retry."],
      sandbox: ["Sandbox", "Test cards, verdicts and faults, with forms. Nothing in it is real."],
    },
  },
};
