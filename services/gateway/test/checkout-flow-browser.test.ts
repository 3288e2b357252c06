import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { StartCheckoutRequest } from "@amana/contracts/payments/v1/checkout_service_pb";
import { isBrowserMissing, launchBrowser } from "@amana/testing/browser";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { aLink, anOpenLink, aPaidPayment, aPayment, linkToken, paymentToken, serveLink } from "./checkout-samples.ts";
import { startTestGateway, type TestGateway } from "./harness.ts";

describe.skipIf(isBrowserMissing("browser tests of a buyer"))("a buyer's browser at a payment link", () => {
  let browser: Browser;
  let cardForm: Server;
  let otherSite: Server;
  let gateway: TestGateway | undefined;
  beforeAll(async () => {
    [cardForm, otherSite] = await Promise.all([serveTitle("Card form"), serveTitle("Other site")]);
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    for (const server of [cardForm, otherSite]) server?.close();
  });
  afterEach(() => gateway?.[Symbol.asyncDispose]());

  /** Starts a gateway whose payments have their card form at `formServer`, and opens a link. */
  async function openLink(
    options: { link?: ReturnType<typeof aLink>; hasCaptcha?: boolean; formServer?: Server; context?: BrowserContextOptions } = {},
  ) {
    const { link = aLink(), hasCaptcha = false, formServer = cardForm } = options;
    gateway = await startTestGateway({ checkout: { hasCaptcha, cardFormOrigins: [urlOf(cardForm)] } });
    const { app, behaviour, received } = gateway;
    await app.listen({ host: "127.0.0.1", port: 0 });
    const url = `${urlOf(app.server)}/pay/${linkToken}`;
    serveLink(gateway, { ...link, url });
    behaviour.checkout.startCheckout = async () => ({
      payment: aPayment({ formUrl: `${urlOf(formServer)}/pay/order-1` }),
      paymentToken,
    });
    const context = await browser.newContext(options.context);
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    await page.goto(`${url}?lang=en`);
    const starts = () =>
      received.filter(({ rpc }) => rpc === "StartCheckout").map(({ request }) => request as StartCheckoutRequest);
    return { page, context, starts, url, behaviour };
  }

  test("the checkout page without scripts can be completed with the keyboard, and sets only the cookie of the link", async () => {
    const { page, context, starts } = await openLink({ link: anOpenLink(), context: { javaScriptEnabled: false } });
    await page.focus("#amount");
    for (const text of ["1500,50", "Amina B.", "", "0550 12 34 56"]) {
      await page.keyboard.type(text);
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Space");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${urlOf(cardForm)}/**`);
    expect(starts()).toMatchObject([
      { amountMinor: 150_050n, customerName: "Amina B.", customerPhone: "+213550123456", language: "EN" },
    ]);
    expect((await context.cookies()).map(({ name, path, httpOnly, sameSite }) => ({ name, path, httpOnly, sameSite }))).toEqual([
      { name: "amana_checkout", path: `/pay/${linkToken}`, httpOnly: true, sameSite: "Lax" },
    ]);
  });

  test("the checkout form's Content-Security-Policy prevents a redirect to an origin that is not permitted", async () => {
    const { page, starts } = await openLink({ formServer: otherSite });
    await page.check("#conditions");
    const violation = page.waitForEvent("console", (message) => /form-action/.test(message.text()));
    await page.click("button.pay");
    await violation;
    expect(starts()).toHaveLength(1);
    expect(await page.title()).not.toBe("Other site");
  });

  test("the checkout form moves the focus to the first field with an error and keeps the buyer's input", async () => {
    const { page } = await openLink({ link: anOpenLink() });
    await page.fill("#amount", "2000");
    await page.fill("#email", "amina@");
    await page.click("button.pay");
    await page.waitForSelector(".problem-summary");
    expect(await page.locator(":focus").getAttribute("id")).toBe("name");
    expect(await page.inputValue("#amount")).toBe("2000");
    expect(await page.inputValue("#email")).toBe("amina@");
    expect(await page.locator("#email").getAttribute("aria-describedby")).toBe("email-hint email-problem");
  });

  test("the checkout form is sent once when the buyer presses the button twice", async () => {
    const { page, starts } = await openLink();
    await page.check("#conditions");
    await page.dblclick("button.pay");
    await page.waitForURL(`${urlOf(cardForm)}/**`);
    expect(starts()).toHaveLength(1);
  });

  test("if the buyer presses the button before the proof of work is solved, the checkout form is sent once, after the solution", async () => {
    const { page, starts } = await openLink({ hasCaptcha: true });
    await page.evaluate("document.querySelector('altcha-widget').reset()");
    await page.check("#conditions");
    await page.click("button.pay");
    await page.waitForURL(`${urlOf(cardForm)}/**`);
    expect(starts()).toHaveLength(1);
  });

  test("the checkout form without JavaScript states that the proof of work requires JavaScript, and starts no payment", async () => {
    const { page, starts } = await openLink({ hasCaptcha: true, context: { javaScriptEnabled: false } });
    expect(await page.locator("noscript .problem").textContent()).toContain("This page needs JavaScript");
    await page.check("#conditions");
    await page.click("button.pay");
    expect(await page.locator(".problem-summary").textContent()).toContain("The security check was not complete.");
    expect(await page.isChecked("#conditions")).toBe(true);
    expect(starts()).toEqual([]);
  });

  test("the checkout page lets a returning buyer continue the payment in progress or start a new payment", async () => {
    const { page, starts, url, behaviour } = await openLink();
    await page.check("#conditions");
    await page.click("button.pay");
    await page.waitForURL(`${urlOf(cardForm)}/**`);
    const read = behaviour.checkout.getCheckout;
    behaviour.checkout.getCheckout = async (request, call) => ({
      ...(await read?.(request, call)),
      ...(request.paymentToken === paymentToken && { payment: aPayment({ formUrl: `${urlOf(cardForm)}/pay/order-1` }) }),
    });
    await page.goto(`${url}?lang=en`);
    expect(await page.textContent("h1")).toBe("You already have a payment in progress");
    await page.getByRole("link", { name: "Start a new payment" }).click();
    await page.check("#conditions");
    await page.click("button.pay");
    await page.waitForURL(`${urlOf(cardForm)}/**`);
    expect(starts().map(({ beginAgain }) => beginAgain)).toEqual([false, true]);
    expect(starts()[1]?.paymentToken).toBe(paymentToken);
    await page.goto(`${url}?lang=en`);
    await page.getByRole("link", { name: "Continue this payment" }).click();
    await page.waitForURL(`${urlOf(cardForm)}/**`);
    expect(starts()).toHaveLength(2);
  });

  test("the result page without JavaScript reloads itself and shows that the payment was accepted when the payment becomes PAID", async () => {
    const { page, url, behaviour } = await openLink({ context: { javaScriptEnabled: false } });
    let payment = aPayment();
    behaviour.checkout.getCheckoutResult = async () => ({ link: aLink(), payment, canTryAgain: false });
    await page.goto(`${url}/result/${paymentToken}?lang=en`);
    expect(await page.textContent("h1")).toBe("Checking your payment");
    payment = aPaidPayment();
    await page.getByRole("heading", { name: "Payment accepted" }).waitFor();
    expect(page.url()).toBe(`${url}/result/${paymentToken}?lang=en`);
    expect(await page.locator("[data-print]").isVisible()).toBe(false);
  });

  test("the print button of the result page prints the page", async () => {
    const { page, url, behaviour } = await openLink();
    behaviour.checkout.getCheckoutResult = async () => ({ link: aLink(), payment: aPaidPayment(), canTryAgain: false });
    await page.addInitScript("window.print = () => document.body.setAttribute('data-printed', '')");
    await page.goto(`${url}/result/${paymentToken}?lang=en`);
    await page.click("[data-print]");
    await page.waitForSelector("body[data-printed]");
  });
});

async function serveTitle(title: string): Promise<Server> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end(`<!doctype html><title>${title}</title><h1>${title}</h1>`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

const urlOf = (server: Pick<Server, "address">) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
