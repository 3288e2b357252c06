/** Receipts of card payments: texts, page and e-mail. The PDF is in `@amana/receipts/pdf`. */
export { receiptMail } from "./mail.ts";
export {
  emailCharactersMax,
  type Notice,
  type ReceiptPageOptions,
  receiptNotice,
  receiptPage,
  receiptScript,
  receiptStyle,
} from "./page.ts";
export { helpline, type Receipt } from "./receipt.ts";
export { receiptOf } from "./receipt-of.ts";
export { receiptTexts } from "./texts.ts";
