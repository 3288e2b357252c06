import type { Language } from "@amana/pages";
import type { ErrorTexts } from "./page.ts";

type Text = readonly [title: string, ...paragraphs: string[]];

/** Texts for a card holder whose browser the gateway cannot redirect to the shop. */
export const returnTexts: ErrorTexts<Readonly<Record<Language, Text>>> = {
  unknown: {
    fr: [
      "Lien de paiement inconnu",
      "Ce lien ne correspond à aucun paiement. Il est peut-être incomplet.",
      "Retournez sur le site du marchand pour consulter l’état de votre commande.",
    ],
    ar: [
      "رابط دفع غير معروف",
      "لا يوافق هذا الرابط أي عملية دفع. ربما لم يُنسخ كاملًا.",
      "يُرجى العودة إلى موقع التاجر للاطلاع على حالة طلبكم.",
    ],
    en: [
      "Unknown payment link",
      "This link does not belong to any payment. It may be incomplete.",
      "Please go back to the shop’s website to see the state of your order.",
    ],
  },
  unavailable: {
    fr: [
      "Un instant, s’il vous plaît",
      "Nous ne pouvons pas vérifier votre paiement pour le moment. Rien n’est perdu et vous ne serez pas débité deux fois.",
      "Rechargez cette page dans une minute.",
    ],
    ar: [
      "لحظة من فضلكم",
      "يتعذر علينا التحقق من عملية الدفع في الوقت الحالي. لم يضع شيء ولن يُخصم المبلغ مرتين.",
      "يُرجى إعادة تحميل هذه الصفحة بعد دقيقة.",
    ],
    en: [
      "One moment, please",
      "We cannot check your payment right now. Nothing is lost and you will not be charged twice.",
      "Please reload this page in a minute.",
    ],
  },
  refused: {
    fr: [
      "Demande non reconnue",
      "Nous n’avons pas pu lire cette demande.",
      "Retournez sur le site du marchand pour consulter l’état de votre commande.",
    ],
    ar: ["طلب غير مفهوم", "تعذر علينا قراءة هذا الطلب.", "يُرجى العودة إلى موقع التاجر للاطلاع على حالة طلبكم."],
    en: [
      "Request not understood",
      "We could not read this request.",
      "Please go back to the shop’s website to see the state of your order.",
    ],
  },
};
