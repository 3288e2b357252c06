import { languages } from "@amana/pages";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { aBrowser, browserIsMissing } from "./a-browser.ts";
import { aSandbox, control, registered } from "./a-sandbox.ts";
import { aVerification } from "./a-verification.ts";
import { bringAxe, fitsSmallScreens, looksRight } from "./looks-right.ts";

describe.skipIf(browserIsMissing)("the sandbox's first page in a browser", () => {
  let sandbox: Sandbox;
  let browser: Browser;
  beforeAll(async () => {
    [sandbox, browser] = await Promise.all([aSandbox(), aBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await sandbox[Symbol.asyncDispose]();
  });

  test.each(languages)("axe finds nothing, nothing is cut, and every target is 44 pixels high: %s", async (language) => {
    await registered(sandbox.url);
    await aVerification(sandbox.url);
    const page = await browser.newPage();
    page.setDefaultTimeout(90_000);
    page.setDefaultTimeout(20_000);
    await bringAxe(page);
    const lookAt = async (state: string) => {
      await looksRight(page, language, state);
      await fitsSmallScreens(page, state);
    };
    await page.goto(`${sandbox.url}/?lang=${language}`);
    await lookAt("the forms");
    await page.selectOption("#operation", "refund");
    await page.fill("#mode", "timeout_after");
    await page.click("[value=plant]");
    await page.waitForSelector("#result");
    await lookAt("an answer");
    await page.close();
  });

  test("without a script a payment is paid and the buyer's browser led on", async () => {
    const { orderId } = await registered(sandbox.url);
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    page.setDefaultTimeout(90_000);
    page.setDefaultTimeout(20_000);
    await page.goto(`${sandbox.url}/?lang=en`);
    await page.fill("#order", orderId);
    await page.click("[value=pay]");
    const back = await page.locator("#result ~ p a").getAttribute("href");
    expect(back).toMatch(/^http:\/\/shop\.test\/thanks/);
    expect((await control(sandbox.url, "GET", `payments/${orderId}`)).body.orderStatus).toBe(2);
    await context.close();
  });
});
