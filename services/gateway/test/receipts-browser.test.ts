import type { AddressInfo } from "node:net";
import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { languages } from "@amana/pages";
import { DomainError } from "@amana/rpc";
import { expectAccessible, isBrowserMissing, launchBrowser } from "@amana/testing/browser";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { aReceipt, aReversedReceipt, receiptToken } from "./a-receipt.ts";
import { startTestGateway, type TestGateway } from "./harness.ts";

/** Folder for screenshots. By default the test takes no screenshots. */
const shotsDir = process.env["SHOTS_DIR"];

const states = {
  paid: () => aReceipt(),
  refunded: () =>
    aReceipt(
      { status: PaymentStatus.REFUNDED, refundedAmountMinor: 120_000n, description: "حجز سيارة في الجزائر ".repeat(20) },
      { refundedAtMs: 1_795_698_000_000n },
    ),
  reversed: () => aReversedReceipt(),
};

describe.skipIf(isBrowserMissing("browser tests of receipts"))("the receipt page in a browser", () => {
  let gateway: TestGateway;
  let browser: Browser;
  let sharedPage: Page;
  let url: string;
  beforeAll(async () => {
    gateway = await startTestGateway();
    gateway.behaviour.keyLeases.resolveBusiness = async () => ({
      name: "Librairie مكتبة El Kitab",
      status: BusinessStatus.ACTIVE,
      leaseMs: 0,
    });
    await gateway.app.listen({ host: "127.0.0.1", port: 0 });
    url = `http://127.0.0.1:${(gateway.app.server.address() as AddressInfo).port}/receipts/${receiptToken}`;
    browser = await launchBrowser();
    sharedPage = await browser.newPage();
    sharedPage.setDefaultTimeout(30_000);
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    gateway.received.length = 0;
    gateway.behaviour.receipts.findReceipt = async () => states.paid();
    gateway.behaviour.receipts.sendReceipt = async () => ({});
    gateway.behaviour.receipts.renderReceipt = async () => ({ pdf: Buffer.from("%PDF-1.7") });
  });

  const screenshotsOf = (name: string) => shotsDir && `${shotsDir}/page-${name}`;

  async function openPage(language: string, javaScriptEnabled = true) {
    const context = await browser.newContext({ javaScriptEnabled });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    await page.goto(`${url}?lang=${language}`);
    return page;
  }

  test.each(
    languages.flatMap((language) => (["paid", "refunded", "reversed"] as const).map((state) => [language, state] as const)),
  )(
    "the receipt page in the language %s for a payment that is %s has no axe violation and does not scroll horizontally",
    async (language, state) => {
      gateway.behaviour.receipts.findReceipt = async () => states[state]();
      await sharedPage.goto(`${url}?lang=${language}`);
      await expectAccessible(sharedPage, { screenshots: screenshotsOf(`${language}-${state}`) });
    },
  );

  test.each(languages)(
    "the receipt page in the language %s, after a rejected e-mail address, focuses the field and describes the problem",
    async (language) => {
      gateway.behaviour.receipts.sendReceipt = async () => {
        throw new DomainError("invalid", "validation_failed", "The address is not valid.", { pointer: "/email" });
      };
      const page = await openPage(language);
      await page.fill("#email", "wrong");
      await page.click("form button");
      expect(await page.inputValue("#email:focus")).toBe("wrong");
      expect(await page.getAttribute("#email", "aria-describedby")).toBe("email-hint email-problem");
      await expectAccessible(page, { screenshots: screenshotsOf(`${language}-rejected`) });
      await page.context().close();
    },
  );

  test("the receipt page without scripts sends the receipt when the buyer uses only the keyboard", async () => {
    const page = await openPage("en", false);
    await page.focus("#email");
    await page.keyboard.type("buyer@example.com");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "The receipt is being sent" }).waitFor();
    expect(gateway.received.at(-1)?.request).toMatchObject({ email: "buyer@example.com", language: "EN" });
    await page.getByRole("link", { name: "Back to the receipt" }).click();
    await page.getByRole("heading", { name: "Payment receipt" }).waitFor();
    expect(await page.locator("[data-print]").isVisible()).toBe(false);
    await page.context().close();
  });

  test("the print button of the receipt page prints the page without buttons", async () => {
    const page = await openPage("fr");
    await page.evaluate("window.print = () => { document.title = 'printed' }");
    await page.click("[data-print]");
    expect(await page.title()).toBe("printed");
    await page.emulateMedia({ media: "print" });
    for (const selector of [".actions", "form", ".languages"]) expect(await page.locator(selector).isVisible()).toBe(false);
    expect(await page.locator(".receipt").isVisible()).toBe(true);
    await page.context().close();
  });

  test("the PDF button of the receipt page downloads the receipt in the language of the page", async () => {
    const page = await openPage("ar");
    const downloading = page.waitForEvent("download");
    await page.click("a.primary");
    expect((await downloading).suggestedFilename()).toBe("20261125-1000000001.pdf");
    expect(gateway.received.at(-1)?.request).toMatchObject({ language: "AR" });
    await page.context().close();
  });
});
