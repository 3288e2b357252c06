import type { Language } from "@amana/pages";
import type { ErrorTexts } from "./page.ts";

type Text = readonly [title: string, text: string];

/** Texts for a buyer whose receipt the gateway cannot show. */
export const receiptErrorTexts: ErrorTexts<Readonly<Record<Language, Text>>> = {
  unknown: {
    fr: ["Reçu inconnu", "Cette adresse ne correspond à aucun reçu. Elle est peut-être incomplète."],
    ar: ["إيصال غير معروف", "لا يوافق هذا العنوان أي إيصال. ربما لم يُنسخ كاملًا."],
    en: ["Unknown receipt", "This address does not belong to any receipt. It may be incomplete."],
  },
  unavailable: {
    fr: [
      "Un instant, s’il vous plaît",
      "Nous ne pouvons pas afficher le reçu pour le moment. Rechargez cette page dans une minute.",
    ],
    ar: ["لحظة من فضلكم", "يتعذر عرض الإيصال في الوقت الحالي. يُرجى إعادة تحميل هذه الصفحة بعد دقيقة."],
    en: ["One moment, please", "We cannot show the receipt right now. Please reload this page in a minute."],
  },
  refused: {
    fr: ["Demande non reconnue", "Nous n’avons pas pu lire cette demande. Revenez à la page du reçu et recommencez."],
    ar: ["طلب غير مفهوم", "تعذر علينا قراءة هذا الطلب. يُرجى العودة إلى صفحة الإيصال وإعادة المحاولة."],
    en: ["Request not understood", "We could not read this request. Please go back to the receipt and try again."],
  },
};
