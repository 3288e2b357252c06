import { languages } from "@amana/pages";
import { isBrowserMissing, launchBrowser } from "@amana/testing/browser";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { aSandbox, control, registerNewOrder, validCard } from "./a-sandbox.ts";
import { aShop, type Shop } from "./a-shop.ts";
import { checkAppearance, checkSmallScreens } from "./check-appearance.ts";

describe.skipIf(isBrowserMissing("browser tests of the payment page"))("payment page in a browser", () => {
  let sandbox: Sandbox;
  let shop: Shop;
  let browser: Browser;
  beforeAll(async () => {
    [sandbox, shop, browser] = await Promise.all([aSandbox(), aShop(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await sandbox[Symbol.asyncDispose]();
    await shop[Symbol.asyncDispose]();
  });

  const anOpenOrder = (language = "en") =>
    registerNewOrder(sandbox.url, { language, returnUrl: `${shop.url}/thanks?basket=7`, failUrl: `${shop.url}/sorry` });
  const status = async (orderId: string) => (await control(sandbox.url, "GET", `payments/${orderId}`)).body.orderStatus;
  const aPage = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    page.setDefaultTimeout(90_000);
    return page;
  };
  const submit = "form[data-once] .primary";

  async function enterCard(page: Page, card = validCard) {
    await page.fill("#pan", card.pan);
    await page.fill("#expiry", card.expiry);
    await page.fill("#cvv2", card.cvv2);
    await page.click(submit);
  }

  async function enterPassword(page: Page, password: string) {
    await page.fill("#password", password);
    await page.click(submit);
  }

  test.concurrent.each(languages)(
    "the payment page in the language %s has no axe violations in any state, no horizontal overflow and no target below 44 pixels",
    async (language) => {
      let page = await aPage();
      const context = page.context();
      // Prevents the automatic redirect, because the checks take longer than its delay.
      await context.route("**/return", (route) => route.fulfill({ status: 204 }));
      const visit = async (url: string) => {
        // Uses a new page, because the automatic redirect of the previous page could abort `goto`.
        await page.close();
        page = await context.newPage();
        page.setDefaultTimeout(90_000);
        await page.goto(url);
      };
      const check = async (state: string) => {
        await checkAppearance(page, language, state);
        await checkSmallScreens(page, state);
      };

      const order = await anOpenOrder(language);
      await visit(order.formUrl);
      await page.click("summary");
      await check("card");
      await page.click(submit);
      await page.waitForSelector("#pan[aria-invalid]");
      await check("card with problems");
      await enterCard(page);
      await page.waitForSelector("#password");
      await check("password");
      await enterPassword(page, "000000");
      await page.waitForSelector("#password[aria-invalid]");
      await check("wrong password");
      await enterPassword(page, validCard.password);
      await page.waitForSelector(".outcome.success");
      await check("accepted");

      const declined = await anOpenOrder(language);
      await visit(declined.formUrl);
      await enterCard(page, { ...validCard, pan: "6280580610061110", cvv2: "260" });
      await enterPassword(page, validCard.password);
      await page.waitForSelector(".outcome.danger");
      await check("declined");

      const cancelled = await anOpenOrder(language);
      await visit(cancelled.formUrl);
      await page.click("form.cancel button");
      await page.waitForSelector(".outcome.warning");
      await check("cancelled");

      await visit(`${sandbox.url}/payment/pay/unknown?lang=${language}`);
      await check("unknown");
      await context.close();
    },
  );

  test("the payment page keeps the chosen language through all steps", async () => {
    const page = await aPage();
    const order = await anOpenOrder("fr");
    await page.goto(order.formUrl);
    await page.click("nav [lang=ar]");
    await page.waitForSelector("html[lang=ar]");
    await enterCard(page);
    await enterPassword(page, validCard.password);
    await page.waitForSelector("html[lang=ar] .outcome.success");
    expect(await page.textContent(".outcome")).toContain("3020");
    await page.context().close();
  });

  test("the payment page can be completed with the keyboard only", async () => {
    const page = await aPage();
    const tabTo = async (selector: string) => {
      for (let presses = 0; presses < 30; presses += 1) {
        if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
        await page.keyboard.press("Tab");
      }
      throw new Error(`Tab did not reach ${selector}`);
    };
    const order = await anOpenOrder();
    await page.goto(order.formUrl);
    await tabTo("#pan");
    await page.keyboard.type(validCard.pan);
    await tabTo("#expiry");
    await page.keyboard.type("0127");
    await tabTo("#cvv2");
    await page.keyboard.type(validCard.cvv2);
    expect(await page.inputValue("#pan")).toBe("6280 5811 1000 7215");
    expect(await page.inputValue("#expiry")).toBe("01/27");
    await tabTo(submit);
    await page.keyboard.press("Enter");
    await page.waitForSelector("#password:focus");
    await page.keyboard.type(validCard.password);
    await page.keyboard.press("Enter");
    await page.waitForSelector(".outcome.success");
    await tabTo("a[data-return]");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${shop.url}/**`);
    expect(shop.visits.at(-1)).toBe(`/thanks?basket=7&orderId=${order.orderId}`);
    await page.context().close();
  });

  test.each([true, false])(
    "the payment page focuses the first invalid field (scripts allowed: %s)",
    async (javaScriptEnabled) => {
      const page = await aPage({ javaScriptEnabled });
      await page.goto((await anOpenOrder()).formUrl);
      await enterCard(page, { ...validCard, expiry: "02/2027" });
      await page.waitForSelector("#expiry:focus");
      expect(await page.inputValue("#pan")).not.toBe("");
      expect(await page.inputValue("#cvv2")).toBe("");
      expect(await page.title()).toMatch(/^Error/);
      await page.context().close();
    },
  );

  test("the payment page can be completed without scripts", async () => {
    const page = await aPage({ javaScriptEnabled: false });
    const order = await anOpenOrder();
    await page.goto(order.formUrl);
    await enterCard(page);
    await enterPassword(page, "000000");
    await page.getByText("You have 2 attempts left.").waitFor();
    await enterPassword(page, validCard.password);
    await page.waitForSelector(".outcome.success");
    expect(await page.locator("[data-scripted]:visible").count()).toBe(0);
    await page.click("a[data-return]");
    await page.waitForURL(`${shop.url}/**`);
    expect(await status(order.orderId)).toBe(2);
    await page.context().close();
  });

  test.each([true, false])(
    "the payment page executes only one payment despite a double click, a second tab, a reload and Back (scripts allowed: %s)",
    async (javaScriptEnabled) => {
      const page = await aPage({ javaScriptEnabled });
      const order = await anOpenOrder();
      await page.goto(order.formUrl);
      await enterCard(page);
      await page.waitForSelector("#password");
      const secondTab = await page.context().newPage();
      secondTab.setDefaultTimeout(90_000);
      await secondTab.goto(order.formUrl);
      await page.fill("#password", "000000");
      await page.dblclick(submit);
      await page.getByText("You have 2 attempts left.").waitFor();
      await enterPassword(secondTab, "000000");
      await secondTab.getByText("You have 2 attempts left.").waitFor();
      await page.fill("#password", validCard.password);
      await page.dblclick(submit);
      await page.waitForSelector(".outcome.success");
      await enterPassword(secondTab, validCard.password);
      await secondTab.waitForSelector(".outcome.success");
      const receipt = await page.textContent(".outcome dl");
      await page.reload();
      expect(await page.textContent(".outcome dl")).toBe(receipt);
      await page.goBack();
      await page.waitForSelector(".outcome.success");
      expect(await page.textContent(".outcome dl")).toBe(receipt);
      expect(await status(order.orderId)).toBe(2);
      await page.context().close();
    },
  );

  test("the payment page returns to the shop automatically if the customer has not chosen to stay", async () => {
    for (const stays of [true, false]) {
      const page = await aPage();
      await page.clock.install();
      const order = await anOpenOrder();
      await page.goto(order.formUrl);
      await page.click("form.cancel button");
      await page.waitForSelector("[data-stay]");
      if (stays) {
        await page.click("[data-stay]");
        const count = await page.textContent("[data-return-count]");
        await page.clock.runFor(20_000);
        expect(await page.textContent("[data-return-count]")).toBe(count);
        expect(await page.locator(".return-notice").isVisible()).toBe(false);
      } else {
        await page.clock.runFor(20_000);
        await page.waitForURL(`${shop.url}/**`);
      }
      expect(shop.visits.includes(`/sorry?orderId=${order.orderId}`)).toBe(!stays);
      await page.context().close();
    }
  });

  test("the payment page counts down the remaining time, and announces the last five minutes and the last minute", async () => {
    const page = await aPage();
    await page.clock.install();
    await page.goto((await anOpenOrder()).formUrl);
    await page.getByRole("timer").waitFor();
    await page.clock.runFor(15 * 60_000 + 1_000);
    expect(await page.textContent("[data-announce]")).toBe("You have 5 minutes left to pay.");
    expect(await page.getByRole("timer").textContent()).toMatch(/^4:\d\d$/);
    await page.clock.runFor(4 * 60_000);
    expect(await page.textContent("[data-announce]")).toBe("You have 1 minute left to pay.");
    await page.context().close();
  });

  test("the payment page sends requests only to its own origin", async () => {
    const page = await aPage();
    const origins = new Set<string>();
    const problems: string[] = [];
    page.on("request", (request) => origins.add(new URL(request.url()).origin));
    page.on("console", (message) => problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(error.message));
    await page.goto((await anOpenOrder()).formUrl);
    await enterCard(page);
    await enterPassword(page, validCard.password);
    await page.waitForSelector(".outcome.success");
    expect([...origins]).toEqual([new URL(sandbox.url).origin]);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
