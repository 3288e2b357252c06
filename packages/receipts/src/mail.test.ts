import { languages } from "@amana/pages";
import { expect, test } from "vitest";
import { anArabicReceipt, aReceipt, hostileTexts } from "../test/a-receipt.ts";
import { receiptMail } from "./mail.ts";

const url = "https://pay.example/receipts/abc";

test.each(languages)(
  "receiptMail in the language %s returns a text part and an HTML part, each with the payment's details and the link",
  (language) => {
    const { subject, text, html } = receiptMail(aReceipt, language, url);
    expect(subject).toContain(aReceipt.businessName);
    for (const value of [url, aReceipt.approvalCode, aReceipt.maskedPan, aReceipt.receiptNumber, "3020"]) {
      expect(text).toContain(value);
      expect(html).toContain(value);
    }
    expect(html).toContain(`<html lang="${language}" dir="${language === "ar" ? "rtl" : "ltr"}">`);
  },
);

test("receiptMail isolates a text if its writing direction differs from the direction of the mail's language", () => {
  expect(receiptMail(anArabicReceipt, "en", url).subject).toBe("Your payment receipt – \u2067مكتبة الكتاب\u2069");
  expect(receiptMail(aReceipt, "ar", url).text).toContain("\u2066628058**7215\u2069");
});

test("receiptMail writes the subject in one line, and escapes texts that a caller sent", () => {
  const businessName = `${hostileTexts.lines}\r\nBcc: victim@example.com ${hostileTexts.markup}`;
  const { subject, html } = receiptMail({ ...aReceipt, businessName }, "fr", url);
  expect(subject).not.toMatch(/[\r\n]/);
  expect(html).not.toContain("<script");
});
