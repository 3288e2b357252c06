import { existsSync } from "node:fs";
import { chromium, type Page } from "playwright-core";
import { DevEnvError } from "../dev-env-error.ts";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Runs `act` on a page in headless Chromium, and closes the browser. */
async function visit<T>(url: string, act: (page: Page) => Promise<T>): Promise<T> {
  const executablePath = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    process.env["CHROMIUM_PATH"],
  ].find((path) => path && existsSync(path));
  if (!executablePath) {
    throw new DevEnvError(
      "Chromium was not found.",
      "Install it (Debian: apt-get install chromium), set CHROMIUM_PATH, or run the demo without --browser.",
    );
  }
  await using browser = await chromium.launch({ executablePath, args: flags });
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(url);
  return await act(page);
}

/**
 * Pays on the hosted page and returns the address of the shop to which the browser is redirected.
 */
export const payInBrowser = (
  formUrl: string,
  shopUrl: string,
  card: { pan: string; expiry: string; cvv2: string; password: string },
): Promise<string> =>
  visit(formUrl, async (page) => {
    await page.locator("[name=pan]").fill(card.pan);
    await page.locator("[name=expiry]").fill(card.expiry);
    await page.locator("[name=cvv2]").fill(card.cvv2);
    await page.locator("[name=cvv2]").press("Enter");
    await page.locator("[name=password]").fill(card.password);
    await page.locator("[name=password]").press("Enter");
    await page.waitForURL((url) => url.toString().startsWith(shopUrl), { waitUntil: "commit" });
    return page.url();
  });

/** Completes the hosted page with a passport and the sample images, because there is no camera. */
export const verifyInBrowser = (linkUrl: string): Promise<void> =>
  visit(linkUrl, async (page) => {
    const press = (selector: string) => Promise.all([page.waitForEvent("load"), page.click(selector)]);
    const next = "form[data-once] .primary:visible";
    const sample = "[data-pretend] button";
    await press(next);
    await page.check("[value=passport]");
    await press(next);
    while ((await page.locator(sample).count()) > 0) await press(sample);
    await press(next);
  });
