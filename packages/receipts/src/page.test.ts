import { languages } from "@amana/pages";
import { expect, test } from "vitest";
import { anArabicReceipt, aReceipt, hostileTexts } from "../test/a-receipt.ts";
import { receiptCard, receiptPage } from "./page.ts";
import { receiptTexts } from "./texts.ts";

const options = { language: "fr", path: "/receipts/abc", canSendEmail: true } as const;

test.each(languages)("receiptCard in the language %s shows every item that the card processor requires", (language) => {
  const { text } = receiptCard(aReceipt, language);
  const texts = receiptTexts[language];
  const labels = [texts.seller, texts.amount, texts.paidAt, texts.respCodeDesc, texts.processorOrderId];
  const moreLabels = [texts.processorOrderNumber, texts.approvalCode, texts.cardBrand, texts.maskedPan, texts.receiptNumber];
  for (const label of [...labels, ...moreLabels]) expect(text).toContain(`<dt>${label}</dt>`);
  const { processorOrderId, processorOrderNumber, approvalCode, maskedPan, receiptNumber, businessName } = aReceipt;
  for (const value of [processorOrderId, processorOrderNumber, approvalCode, maskedPan, receiptNumber, businessName]) {
    expect(text).toContain(`<bdi dir="ltr">${value}</bdi>`);
  }
  expect(text).toMatch(/1.234.567[.,]50\u00a0DZD/);
  expect(text).toContain("14:05");
  expect(text).toContain("3020");
});

test("receiptCard shows the paid amount, the refunded amount and the time of the refund after a refund", () => {
  const { text } = receiptCard(anArabicReceipt, "fr");
  expect(text).toContain("Paiement remboursé en partie");
  expect(text).toMatch(/1.234.567,50\u00a0DZD.*5.000,00\u00a0DZD.*26 novembre 2026 à 09:30/s);
  expect(receiptCard({ ...anArabicReceipt, refundedAmountMinor: aReceipt.amountMinor }, "fr").text).toContain(
    "Paiement remboursé<",
  );
});

test("receiptCard omits fields without a value", () => {
  const { text } = receiptCard({ ...aReceipt, description: undefined, orderRef: "", customerName: undefined }, "en");
  for (const label of ["Description", "Reference", "Customer"]) expect(text).not.toContain(`<dt>${label}</dt>`);
});

test("receiptCard escapes texts that a caller sent", () => {
  const { text } = receiptCard({ ...aReceipt, businessName: hostileTexts.markup, description: hostileTexts.overrides }, "fr");
  expect(text).not.toContain("<script");
  expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  expect(text).toContain('<bdi dir="ltr">abcdcbaisolatedend</bdi>');
});

test("receiptPage has a form for the e-mail address only if the deployment sends e-mail", () => {
  expect(receiptPage(aReceipt, options).text).toContain('action="/receipts/abc/email?lang=fr"');
  expect(receiptPage(aReceipt, { ...options, canSendEmail: false }).text).not.toContain("<form");
});

test("receiptPage shows a rejected e-mail address again, escaped, together with the problem", () => {
  const { text } = receiptPage(aReceipt, { ...options, rejectedEmail: '"><script>' });
  expect(text).toContain('value="&quot;&gt;&lt;script&gt;" aria-invalid="true" autofocus');
  expect(text).toContain(receiptTexts.fr.emailProblem);
});
