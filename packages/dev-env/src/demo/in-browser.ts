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

/** What somebody does from this address on, in a headless Chromium that is closed afterwards. */
async function visit<T>(url: string, act: (page: Page) => Promise<T>): Promise<T> {
  const executablePath = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    process.env["CHROMIUM_PATH"],
  ].find((path) => path && existsSync(path));
  if (!executablePath) {
    throw new DevEnvError(
      "There is no Chromium on this machine.",
      "Install one (Debian: apt-get install chromium), set CHROMIUM_PATH, or run the demo without --browser.",
    );
  }
  await using browser = await chromium.launch({ executablePath, args: flags });
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(url);
  return await act(page);
}

/** Pays on the hosted page as a card holder does, until the browser is back at the shop. */
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

/** Goes through the hosted page as an applicant without a camera: passport and samples. */
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
