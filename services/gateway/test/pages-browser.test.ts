import type { AddressInfo } from "node:net";
import { expectAccessible, isBrowserMissing, launchBrowser } from "@amana/testing/browser";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "./harness.ts";

describe.skipIf(isBrowserMissing("browser tests of the gateway's pages"))("the gateway's pages in a browser", () => {
  let gateway: TestGateway;
  let browser: Browser;
  let url: string;
  beforeAll(async () => {
    gateway = await startTestGateway({ sandboxUrl: "http://127.0.0.1:8090" });
    await gateway.app.listen({ host: "127.0.0.1", port: 0 });
    url = `http://127.0.0.1:${(gateway.app.server.address() as AddressInfo).port}`;
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.[Symbol.asyncDispose]();
  });

  const guide = ["", "/quick-start", "/payments", "/webhooks", "/sandbox"].map((page) => `/docs/guide${page}`);
  test.each([
    ...["fr", "ar", "en"].map((locale) => [locale, "/"] as const),
    ...[...guide, "/problems", "/problems/rate_limited"].map((path) => ["en", path] as const),
  ])(
    "the gateway, in the language %s, shows the page %s without axe violations and horizontal overflow in both color schemes",
    async (locale, path) => {
      const context = await browser.newContext({ locale });
      const page = await context.newPage();
      page.setDefaultTimeout(90_000);
      await page.goto(`${url}${path}`);
      await expectAccessible(page);
      await context.close();
    },
  );

  test("the API reference links to the guide", async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(90_000);
    await page.goto(`${url}/docs`);
    await page.getByText("Create a payment").first().waitFor({ timeout: 60_000 });
    await page.click("nav >> text=Guide");
    expect(page.url()).toBe(`${url}/docs/guide`);
  });

  test("the search of the guide finds a section by keyboard, and reports a query without results", async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(90_000);
    await page.goto(`${url}/docs/guide`);
    await page.keyboard.press("/");
    await page.keyboard.type("xqzwv");
    await page.getByRole("status").getByText("No results for “xqzwv”").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.type("idempotency");
    await page.locator(".results a").first().waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/docs\/guide\/idempotency/);
    expect(await page.textContent("h1")).toBe("Idempotency");
    await page.close();
  });

  test("the guide without scripts has no search box, and its pages link to each other", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 800 } });
    const page = await context.newPage();
    page.setDefaultTimeout(90_000);
    await page.goto(`${url}/docs/guide`);
    expect(await page.locator("search").isVisible()).toBe(false);
    await page.click("[rel=next]");
    expect(await page.textContent("h1")).toBe("Quick start");
    await page.click("[rel=prev]");
    await page.click("summary");
    await page.click("details >> text=Webhooks");
    expect(await page.locator("[aria-current=page]").textContent()).toBe("Webhooks");
    await context.close();
  });
});
