import { openBrowser } from "./browser.ts";

/** Goes through the hosted page as an applicant without a camera: passport and samples. */
export async function verifyInBrowser(linkUrl: string): Promise<void> {
  await using browser = await openBrowser();
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  const press = (selector: string) => Promise.all([page.waitForEvent("load"), page.click(selector)]);
  const next = "form[data-once] .primary:visible";
  const sample = "[data-pretend] button";
  await page.goto(linkUrl);
  await press(next);
  await page.check("[value=passport]");
  await press(next);
  while ((await page.locator(sample).count()) > 0) await press(sample);
  await press(next);
}
