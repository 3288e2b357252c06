/** Receipts of card payments: texts, page and e-mail. The PDF is in `@amana/receipts/pdf`. */
export { type ReceiptMail, receiptMail } from "./mail.ts";
export {
  emailCharactersMax,
  type Notice,
  type ReceiptPageOptions,
  receiptCard,
  receiptNotice,
  receiptPage,
  receiptScript,
  receiptStyle,
} from "./page.ts";
export { helpline, type Receipt } from "./receipt.ts";
export { receiptOf } from "./receipt-of.ts";
export { type ReceiptTexts, receiptTexts } from "./texts.ts";
