import { chromiumFlags, findChromium } from "@amana/runtime/chromium";
import { chromium, type Page } from "playwright-core";
import { DevEnvError } from "../dev-env-error.ts";
import { acceptedCard } from "./sandbox-control.ts";

/** Runs `act` on a page in headless Chromium, and closes the browser. */
async function visit<T>(url: string, act: (page: Page) => Promise<T>): Promise<T> {
  const executablePath = findChromium();
  if (!executablePath) {
    throw new DevEnvError(
      "Chromium was not found.",
      "Install it (Debian: apt-get install chromium), set CHROMIUM_PATH, or run the demo without --browser.",
    );
  }
  await using browser = await chromium.launch({ executablePath, args: [...chromiumFlags] });
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(url);
  return await act(page);
}

/**
 * Pays on the hosted page and returns the address of the shop to which the browser is redirected.
 */
export const payInBrowser = (formUrl: string, shopUrl: string): Promise<string> =>
  visit(formUrl, async (page) => {
    await fillCardForm(page);
    await page.waitForURL((url) => url.toString().startsWith(shopUrl), { waitUntil: "commit" });
    return page.url();
  });

/** Pays a payment link, and returns the text of the result page. */
export const payLinkInBrowser = (linkUrl: string, email: string): Promise<string> =>
  visit(linkUrl, async (page) => {
    await page.locator("[name=email]").fill(email);
    await page.locator("[name=conditions]").check();
    await page.waitForSelector('.altcha[data-state="verified"]');
    await page.locator("button.pay").click();
    await fillCardForm(page);
    await page.waitForURL((url) => url.pathname.includes("/result/"));
    return (await page.locator("main").textContent()) ?? "";
  });

async function fillCardForm(page: Page): Promise<void> {
  await page.locator("[name=pan]").fill(acceptedCard.pan);
  await page.locator("[name=expiry]").fill(acceptedCard.expiry);
  await page.locator("[name=cvv2]").fill(acceptedCard.cvv2);
  await page.locator("[name=cvv2]").press("Enter");
  await page.locator("[name=password]").fill(acceptedCard.password);
  await page.locator("[name=password]").press("Enter");
}

/**
 * Completes the hosted verification page with a passport. Uses the page's sample images, because
 * the headless browser has no camera.
 */
export const verifyInBrowser = (linkUrl: string): Promise<void> =>
  visit(linkUrl, async (page) => {
    const press = (selector: string) => Promise.all([page.waitForEvent("load"), page.click(selector)]);
    const nextButton = "form[data-once] .primary:visible";
    const sampleButton = "[data-pretend] button";
    await press(nextButton);
    await page.check("[value=passport]");
    await press(nextButton);
    while ((await page.locator(sampleButton).count()) > 0) await press(sampleButton);
    await press(nextButton);
  });
