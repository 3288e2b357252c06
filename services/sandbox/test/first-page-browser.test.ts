import { languages } from "@amana/pages";
import { isBrowserMissing, launchBrowser } from "@amana/testing/browser";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { aSandbox, control, registerNewOrder } from "./a-sandbox.ts";
import { aVerification } from "./a-verification.ts";
import { checkAppearance, checkSmallScreens } from "./check-appearance.ts";

describe.skipIf(isBrowserMissing("browser tests of the first page"))("first page of the sandbox in a browser", () => {
  let sandbox: Sandbox;
  let browser: Browser;
  beforeAll(async () => {
    [sandbox, browser] = await Promise.all([aSandbox(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await sandbox[Symbol.asyncDispose]();
  });

  test.each(languages)(
    "the sandbox's first page in the language %s has no axe violations, no horizontal overflow and no target below 44 pixels",
    async (language) => {
      await registerNewOrder(sandbox.url);
      await aVerification(sandbox.url);
      const page = await browser.newPage();
      page.setDefaultTimeout(90_000);
      const check = async (state: string) => {
        await checkAppearance(page, language, state);
        await checkSmallScreens(page, state);
      };
      await page.goto(`${sandbox.url}/?lang=${language}`);
      await check("the forms");
      await page.selectOption("#operation", "refund");
      await page.fill("#mode", "timeout_after");
      await page.click("[value=plant]");
      await page.waitForSelector("#result");
      await check("a response");
      await page.close();
    },
  );

  test("the sandbox's first page, in a browser without scripts, pays an order and then links to the shop", async () => {
    const { orderId } = await registerNewOrder(sandbox.url);
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    page.setDefaultTimeout(90_000);
    await page.goto(`${sandbox.url}/?lang=en`);
    await page.fill("#order", orderId);
    await page.click("[value=pay]");
    const back = await page.locator("#result ~ p a").getAttribute("href");
    expect(back).toMatch(/^http:\/\/shop\.test\/thanks/);
    expect((await control(sandbox.url, "GET", `payments/${orderId}`)).body.orderStatus).toBe(2);
    await context.close();
  });
});
