import type { Page } from "playwright-core";
import type { Point } from "./point.ts";
import { NotApplicable, type Stage, textOf } from "./stage.ts";

const digitsOf = (text: string) => text.replaceAll(/\D/g, "");

/**
 * Checks that a text of the page has the amount, in the format of any language, and the currency.
 */
export function checkAmount(stage: Stage, where: string, text: string): void {
  const holds = digitsOf(text).includes(digitsOf(stage.options.amount)) && text.includes("DZD");
  stage.check(`${where} shows the amount ${stage.options.amount} with the currency DZD.`, holds, text);
}

/** Returns the size of the text of the first matching element in pixels. */
const fontSizeOf = (page: Page, selector: string): Promise<number> =>
  page.evaluate(`Number.parseFloat(getComputedStyle(document.querySelector(${JSON.stringify(selector)})).fontSize)`);

/** Points about the page on which the buyer presses the button to pay. */
export const checkoutPoints: readonly Point[] = [
  {
    id: "checkout",
    title: "Amount, seller and cards before the payment",
    requirement:
      "The page with the button to pay shows the final amount prominently with its currency, the name of the seller, and the marks of CIB and EDAHABIA at the button. It uses one language.",
    languages: "each",
    async play(stage) {
      const link = await stage.createLink({ description: "Acceptance test of the payment page" });
      const { page, response } = await stage.open(link.url);
      stage.check("The page has the status 200.", response.status() === 200, String(response.status()));
      checkAmount(stage, "The page", await textOf(page, ".summary .amount"));
      const [amountPx, bodyPx] = [await fontSizeOf(page, ".summary .amount strong"), await fontSizeOf(page, "body")];
      stage.check("The amount is larger than the other text.", amountPx > bodyPx * 1.3, `${amountPx} and ${bodyPx} pixels`);
      checkAmount(stage, "The button", await textOf(page, "button.pay"));
      const { name } = await stage.api.amana.me.get();
      const seller = await textOf(page, ".summary .seller");
      stage.check(`The page shows the seller ${name}.`, seller.includes(name), seller);
      const marks = await page.locator("button.pay").evaluate((button) => `${button.textContent} ${button.innerHTML}`);
      for (const mark of ["CIB", "EDAHABIA"]) stage.check(`The button has the mark ${mark}.`, marks.includes(mark), marks);
      await checkLanguage(stage, page);
      await stage.takePictures(page, "payment page");
    },
  },
  {
    id: "conditions",
    title: "Acceptance of the conditions",
    requirement: "The buyer must tick a box to accept the conditions before the payment. The acceptance is stored.",
    languages: "each",
    async play(stage) {
      const link = await stage.createLink({ conditions_url: "https://shop.example/conditions" });
      const { page } = await stage.open(link.url);
      stage.check("The box is not ticked at first.", !(await page.locator("#conditions").isChecked()));
      const hrefs = await page.locator(".conditions a").evaluateAll((links) => links.map((a) => a.getAttribute("href")));
      stage.check(
        "The page links to the conditions of the seller.",
        hrefs.includes("https://shop.example/conditions"),
        hrefs.join(),
      );
      await page.waitForSelector('.altcha[data-state="verified"]').catch(() => undefined);
      await Promise.all([page.waitForLoadState("load"), page.locator("button.pay").click()]);
      await page.locator("#conditions-problem").waitFor();
      stage.check("Without the tick, the page shows an error and stays.", new URL(page.url()).pathname.startsWith("/pay/"));
      const { items } = await stage.api.amana.payments.list({ payment_link_id: link.id }).page();
      stage.check("Without the tick, no payment is started.", items.length === 0, `${items.length} payments`);
      await stage.takePictures(page, "error without the tick");
      await stage.pressPay(page);
      stage.check("With the tick, the browser is at the form of the processor.", !page.url().startsWith(link.url), page.url());
    },
  },
  {
    id: "captcha",
    title: "Protection against programs",
    requirement: "The page with the button to pay has a captcha.",
    languages: "each",
    async play(stage) {
      const link = await stage.createLink();
      const { page } = await stage.open(link.url);
      const widget = page.locator("altcha-widget");
      if ((await widget.count()) === 0) {
        throw new NotApplicable("The deployment has CHECKOUT_CAPTCHA=off. Show the captcha that it uses in its place.");
      }
      const token = (await page.locator("[name=form_token]").getAttribute("value")) ?? "";
      const body = new URLSearchParams({ form_token: token, lang: stage.language, conditions: "1" });
      const response = await fetch(link.url, { method: "POST", body, redirect: "manual" });
      stage.check("A form without the solution is rejected with 422.", response.status === 422, String(response.status));
      await page.waitForSelector('.altcha[data-state="verified"]');
      await stage.takePictures(page, "solved captcha");
    },
  },
  {
    id: "transport",
    title: "HTTPS",
    requirement: "The pages are available over HTTPS only.",
    languages: "first",
    async play(stage) {
      const { hostname, protocol, host } = new URL(stage.api.url);
      if (protocol === "http:" && /^(localhost|127\.|\[::1\])/.test(hostname)) {
        throw new NotApplicable("The deployment is on this machine. Run the command against the public address.");
      }
      stage.check("The address of the deployment begins with https.", protocol === "https:", stage.api.url);
      const link = await stage.createLink();
      stage.check("The address of the page begins with https.", link.url.startsWith("https:"), link.url);
      const plain = await fetch(`http://${host.replace(/:\d+$/, "")}${new URL(link.url).pathname}`, { redirect: "manual" }).catch(
        () => undefined,
      );
      const isSafe = plain === undefined || (plain.headers.get("location") ?? "").startsWith("https:");
      stage.check("A request over HTTP gets no page, or a redirect to HTTPS.", isSafe, String(plain?.status));
    },
  },
  {
    id: "frame",
    title: "No frame of another site",
    requirement: "The page cannot be shown in a frame, and its form leads only to the processor.",
    languages: "first",
    async play(stage) {
      const link = await stage.createLink();
      const { page, response } = await stage.open(link.url);
      const policy = response.headers()["content-security-policy"] ?? "";
      stage.check("The policy of the page forbids frames.", policy.includes("frame-ancestors 'none'"), policy);
      stage.check("The policy restricts the form.", policy.includes("form-action 'self'"), policy);
      stage.check("The policy forbids sources of other sites.", policy.includes("default-src 'none'"), policy);
      const loaded: string[] = await page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)");
      const otherHosts = loaded.filter((name) => new URL(name).host !== new URL(link.url).host);
      stage.check("The page loads nothing from other sites.", otherHosts.length === 0, otherHosts.join());
      await stage.takePictures(page, "payment page");
    },
  },
];

/** Checks the language and the direction of the page. */
export async function checkLanguage(stage: Stage, page: Page): Promise<void> {
  const html = page.locator("html");
  const [lang, dir] = [await html.getAttribute("lang"), await html.getAttribute("dir")];
  const direction = stage.language === "ar" ? "rtl" : "ltr";
  stage.check(`The page is in the language ${stage.language}.`, lang === stage.language, String(lang));
  stage.check(
    `The page is written ${direction === "rtl" ? "from right to left" : "from left to right"}.`,
    dir === direction,
    String(dir),
  );
}
