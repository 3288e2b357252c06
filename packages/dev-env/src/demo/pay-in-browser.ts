import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
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

/** Pays on the hosted page as a card holder does, in headless Chromium, until the browser is back at the shop. */
export async function payInBrowser(
  formUrl: string,
  shopUrl: string,
  card: { pan: string; expiry: string; cvv2: string; password: string },
): Promise<string> {
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
  const browser = await chromium.launch({ executablePath, args: flags });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(formUrl);
    await page.locator("[name=pan]").fill(card.pan);
    await page.locator("[name=expiry]").fill(card.expiry);
    await page.locator("[name=cvv2]").fill(card.cvv2);
    await page.locator("[name=cvv2]").press("Enter");
    await page.locator("[name=password]").fill(card.password);
    await page.locator("[name=password]").press("Enter");
    await page.waitForURL((url) => url.toString().startsWith(shopUrl), { waitUntil: "commit" });
    return page.url();
  } finally {
    await browser.close();
  }
}
