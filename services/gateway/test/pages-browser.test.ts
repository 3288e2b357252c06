import { existsSync } from "node:fs";
import type { AddressInfo } from "node:net";
import axe from "axe-core";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "./harness.ts";

const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
const isMissing = !existsSync(executablePath);
if (isMissing) {
  process.stderr.write(
    `\nSKIPPED: the gateway's pages in a browser. ${executablePath} does not exist. On Debian: apt-get install chromium; or set CHROMIUM_PATH.\n\n`,
  );
}

describe.skipIf(isMissing)("pages of the gateway in a browser", () => {
  let gateway: TestGateway;
  let browser: Browser;
  let url: string;
  beforeAll(async () => {
    gateway = await startTestGateway({ sandboxUrl: "http://127.0.0.1:8090" });
    await gateway.app.listen({ host: "127.0.0.1", port: 0 });
    url = `http://127.0.0.1:${(gateway.app.server.address() as AddressInfo).port}`;
    browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"] });
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.[Symbol.asyncDispose]();
  });

  const guide = ["", "/quick-start", "/payments", "/webhooks", "/sandbox"].map((page) => `/docs/guide${page}`);
  test.each([
    ...["fr", "ar", "en"].map((locale) => [locale, "/"] as const),
    ...[...guide, "/problems", "/problems/rate_limited"].map((path) => ["en", path] as const),
  ])("have no axe violations and no horizontal overflow, light and dark, in %s: %s", async (locale, path) => {
    const context = await browser.newContext({ locale });
    const page = await context.newPage();
    page.setDefaultTimeout(90_000);
    page.setDefaultTimeout(20_000);
    // The page's content security policy blocks axe unless axe is loaded before the page.
    await page.addInitScript(axe.source);
    await page.goto(`${url}${path}`);
    for (const [width, colorScheme] of [[320, "light"] as const, [1280, "dark"] as const]) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      const violations = await page.evaluate(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
        violations.map(({ id, nodes }) => id + " " + nodes.map(({ html }) => html).join(" ")))`);
      expect(violations, `${width} wide, ${colorScheme}`).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth"), colorScheme).toBe(width);
    }
    await context.close();
  });

  test("the API reference links to the guide", async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(90_000);
    await page.goto(`${url}/docs`);
    await page.getByText("Create a payment").first().waitFor({ timeout: 60_000 });
    await page.click("nav >> text=Guide");
    expect(page.url()).toBe(`${url}/docs/guide`);
  });
});
