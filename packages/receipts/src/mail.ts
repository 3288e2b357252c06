import { direction, type Html, html, type Language } from "@amana/pages";
import { renderShownText } from "./page.ts";
import type { Receipt } from "./receipt.ts";
import { contentOf, type Row } from "./rows.ts";
import { type ShownText, shownText } from "./shown-text.ts";
import { receiptTexts } from "./texts.ts";

/** Subject and the two parts of an e-mail with a receipt. The caller attaches the PDF. */
interface ReceiptMail {
  /** Contains no line break. */
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Returns the e-mail with a receipt. `url` is the address of the receipt's page. */
export function receiptMail(receipt: Receipt, language: Language, url: string): ReceiptMail {
  const texts = receiptTexts[language];
  const seller = shownText(receipt.businessName);
  const { title, state, amount, refund, rows, help, seller: sellerRow } = contentOf(receipt, language);
  const isolatedSeller = isolate(seller, language);
  const lines = [amount, ...refund, sellerRow, ...rows];
  return {
    subject: texts.mailSubject(isolatedSeller),
    text: [
      texts.mailIntro(isolatedSeller),
      "",
      title,
      state.text,
      "",
      ...lines.map(({ label, value }) => `${label}: ${isolate(value, language)}`),
      "",
      `${texts.mailLink}: ${url}`,
      "",
      help,
      "",
      texts.mailReason,
      "",
    ].join("\n"),
    html: html`<!doctype html>
<html lang="${language}" dir="${direction[language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
</head>
<body style="margin: 0; padding: 24px 16px; font: 16px/1.5 system-ui, sans-serif">
<div dir="${direction[language]}" style="max-width: 480px; margin: 0 auto">
<p>${texts.mailIntro(isolatedSeller)}</p>
<h1 style="margin: 16px 0 4px; font-size: 20px">${title}</h1>
<p style="margin: 0 0 16px"><strong>${state.text}</strong></p>
<table style="width: 100%; border-collapse: collapse">
${lines.map(tableRow)}
</table>
<p><a href="${url}">${texts.mailLink}</a></p>
<p>${help}</p>
<p style="font-size: 14px">${texts.mailReason}</p>
</div>
</body>
</html>
`.text,
  };
}

const cell = "padding: 6px 0; border-bottom: 1px solid #84928a; vertical-align: top";

const tableRow = ({ label, value }: Row): Html =>
  html`<tr><th scope="row" style="${cell}; text-align: start; font-weight: 400">${label}</th><td style="${cell}; text-align: end; word-break: break-word">${renderShownText(value)}</td></tr>`;

/** Encloses a text in isolates (UAX #9) if its direction differs from the language's direction. */
const isolate = ({ text, direction: own }: ShownText, language: Language): string =>
  own === direction[language] ? text : `${own === "ltr" ? "\u2066" : "\u2067"}${text}\u2069`;
