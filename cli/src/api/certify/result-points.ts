import type { Payment } from "@amana/client";
import type { Page } from "playwright-core";
import { type Card, maskedNumber, slugOf } from "./cards.ts";
import { checkAmount, checkLanguage } from "./checkout-points.ts";
import type { Point } from "./point.ts";
import { NotApplicable, type Stage, textOf } from "./stage.ts";

const helpline = "3020";
const rejectedTexts = {
  fr: "Votre transaction a été rejetée.",
  ar: "تم رفض معاملتكم.",
  en: "Your transaction was rejected.",
} as const;

/** Creates a point that pays a link with a card, and checks the result page. */
export const cardPoint = (card: Card, languages: Point["languages"]): Point => ({
  id: `card-${slugOf(card)}`,
  title: `${card.isAccepted ? "Accepted" : "Rejected"} payment: ${card.name}`,
  requirement: card.isAccepted
    ? "The result page shows the text of the processor, the numbers of the transaction and of the order, the approval code, date and time, the amount with its currency, the card, the seller and 3020. The buyer can print it, download it as PDF and send it by e-mail."
    : "The result page shows the text of the processor, or states that the transaction was rejected, and 3020.",
  languages,
  async play(stage) {
    const link = await stage.createLink();
    const { page } = await stage.open(link.url);
    await stage.pressPay(page);
    await stage.enterCard(page, card);
    const payment = await stage.paymentOf(link);
    const expected = card.isAccepted ? "PAID" : "REFUSED";
    stage.check(`The payment with ${maskedNumber(card)} is ${expected}.`, payment.status === expected, payment.status);
    await checkLanguage(stage, page);
    await stage.takePictures(page, "result");
    await checkHelpline(stage, page);
    // The page of another result has none of the details.
    if (payment.status !== expected) return;
    if (card.isAccepted) await checkAccepted(stage, page, payment);
    else await checkRejected(stage, page, payment);
  },
});

async function checkHelpline(stage: Stage, page: Page): Promise<void> {
  const text = await textOf(page, "main");
  stage.check(`The page shows the help line ${helpline}.`, text.includes(helpline), text);
}

async function checkAccepted(stage: Stage, page: Page, payment: Payment): Promise<void> {
  const text = await textOf(page, "main");
  const { name } = await stage.api.amana.me.get();
  const values = {
    "text of the processor": payment.resp_code_desc,
    "number of the transaction": payment.processor_order_id,
    "number of the order": payment.processor_order_number,
    "approval code": payment.approval_code,
    "date and time": payment.paid_at && timeInAlgiers(payment.paid_at),
    card: payment.masked_pan,
    "type of the card": payment.card_brand,
    seller: name,
  };
  for (const [label, value] of Object.entries(values)) {
    stage.check(`The page shows the ${label}.`, !!value && text.includes(value), `${value ?? "no value"} in: ${text}`);
  }
  checkAmount(stage, "The page", text);
  stage.check("The page has a button to print.", await page.locator("[data-print]").isVisible());
  await checkPdf(stage, page);
  const mailLink = page.locator('a[href*="#email"]');
  const canSend = (await mailLink.count()) === 1;
  stage.check("The page has a button to send the receipt by e-mail. Required settings: SMTP_URL and MAIL_FROM.", canSend);
}

async function checkPdf(stage: Stage, page: Page): Promise<void> {
  const link = page.locator('a[href*="format=pdf"]');
  if ((await link.count()) === 0) return stage.check("The page has a button to download the receipt as PDF.", false);
  const response = await fetch(new URL((await link.getAttribute("href")) ?? "", page.url()));
  const content = Buffer.from(await response.arrayBuffer());
  const isPdf = response.status === 200 && content.subarray(0, 5).toString() === "%PDF-";
  stage.check("The receipt can be downloaded as PDF.", isPdf, String(response.status));
  if (isPdf) await stage.addFile("receipt.pdf", content, "Receipt as PDF");
}

async function checkRejected(stage: Stage, page: Page, payment: Payment): Promise<void> {
  const text = await textOf(page, "main");
  const { action_code = "", action_code_description = "", resp_code_desc = "" } = payment;
  const isWithoutText = !action_code || !action_code_description;
  const expected = isWithoutText ? rejectedTexts[stage.language] : resp_code_desc || action_code_description;
  stage.check(`The page shows the text "${expected}".`, text.includes(expected ?? ""), text);
  stage.check("The page offers another attempt.", (await page.locator('.actions a[href^="/pay/"]').count()) === 1);
}

/** Returns the time of day as the page shows it. */
const timeInAlgiers = (time: string) =>
  new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone: "Africa/Algiers",
  }).format(new Date(time));

/** Points about results that need no certain test card. `card` is accepted. */
export const resultPoints = (card: Card, email: string | undefined): readonly Point[] => [
  {
    id: "canceled",
    title: "Payment that the buyer cancels",
    requirement: "The result page states that the payment was canceled, and shows 3020.",
    languages: "first",
    async play(stage) {
      const link = await stage.createLink();
      const { page } = await stage.open(link.url);
      await stage.pressPay(page);
      await stage.cancelAtProcessor(page);
      const { status } = await stage.paymentOf(link);
      stage.check("The payment is CANCELED.", status === "CANCELED", status);
      await checkHelpline(stage, page);
      await stage.takePictures(page, "result");
    },
  },
  {
    id: "unknown",
    title: "Result that is not known yet",
    requirement: "The page states that the result is not known, makes no promise, and updates itself.",
    languages: "each",
    async play(stage) {
      const link = await stage.createLink();
      const { page } = await stage.open(link.url);
      await stage.pressPay(page);
      const { success_url } = await stage.paymentOf(link);
      const response = await stage.goTo(page, `${success_url}?lang=${stage.language}`);
      stage.check("The page updates itself.", Number(response.headers()["refresh"]) > 0, JSON.stringify(response.headers()));
      const receipts = await page.locator('[data-print], a[href^="/receipts/"]').count();
      stage.check("The page has no receipt.", receipts === 0);
      await checkLanguage(stage, page);
      await checkHelpline(stage, page);
      await stage.takePictures(page, "result that is not known");
    },
  },
  {
    id: "receipt",
    title: "Receipt, and the receipt after a refund",
    requirement:
      "The receipt can be opened, printed and sent by e-mail. After a refund it shows the paid and the refunded amount.",
    languages: "each",
    async play(stage) {
      const link = await stage.createLink();
      const { page } = await stage.open(link.url);
      await stage.pressPay(page);
      await stage.enterCard(page, card);
      const { id, receipt_url = "" } = await stage.paymentOf(link);
      await stage.goTo(page, `${receipt_url}?lang=${stage.language}`);
      checkAmount(stage, "The receipt", await textOf(page, "main"));
      await checkLanguage(stage, page);
      await stage.takePictures(page, "receipt");
      if (email !== undefined) await sendByMail(stage, page, email);
      await stage.api.amana.payments.refund(id, {}, stage.api.requestOptions());
      await stage.goTo(page, `${receipt_url}?lang=${stage.language}`);
      const amounts =
        (await textOf(page, "main")).replaceAll(/\D/g, "").split(stage.options.amount.replaceAll(/\D/g, "")).length - 1;
      stage.check("After the refund, the receipt shows both amounts.", amounts >= 2, `${amounts} times`);
      await stage.takePictures(page, "receipt after the refund");
    },
  },
  {
    id: "unavailable",
    title: "Link that accepts no payment any more",
    requirement: "The page states that no payment is possible.",
    languages: "each",
    async play(stage) {
      const link = await stage.createLink();
      await stage.api.amana.paymentLinks.update(link.id, { status: "INACTIVE" });
      const { page, response } = await stage.open(`${link.url}?lang=${stage.language}`);
      stage.check("The page has the status 410.", response.status() === 410, String(response.status()));
      stage.check("The page has no button to pay.", (await page.locator("button.pay").count()) === 0);
      await checkLanguage(stage, page);
      await stage.takePictures(page, "unavailable link");
    },
  },
  {
    id: "without-scripts",
    title: "Browser without JavaScript",
    requirement: "The page states that the captcha needs JavaScript.",
    languages: "each",
    async play(stage) {
      const link = await stage.createLink();
      const { page } = await stage.open(link.url, { javaScriptEnabled: false });
      if ((await page.locator("altcha-widget").count()) === 0)
        throw new NotApplicable("The deployment has CHECKOUT_CAPTCHA=off.");
      stage.check("The page states what it needs.", await page.locator("noscript .problem").isVisible());
      await checkLanguage(stage, page);
      await stage.takePictures(page, "page without JavaScript");
    },
  },
];

async function sendByMail(stage: Stage, page: Page, email: string): Promise<void> {
  const field = page.locator("form.email [name=email]");
  if ((await field.count()) === 0) return stage.check("The receipt has a form to send it by e-mail.", false);
  await field.fill(email);
  await Promise.all([page.waitForURL((url) => url.pathname.endsWith("/email")), field.press("Enter")]);
  stage.check("The receipt page states that the e-mail is sent.", (await page.locator(".notice h1").count()) === 1);
  await stage.takePictures(page, "confirmation of the e-mail");
}
