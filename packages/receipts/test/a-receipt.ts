import type { Receipt } from "../src/index.ts";

/** A receipt with all fields of a payment that is PAID. */
export const aReceipt: Receipt = {
  receiptNumber: "20261125-1000000001",
  issuedAt: new Date("2026-11-25T13:05:00Z"),
  businessName: "Librairie El Kitab",
  orderRef: "panier-7",
  description: "Deux billets pour la pièce de théâtre « L’Été »",
  customerName: "Yacine Benali",
  processorOrderId: "V721uPPfNNofVQAAABL3",
  processorOrderNumber: "1000000001",
  approvalCode: "303004",
  respCodeDesc: "Votre paiement a été accepté",
  cardBrand: "EDAHABIA",
  maskedPan: "628058**7215",
  amountMinor: 1_234_567_50n,
  paidAt: new Date("2026-11-25T13:05:00Z"),
};

/** The receipt `aReceipt` with Arabic texts, after a partial refund. */
export const anArabicReceipt: Receipt = {
  ...aReceipt,
  businessName: "مكتبة الكتاب",
  description: "تذكرتان لمسرحية «الصيف» في قاعة Ibn Khaldoun يوم 12 ديسمبر",
  customerName: "ياسين بن علي",
  respCodeDesc: "تم قبول عملية الدفع",
  refundedAmountMinor: 500_000n,
  refundedAt: new Date("2026-11-26T08:30:00Z"),
  issuedAt: new Date("2026-11-26T08:30:00Z"),
};

/** Texts of a caller that try to break out of the layout. */
export const hostileTexts = {
  markup: `<script>alert(1)</script> #panic() *bold* $x$ \\u{41} [a] & "quotes" 'x'`,
  overrides: "abc\u202edcba\u2066isolated\u200f\u061cend",
  lines: "one\r\ntwo\u2028three\0four\tfive",
  invisible: "\u200b\u200d\ufeff",
  lone: "half \ud83d emoji",
};
