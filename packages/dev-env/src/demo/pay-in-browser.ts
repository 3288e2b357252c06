import { openBrowser } from "./browser.ts";

/** Pays on the hosted page as a card holder does, until the browser is back at the shop. */
export async function payInBrowser(
  formUrl: string,
  shopUrl: string,
  card: { pan: string; expiry: string; cvv2: string; password: string },
): Promise<string> {
  await using browser = await openBrowser();
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
}
