import { withCommonWords } from "../pages/words.ts";

const en = {
  title: "Received e-mails",
  intro: "The sandbox receives the e-mails of Amana. Nothing is forwarded. The newest e-mails are listed first.",
  none: "None yet.",
  off: "The SMTP server is off. Set SANDBOX_SMTP_PORT to start it.",
  from: "From",
  to: "To",
  at: "Received",
  attachments: "Attachments",
};

type Words = typeof en;

const fr: Words = {
  title: "E-mails reçus",
  intro: "Ce bac à sable reçoit les e-mails d’Amana. Rien n’est transmis plus loin. Les plus récents sont en tête.",
  none: "Rien pour l’instant.",
  off: "Le serveur SMTP est arrêté. Définissez SANDBOX_SMTP_PORT pour le démarrer.",
  from: "De",
  to: "À",
  at: "Reçu le",
  attachments: "Pièces jointes",
};

const ar: Words = {
  title: "الرسائل المستلمة",
  intro: "تستقبل هذه البيئة التجريبية رسائل أمانة الإلكترونية ولا تُعيد إرسال أي منها. الأحدث أولًا.",
  none: "لا شيء بعد.",
  off: "خادم SMTP متوقف. اضبطوا \u2066SANDBOX_SMTP_PORT\u2069 لتشغيله.",
  from: "من",
  to: "إلى",
  at: "وقت الاستلام",
  attachments: "المرفقات",
};

export const words = withCommonWords({ fr, ar, en });
