import { existsSync } from "node:fs";
import { solveChallenge } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/pbkdf2";
import { type Browser, chromium } from "playwright-core";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aBusiness, client, startTestSystem, type TestBusiness, type TestSystem, validCard } from "../../src/test-system.ts";

const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
const isMissing = !existsSync(executablePath);

let testSystem: TestSystem;
let business: TestBusiness;
beforeAll(async () => {
  testSystem = await startTestSystem("direct");
  business = await aBusiness(testSystem.system, "Atelier Tafilalt");
});
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
  await testSystem?.[Symbol.asyncDispose]();
});

/** Creates a payment link and returns its id and the URL of its page. */
async function aPaymentLink(owner: TestBusiness, fields: object = {}): Promise<{ id: string; url: string }> {
  const { status, body } = await owner.call("POST", "/api/v1/payment-links", {
    name: "Tapis berbère",
    amount: "5000.00",
    ...fields,
  });
  expect(status).toBe(201);
  return { id: String(body["id"]), url: String(body["url"]) };
}

/** Opens the page of a link as a browser does, and returns the fields of its form. */
async function openForm(url: string): Promise<Record<string, string>> {
  const response = await request(url);
  const html = await response.body.text();
  const challenge = JSON.parse(/ challenge="([^"]+)"/.exec(html)?.[1]?.replaceAll("&quot;", '"') ?? "null");
  const solution = await solveChallenge({ challenge, deriveKey });
  return {
    form_token: /name="form_token" value="([\w-]+)"/.exec(html)?.[1] ?? "",
    altcha: Buffer.from(JSON.stringify({ challenge, solution })).toString("base64"),
    conditions: "1",
    lang: "en",
  };
}

async function submit(url: string, fields: Record<string, string>) {
  const response = await request(url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: String(new URLSearchParams(fields)),
    headersTimeout: 40_000,
  });
  return { status: response.statusCode, location: String(response.headers["location"] ?? ""), html: await response.body.text() };
}

const paymentsOf = async (owner: TestBusiness, link: { id: string }) =>
  (await owner.call("GET", `/api/v1/payments?payment_link_id=${link.id}`)).body as unknown as Record<string, unknown>[];

test.concurrent("repeated and parallel submissions of one form start one payment", async () => {
  const link = await aPaymentLink(business);
  const form = await openForm(link.url);
  const responses = await Promise.all(Array.from({ length: 10 }, () => submit(link.url, form)));
  expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(303));
  expect(new Set(responses.map(({ location }) => location)).size).toBe(1);
  expect(await paymentsOf(business, link)).toHaveLength(1);
});

test.concurrent("twenty buyers who press at once for the last one start one payment, and nineteen read the page of a full link", async () => {
  const link = await aPaymentLink(business, { max_payments: 1 });
  const forms = await Promise.all(Array.from({ length: 20 }, () => openForm(link.url)));
  const responses = await Promise.all(forms.map((form) => submit(link.url, form)));
  expect(responses.map(({ status }) => status).sort()).toEqual([303, ...Array(19).fill(409)]);
  for (const { status, html } of responses) {
    if (status === 409) expect(html).toContain("Another customer is paying for the last one. Try again in a few minutes.");
  }
  expect(await paymentsOf(business, link)).toHaveLength(1);
});

test.concurrent("no page starts a payment after the response to the request that disables the business", async () => {
  const disabled = await aBusiness(testSystem.system, "Fermé");
  await using _receiver = disabled.receiver;
  const link = await aPaymentLink(disabled);
  const forms = await Promise.all(Array.from({ length: 12 }, () => openForm(link.url)));
  expect((await submit(link.url, forms.pop() ?? {})).status).toBe(303);
  let hasResponse = false;
  const late: number[] = [];
  const buyers = forms.map(async (form) => {
    // Each buyer submits the form until three submissions were sent after the response.
    for (let sentLate = 0; sentLate < 3; ) {
      const isLate = hasResponse;
      const { status } = await submit(link.url, { ...form });
      if (isLate) {
        late.push(status);
        sentLate++;
      }
    }
  });
  await client(testSystem.system, testSystem.system.adminKey).businesses.update(disabled.id, { status: "DISABLED" });
  hasResponse = true;
  await Promise.all(buyers);
  expect(late).toEqual(Array(33).fill(410));
});

describe.skipIf(isMissing)("a buyer with a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"] });
  });
  afterAll(() => browser?.close());

  test("a buyer pays a payment link at the card form and reads the accepted result", async () => {
    const link = await aPaymentLink(business, {
      amount: undefined,
      amount_min: "50.00",
      amount_max: "10000.00",
      customer_fields: { name: "REQUIRED", phone: "OPTIONAL" },
      language: "FR",
      order_ref: "CMD-118",
      success_url: "https://shop.example/merci",
    });
    const context = await browser.newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(link.url);
    await page.fill("#amount", "1 500,50");
    await page.fill("#name", "Amina Benali");
    await page.fill("#phone", "0550 12 34 56");
    await page.check("#conditions");
    await page.click("button.pay");
    await page.waitForURL(`${testSystem.system.sandboxUrl}/**`);
    for (const name of ["pan", "expiry", "cvv2"] as const) await page.fill(`#${name}`, validCard[name]);
    await page.click("form[data-once] .primary");
    await page.fill("#password", validCard.password);
    await page.click("form[data-once] .primary");
    await page.click("[data-return]");
    await page.getByRole("heading", { name: "Paiement accepté" }).waitFor();
    expect(page.url()).toMatch(new RegExp(`^${link.url}/result/[0-9a-f]{64}\\?payment_id=[0-9a-f-]{36}&status=PAID$`));
    const text = (await page.textContent("main"))?.replace(/\s+/g, " ");
    for (const detail of ["1 500,50 DZD", "CMD-118", "Atelier Tafilalt", "3020"]) expect(text).toContain(detail);
    const onward = await page.getByRole("link", { name: "Continuer vers le site du vendeur" }).getAttribute("href");
    expect(onward).toMatch(/^https:\/\/shop\.example\/merci\?payment_id=[0-9a-f-]{36}&status=PAID$/);
    const [payment] = await paymentsOf(business, link);
    expect(payment).toMatchObject({
      status: "PAID",
      amount: "1500.50",
      customer_name: "Amina Benali",
      customer_phone: "+213550123456",
      conditions_version: "2026-11",
    });
    await context.close();
  });
});
