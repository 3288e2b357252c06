import { mkdirSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { CheckoutState } from "@amana/contracts/payments/v1/checkout_service_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { languages } from "@amana/pages";
import { upstreamError } from "@amana/rpc";
import { expectAccessible, isBrowserMissing, launchBrowser } from "@amana/testing/browser";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aLink, anOpenLink, aPaidPayment, aPayment, linkToken, paymentToken, serveLink } from "./checkout-samples.ts";
import { startTestGateway, type TestGateway } from "./harness.ts";

/** Folder for a screenshot of each page. By default the test takes no screenshots. */
const screenshots = process.env["SCREENSHOT_DIR"];
if (screenshots) mkdirSync(screenshots, { recursive: true });

const arabicName = "سجادة بربرية ";
const result = `/result/${paymentToken}`;
/** States of the pages, each with the responses of the services and the actions of the buyer. */
const states: Record<
  string,
  {
    readonly arrange: (gateway: TestGateway) => void;
    readonly path?: string;
    readonly act?: (page: Page) => Promise<void>;
    /** Whether the test must wait for the proof-of-work widget. */
    readonly hasCaptcha?: boolean;
  }
> = {
  form: { arrange: (gateway) => serveLink(gateway), hasCaptcha: true },
  "form-details": { arrange: (gateway) => serveLink(gateway, anOpenLink()), hasCaptcha: true },
  "form-errors": {
    arrange: (gateway) => serveLink(gateway, anOpenLink({ orderRef: "CMD-2026-118" })),
    hasCaptcha: true,
    act: async (page) => {
      await page.fill("#amount", "12");
      await page.fill("#email", "amina@");
      await submit(page);
      await page.waitForSelector(".problem-summary");
    },
  },
  "form-hostile": {
    arrange: (gateway) =>
      serveLink(
        gateway,
        aLink({
          name: `<script>alert("1")</script>\u202eDZD 1`,
          description: arabicName.repeat(40).slice(0, 512),
          orderRef: "ABCDEFGHIJKLMNOPQRST",
        }),
        {},
        { name: "متجر <b>الأمل</b> \u202e Épicerie fine de la Casbah d’Alger et de ses environs immédiats" },
      ),
    hasCaptcha: true,
  },
  "in-progress": { arrange: (gateway) => serveLink(gateway, aLink(), { payment: aPayment() }) },
  full: { arrange: (gateway) => serveLink(gateway, aLink(), { state: CheckoutState.FULL }) },
  "full-own-payment": {
    arrange: (gateway) => serveLink(gateway, aLink(), { state: CheckoutState.FULL, payment: aPayment() }),
  },
  unavailable: { arrange: (gateway) => serveLink(gateway, aLink(), { state: CheckoutState.UNAVAILABLE }) },
  unknown: { arrange: () => {}, path: "/../x" },
  "processor-error": {
    arrange: (gateway) => {
      serveLink(gateway);
      gateway.behaviour.checkout.startCheckout = async () => Promise.reject(upstreamError("processor_error", "x"));
    },
    hasCaptcha: true,
    act: async (page) => {
      await page.check("#conditions");
      await submit(page);
      await page.waitForSelector(".outcome");
    },
  },
  poster: { arrange: (gateway) => serveLink(gateway), path: "/poster" },
  "result-accepted": { arrange: serveResult(aPaidPayment()), path: result },
  "result-refunded": {
    arrange: serveResult(aPaidPayment({ status: PaymentStatus.REFUNDED, refundedAmountMinor: 250_000n })),
    path: result,
  },
  "result-pending": { arrange: serveResult(aPayment()), path: result },
  "result-rejected": { arrange: serveResult(aPayment({ status: PaymentStatus.REFUSED, processorOrderStatus: 6 })), path: result },
  "result-declined": {
    arrange: serveResult(
      aPaidPayment({
        status: PaymentStatus.REFUSED,
        processorOrderStatus: 6,
        actionCode: "116",
        actionCodeDescription: "Solde insuffisant",
        respCodeDesc: "Le solde de votre carte est insuffisant",
      }),
    ),
    path: result,
  },
  "result-reversed": { arrange: serveResult(aPaidPayment({ status: PaymentStatus.CANCELED })), path: result },
};

function serveResult(payment: ReturnType<typeof aPayment>) {
  return (gateway: TestGateway) => {
    const link = aLink({ successUrl: "https://shop.test/merci", failUrl: "https://shop.test/panier" });
    serveLink(gateway, link);
    gateway.behaviour.checkout.getCheckoutResult = async () => ({ link, payment, canTryAgain: true });
    gateway.behaviour.receipts.findReceipt = async () => ({ canSendEmail: true });
  };
}

const submit = (page: Page) => page.click("button.pay");
const solved = (page: Page) => page.waitForSelector('.altcha[data-state="verified"]');

describe.skipIf(isBrowserMissing("browser tests of payment links"))("the pages of payment links in a browser", () => {
  let gateway: TestGateway;
  let browser: Browser;
  let page: Page;
  let url: string;
  /** The page's errors, Content-Security-Policy violations and requests to other origins. */
  let faults: string[] = [];
  beforeAll(async () => {
    gateway = await startTestGateway({ checkout: { hasCaptcha: true } });
    await gateway.app.listen({ host: "127.0.0.1", port: 0 });
    url = `http://127.0.0.1:${(gateway.app.server.address() as AddressInfo).port}`;
    browser = await launchBrowser();
    page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    page.on("console", (message) => void (/error/.test(message.type()) && faults.push(message.text())));
    page.on("pageerror", (error) => void faults.push(String(error)));
    page.on("request", (request) => void (new URL(request.url()).origin !== url && faults.push(request.url())));
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.[Symbol.asyncDispose]();
  });

  const cases = Object.keys(states).flatMap((name) => languages.map((language) => [name, language] as const));

  test.each(cases)(
    "the checkout page (%s, language %s) has no axe violation, no Content-Security-Policy violation and no horizontal overflow",
    async (name, language) => {
      const { arrange, path = "", act, hasCaptcha = false } = states[name]!;
      arrange(gateway);
      faults = [];
      await page.context().clearCookies();
      await page.goto(`${url}/pay/${linkToken}${path}?lang=${language}`);
      if (act) {
        if (hasCaptcha) await solved(page);
        await act(page);
      }
      if (hasCaptcha && (await page.$("altcha-widget"))) await solved(page);
      expect(await page.locator("h1").count()).toBe(1);
      expect(await page.evaluate("document.documentElement.dir")).toBe(language === "ar" ? "rtl" : "ltr");
      await expectAccessible(page, { screenshots: screenshots && `${screenshots}/${name}-${language}` });
      // Chromium reports the status of an error page as an error in the console.
      expect(faults.filter((fault) => !fault.startsWith("Failed to load resource"))).toEqual([]);
    },
  );
});
