import type { Page } from "playwright-core";
import { NotApplicable, type Point, type PointRun, textOf } from "./point-run.ts";

export const digitsOf = (text: string) => text.replaceAll(/\D/g, "");

/**
 * Checks that a text of the page contains the currency and the amount. Ignores separators, because
 * each language formats the amount differently.
 */
export function checkAmount(run: PointRun, where: string, text: string): void {
  const holds = digitsOf(text).includes(digitsOf(run.options.amount)) && text.includes("DZD");
  run.check(`${where} shows the amount ${run.options.amount} with the currency DZD.`, holds, text);
}

/** Returns the font size, in pixels, of the first element that matches `selector`. */
const fontSizeOf = (page: Page, selector: string): Promise<number> =>
  page.evaluate(`Number.parseFloat(getComputedStyle(document.querySelector(${JSON.stringify(selector)})).fontSize)`);

/** Points that check the page on which the buyer presses the button to pay. */
export const checkoutPoints: readonly Point[] = [
  {
    id: "checkout",
    title: "Amount, seller and cards before the payment",
    requirement:
      "The page with the button to pay shows the final amount prominently with its currency, the name of the seller, and the marks of CIB and EDAHABIA at the button. It uses one language.",
    languages: "each",
    async verify(run) {
      const { page, response } = await run.openNewLink({ description: "Acceptance test of the payment page" });
      run.check("The page has the status 200.", response.status() === 200, String(response.status()));
      checkAmount(run, "The page", await textOf(page, ".summary .amount"));
      const [amountPx, bodyPx] = [await fontSizeOf(page, ".summary .amount strong"), await fontSizeOf(page, "body")];
      run.check("The amount is larger than the other text.", amountPx > bodyPx * 1.3, `${amountPx} and ${bodyPx} pixels`);
      checkAmount(run, "The button", await textOf(page, "button.pay"));
      const { name } = await run.api.amana.me.get();
      const seller = await textOf(page, ".summary .seller");
      run.check(`The page shows the seller ${name}.`, seller.includes(name), seller);
      const marks = await page.locator("button.pay").evaluate((button) => `${button.textContent} ${button.innerHTML}`);
      for (const mark of ["CIB", "EDAHABIA"]) run.check(`The button has the mark ${mark}.`, marks.includes(mark), marks);
      await checkLanguage(run, page);
      await run.takeScreenshots(page, "payment page");
    },
  },
  {
    id: "conditions",
    title: "Acceptance of the conditions of sale",
    requirement: "The buyer must tick a box to accept the conditions of sale before the payment. The acceptance is stored.",
    languages: "each",
    async verify(run) {
      const { link, page } = await run.openNewLink({ conditions_url: "https://shop.example/conditions" });
      run.check("The box is not ticked at first.", !(await page.locator("#conditions").isChecked()));
      const hrefs = await page.locator(".conditions a").evaluateAll((links) => links.map((a) => a.getAttribute("href")));
      run.check(
        "The page links to the conditions of the seller.",
        hrefs.includes("https://shop.example/conditions"),
        hrefs.join(),
      );
      await page.waitForSelector('.altcha[data-state="verified"]').catch(() => undefined);
      await Promise.all([page.waitForLoadState("load"), page.locator("button.pay").click()]);
      await page.locator("#conditions-problem").waitFor();
      run.check(
        "If the box is not ticked, the page shows an error and does not continue.",
        new URL(page.url()).pathname.startsWith("/pay/"),
      );
      const { items } = await run.api.amana.payments.list({ payment_link_id: link.id }).page();
      run.check("If the box is not ticked, no payment is started.", items.length === 0, `${items.length} payments`);
      await run.takeScreenshots(page, "error if the box is not ticked");
      await run.pressPay(page);
      run.check(
        "If the box is ticked, the browser opens the form of the processor.",
        !page.url().startsWith(link.url),
        page.url(),
      );
    },
  },
  {
    id: "captcha",
    title: "Protection against automated payments",
    requirement: "The page with the button to pay has a captcha.",
    languages: "each",
    async verify(run) {
      const { link, page } = await run.openNewLink();
      const widget = page.locator("altcha-widget");
      if ((await widget.count()) === 0) {
        throw new NotApplicable(
          "The deployment has CHECKOUT_CAPTCHA=off. Give the processor evidence of the captcha that you use instead.",
        );
      }
      const token = (await page.locator("[name=form_token]").getAttribute("value")) ?? "";
      const body = new URLSearchParams({ form_token: token, lang: run.language, conditions: "1" });
      const response = await fetch(link.url, { method: "POST", body, redirect: "manual" });
      run.check("A form without a solved captcha is rejected with status 422.", response.status === 422, String(response.status));
      await page.waitForSelector('.altcha[data-state="verified"]');
      await run.takeScreenshots(page, "solved captcha");
    },
  },
  {
    id: "transport",
    title: "HTTPS",
    requirement: "The pages are available over HTTPS only.",
    languages: "first",
    async verify(run) {
      const { hostname, protocol, host } = new URL(run.api.url);
      if (protocol === "http:" && /^(localhost|127\.|\[::1\])/.test(hostname)) {
        throw new NotApplicable("The deployment is on this machine. Run the command against the public address.");
      }
      run.check("The address of the deployment begins with https.", protocol === "https:", run.api.url);
      const link = await run.createLink();
      run.check("The address of the page begins with https.", link.url.startsWith("https:"), link.url);
      const httpResponse = await fetch(`http://${host.replace(/:\d+$/, "")}${new URL(link.url).pathname}`, {
        redirect: "manual",
      }).catch(() => undefined);
      const isSafe = httpResponse === undefined || (httpResponse.headers.get("location") ?? "").startsWith("https:");
      run.check("A request over HTTP gets no page, or a redirect to HTTPS.", isSafe, String(httpResponse?.status));
    },
  },
  {
    id: "frame",
    title: "Protection against frames of other sites",
    requirement:
      "Other sites cannot show the page in a frame. The page's form can be sent only to this site, which then opens the processor's form.",
    languages: "first",
    async verify(run) {
      const { link, page, response } = await run.openNewLink();
      const policy = response.headers()["content-security-policy"] ?? "";
      run.check("The Content-Security-Policy forbids frames.", policy.includes("frame-ancestors 'none'"), policy);
      run.check(
        "The Content-Security-Policy restricts the addresses to which the form is sent.",
        policy.includes("form-action 'self'"),
        policy,
      );
      run.check("The Content-Security-Policy forbids resources of other sites.", policy.includes("default-src 'none'"), policy);
      const loaded: string[] = await page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)");
      const otherHosts = loaded.filter((name) => new URL(name).host !== new URL(link.url).host);
      run.check("The page loads nothing from other sites.", otherHosts.length === 0, otherHosts.join());
      await run.takeScreenshots(page, "payment page");
    },
  },
];

export async function checkLanguage(run: PointRun, page: Page): Promise<void> {
  const html = page.locator("html");
  const [lang, dir] = [await html.getAttribute("lang"), await html.getAttribute("dir")];
  const direction = run.language === "ar" ? "rtl" : "ltr";
  run.check(`The page is in the language ${run.language}.`, lang === run.language, String(lang));
  run.check(
    `The page is written ${direction === "rtl" ? "from right to left" : "from left to right"}.`,
    dir === direction,
    String(dir),
  );
}
