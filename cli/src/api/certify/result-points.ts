import type { Payment } from "@amana/client";
import type { Page } from "playwright-core";
import { type Card, maskedNumber, slugOf } from "./cards.ts";
import { checkAmount, checkLanguage, checkoutPoints, digitsOf } from "./checkout-points.ts";
import { NotApplicable, type Point, type PointRun, textOf } from "./point-run.ts";

const helpline = "3020";
const rejectedTexts = {
  fr: "Votre transaction a été rejetée.",
  ar: "تم رفض معاملتكم.",
  en: "Your transaction was rejected.",
} as const;

/** Returns all points in the order in which the evidence lists them. */
export function createPoints(cards: readonly Card[], email: string | undefined): readonly Point[] {
  const acceptedCard = cards.find(({ isAccepted }) => isAccepted);
  const rejectedCard = cards.find(({ isAccepted }) => !isAccepted);
  return [
    ...checkoutPoints,
    ...cards.map((card) => cardPoint(card, card === acceptedCard || card === rejectedCard ? "each" : "first")),
    ...(acceptedCard ? resultPoints(acceptedCard, email) : []),
  ];
}

/** Creates a point that pays a payment link with `card` and checks the result page. */
const cardPoint = (card: Card, languages: Point["languages"]): Point => ({
  id: `card-${slugOf(card)}`,
  title: `${card.isAccepted ? "Accepted" : "Rejected"} payment: ${card.name}`,
  requirement: card.isAccepted
    ? "The result page shows the text of the processor, the numbers of the transaction and of the order, the approval code, date and time, the amount with its currency, the card, the seller and the help line 3020. The buyer can print it, download it as PDF and send it by e-mail."
    : "The result page shows the text of the processor, or states that the transaction was rejected. It also shows the help line 3020.",
  languages,
  async verify(run) {
    const { link, page } = await run.openNewLink();
    await run.pressPay(page);
    await run.enterCard(page, card);
    const payment = await run.paymentOf(link);
    const expected = card.isAccepted ? "PAID" : "REFUSED";
    run.check(`The payment with ${maskedNumber(card)} is ${expected}.`, payment.status === expected, payment.status);
    await checkLanguage(run, page);
    await run.takeScreenshots(page, "result");
    await checkHelpline(run, page);
    // If the payment has another status, the page does not show the details that are checked below.
    if (payment.status !== expected) return;
    if (card.isAccepted) await checkAccepted(run, page, payment);
    else await checkRejected(run, page, payment);
  },
});

async function checkHelpline(run: PointRun, page: Page): Promise<void> {
  const text = await textOf(page, "main");
  run.check(`The page shows the help line ${helpline}.`, text.includes(helpline), text);
}

async function checkAccepted(run: PointRun, page: Page, payment: Payment): Promise<void> {
  const text = await textOf(page, "main");
  const { name } = await run.api.amana.me.get();
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
    run.check(`The page shows the ${label}.`, !!value && text.includes(value), `${value ?? "no value"} in: ${text}`);
  }
  checkAmount(run, "The page", text);
  run.check("The page has a button to print.", await page.locator("[data-print]").isVisible());
  await checkPdf(run, page);
  const mailLink = page.locator('a[href*="#email"]');
  const canSend = (await mailLink.count()) === 1;
  run.check("The page has a button to send the receipt by e-mail. Required settings: SMTP_URL and MAIL_FROM.", canSend);
}

async function checkPdf(run: PointRun, page: Page): Promise<void> {
  const link = page.locator('a[href*="format=pdf"]');
  if ((await link.count()) === 0) return run.check("The page has a button to download the receipt as PDF.", false);
  const response = await fetch(new URL((await link.getAttribute("href")) ?? "", page.url()));
  const content = Buffer.from(await response.arrayBuffer());
  const isPdf = response.status === 200 && content.subarray(0, 5).toString() === "%PDF-";
  run.check("The receipt can be downloaded as PDF.", isPdf, String(response.status));
  if (isPdf) await run.addFile("receipt.pdf", content, "Receipt as PDF");
}

async function checkRejected(run: PointRun, page: Page, payment: Payment): Promise<void> {
  const text = await textOf(page, "main");
  const { action_code = "", action_code_description = "", resp_code_desc = "" } = payment;
  const isWithoutText = !action_code || !action_code_description;
  const expected = isWithoutText ? rejectedTexts[run.language] : resp_code_desc || action_code_description;
  run.check(`The page shows the text "${expected}".`, text.includes(expected ?? ""), text);
  run.check("The page offers another attempt.", (await page.locator('.actions a[href^="/pay/"]').count()) === 1);
}

/** Returns the time of day in the format of the result page. */
const timeInAlgiers = (time: string) =>
  new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone: "Africa/Algiers",
  }).format(new Date(time));

/** Returns the points that any accepted `card` can check. */
const resultPoints = (card: Card, email: string | undefined): readonly Point[] => [
  {
    id: "canceled",
    title: "Payment that the buyer cancels",
    requirement: "The result page states that the payment was canceled, and shows the help line 3020.",
    languages: "first",
    async verify(run) {
      const { link, page } = await run.openNewLink();
      await run.pressPay(page);
      await run.cancelAtProcessor(page);
      const { status } = await run.paymentOf(link);
      run.check("The payment is CANCELED.", status === "CANCELED", status);
      await checkHelpline(run, page);
      await run.takeScreenshots(page, "result");
    },
  },
  {
    id: "unknown",
    title: "Unknown result",
    requirement: "The page states that the result is not known yet, shows no receipt, and updates itself.",
    languages: "each",
    async verify(run) {
      const { link, page } = await run.openNewLink();
      await run.pressPay(page);
      const { success_url } = await run.paymentOf(link);
      const response = await run.goTo(page, `${success_url}?lang=${run.language}`);
      run.check("The page updates itself.", Number(response.headers()["refresh"]) > 0, JSON.stringify(response.headers()));
      const receipts = await page.locator('[data-print], a[href^="/receipts/"]').count();
      run.check("The page has no receipt.", receipts === 0);
      await checkLanguage(run, page);
      await checkHelpline(run, page);
      await run.takeScreenshots(page, "unknown result");
    },
  },
  {
    id: "receipt",
    title: "Receipt before and after a refund",
    requirement:
      "The receipt can be opened, printed and sent by e-mail. After a refund it shows the paid and the refunded amount.",
    languages: "each",
    async verify(run) {
      const { link, page } = await run.openNewLink();
      await run.pressPay(page);
      await run.enterCard(page, card);
      const { id, receipt_url = "" } = await run.paymentOf(link);
      await run.goTo(page, `${receipt_url}?lang=${run.language}`);
      checkAmount(run, "The receipt", await textOf(page, "main"));
      await checkLanguage(run, page);
      await run.takeScreenshots(page, "receipt");
      if (email !== undefined) await sendByMail(run, page, email);
      await run.api.amana.payments.refund(id, {}, run.api.requestOptions());
      await run.goTo(page, `${receipt_url}?lang=${run.language}`);
      const amounts = digitsOf(await textOf(page, "main")).split(digitsOf(run.options.amount)).length - 1;
      run.check("After the refund, the receipt shows both amounts.", amounts >= 2, `${amounts} times`);
      await run.takeScreenshots(page, "receipt after the refund");
    },
  },
  {
    id: "unavailable",
    title: "Link that no longer accepts payments",
    requirement: "The page states that no payment is possible.",
    languages: "each",
    async verify(run) {
      const link = await run.createLink();
      await run.api.amana.paymentLinks.update(link.id, { status: "INACTIVE" });
      const { page, response } = await run.open(`${link.url}?lang=${run.language}`);
      run.check("The page has the status 410.", response.status() === 410, String(response.status()));
      run.check("The page has no button to pay.", (await page.locator("button.pay").count()) === 0);
      await checkLanguage(run, page);
      await run.takeScreenshots(page, "unavailable link");
    },
  },
  {
    id: "without-scripts",
    title: "Browser without JavaScript",
    requirement: "The page states that the captcha needs JavaScript.",
    languages: "each",
    async verify(run) {
      const { page } = await run.openNewLink({}, { javaScriptEnabled: false });
      if ((await page.locator("altcha-widget").count()) === 0)
        throw new NotApplicable("The deployment has CHECKOUT_CAPTCHA=off.");
      run.check("The page states that it needs JavaScript.", await page.locator("noscript .problem").isVisible());
      await checkLanguage(run, page);
      await run.takeScreenshots(page, "page without JavaScript");
    },
  },
];

async function sendByMail(run: PointRun, page: Page, email: string): Promise<void> {
  const field = page.locator("form.email [name=email]");
  if ((await field.count()) === 0) return run.check("The receipt has a form to send it by e-mail.", false);
  await field.fill(email);
  await Promise.all([page.waitForURL((url) => url.pathname.endsWith("/email")), field.press("Enter")]);
  run.check("The receipt page states that the e-mail is sent.", (await page.locator(".notice h1").count()) === 1);
  await run.takeScreenshots(page, "confirmation of the e-mail");
}
