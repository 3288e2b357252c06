import type { Language } from "../pages/language.ts";

export interface Outcome {
  readonly actionCode: number;
  /** The issuer's answer; absent when the issuer was never asked or gave none. */
  readonly respCode?: string;
  /** What the cardholder is told, and what `respCode_desc` says. */
  readonly words: Readonly<Record<Language, string>>;
}

export const outcomes = {
  accepted: {
    actionCode: 0,
    respCode: "00",
    words: {
      fr: "Votre paiement a été accepté.",
      ar: "تم قبول عملية الدفع.",
      en: "Your payment was accepted.",
    },
  },
  card_blocked: {
    actionCode: 203,
    respCode: "37",
    words: {
      fr: "Votre carte est bloquée. Veuillez contacter votre banque.",
      ar: "بطاقتكم محظورة. يرجى الاتصال ببنككم.",
      en: "Your card is blocked. Please contact your bank.",
    },
  },
  card_lost: {
    actionCode: 208,
    respCode: "41",
    words: {
      fr: "Cette carte est déclarée perdue. Veuillez contacter votre banque.",
      ar: "هذه البطاقة مصرّح بضياعها. يرجى الاتصال ببنككم.",
      en: "This card is reported lost. Please contact your bank.",
    },
  },
  card_stolen: {
    actionCode: 209,
    respCode: "43",
    words: {
      fr: "Cette carte est déclarée volée. Veuillez contacter votre banque.",
      ar: "هذه البطاقة مصرّح بسرقتها. يرجى الاتصال ببنككم.",
      en: "This card is reported stolen. Please contact your bank.",
    },
  },
  wrong_expiry: {
    actionCode: -1,
    respCode: "AD",
    words: {
      fr: "La date d’expiration ne correspond pas à la carte. Veuillez la vérifier.",
      ar: "تاريخ انتهاء الصلاحية لا يطابق البطاقة. يرجى التحقق منه.",
      en: "The expiry date does not match the card. Please check it.",
    },
  },
  unknown_to_issuer: {
    actionCode: 125,
    respCode: "62",
    words: {
      fr: "La banque ne reconnaît pas cette carte. Veuillez utiliser une autre carte.",
      ar: "البنك لا يتعرف على هذه البطاقة. يرجى استعمال بطاقة أخرى.",
      en: "The bank does not recognise this card. Please use another card.",
    },
  },
  limit_exceeded: {
    actionCode: 121,
    respCode: "61",
    words: {
      fr: "Le plafond de votre carte est dépassé. Veuillez contacter votre banque.",
      ar: "تم تجاوز سقف بطاقتكم. يرجى الاتصال ببنككم.",
      en: "Your card’s limit is exceeded. Please contact your bank.",
    },
  },
  insufficient_balance: {
    actionCode: 116,
    respCode: "51",
    words: {
      fr: "Le solde est insuffisant. Veuillez utiliser une autre carte.",
      ar: "الرصيد غير كافٍ. يرجى استعمال بطاقة أخرى.",
      en: "The balance is not sufficient. Please use another card.",
    },
  },
  wrong_cvv2: {
    actionCode: 111,
    respCode: "AB",
    words: {
      fr: "Le code CVV2 ne correspond pas à la carte. Veuillez le vérifier.",
      ar: "رمز CVV2 لا يطابق البطاقة. يرجى التحقق منه.",
      en: "The CVV2 code does not match the card. Please check it.",
    },
  },
  password_blocked: {
    actionCode: 2003,
    words: {
      fr: "Le mot de passe est bloqué après trois essais. Veuillez contacter votre banque.",
      ar: "تم حظر كلمة المرور بعد ثلاث محاولات. يرجى الاتصال ببنككم.",
      en: "The password is blocked after three attempts. Please contact your bank.",
    },
  },
  not_authorised_online: {
    actionCode: 2003,
    words: {
      fr: "Cette carte n’est pas autorisée pour le paiement en ligne. Veuillez contacter votre banque.",
      ar: "هذه البطاقة غير مرخصة للدفع عبر الإنترنت. يرجى الاتصال ببنككم.",
      en: "This card is not authorised for online payment. Please contact your bank.",
    },
  },
  not_active_online: {
    actionCode: -1,
    respCode: "AE",
    words: {
      fr: "Le paiement en ligne n’est pas activé sur cette carte. Veuillez contacter votre banque.",
      ar: "الدفع عبر الإنترنت غير مفعّل على هذه البطاقة. يرجى الاتصال ببنككم.",
      en: "Online payment is not active on this card. Please contact your bank.",
    },
  },
  terminal_ceiling: {
    actionCode: -2006,
    words: {
      fr: "Le montant dépasse le plafond du commerçant. Veuillez contacter le commerçant.",
      ar: "المبلغ يتجاوز السقف المسموح به للتاجر. يرجى الاتصال بالتاجر.",
      en: "The amount is above the shop’s ceiling. Please contact the shop.",
    },
  },
  card_expired: {
    actionCode: 101,
    respCode: "33",
    words: {
      fr: "Cette carte a expiré. Veuillez utiliser une autre carte.",
      ar: "انتهت صلاحية هذه البطاقة. يرجى استعمال بطاقة أخرى.",
      en: "This card has expired. Please use another card.",
    },
  },
  cancelled: {
    actionCode: 10,
    words: {
      fr: "Vous avez annulé le paiement. Rien n’a été débité.",
      ar: "لقد ألغيتم عملية الدفع. لم يُخصم أي مبلغ.",
      en: "You cancelled the payment. Nothing was debited.",
    },
  },
  session_expired: {
    actionCode: -2007,
    words: {
      fr: "Le délai de paiement est écoulé. Rien n’a été débité. Veuillez recommencer depuis le site du commerçant.",
      ar: "انتهت مهلة الدفع. لم يُخصم أي مبلغ. يرجى إعادة العملية من موقع التاجر.",
      en: "The time to pay has run out. Nothing was debited. Please start again from the shop.",
    },
  },
} as const satisfies Record<string, Outcome>;

export type OutcomeName = keyof typeof outcomes;

export const outcomeOf = (name: OutcomeName): Outcome => outcomes[name];
