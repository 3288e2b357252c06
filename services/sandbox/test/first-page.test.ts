import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { modes, operations } from "../src/faults.ts";
import { aSandbox, control, payNewOrder, registerNewOrder } from "./a-sandbox.ts";
import { aVerification } from "./a-verification.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await aSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());
beforeEach(() => control(sandbox.url, "DELETE", "faults"));

const pressButton = async (button: string, fields: Record<string, string> = {}, lang = "en") => {
  const body = new URLSearchParams({ do: button, ...fields });
  const response = await fetch(`${sandbox.url}/?lang=${lang}`, { method: "POST", body, redirect: "manual" });
  return { status: response.status, location: response.headers.get("location"), text: await response.text() };
};
const view = async (orderId: string) => (await control(sandbox.url, "GET", `payments/${orderId}`)).body;
const verification = async (reference: string) => (await control(sandbox.url, "GET", `kyc?reference=${reference}`)).body;

describe("first page", () => {
  test.each([
    ["fr", "ltr", "Ce que permet ce bac à sable"],
    ["ar", "rtl", "ما الذي تتيحه هذه البيئة التجريبية"],
    ["en", "ltr", "Sandbox controls"],
  ])(
    "the sandbox's first page in the language %s lists all operations and faults, and loads no external resources",
    async (lang, dir, title) => {
      const page = await fetch(sandbox.url, { headers: { "accept-language": lang } });
      expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-store"]);
      expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none';/);
      const text = await page.text();
      expect(text).toContain(`<html lang="${lang}" dir="${dir}">`);
      expect(text).toContain(`<h1>${title}</h1>`);
      expect(text).not.toMatch(/(src|href|action)="(https?:)?\/\//);
      for (const name of operations) expect(text).toContain(`<option value="${name}">`);
      for (const mode of modes) expect(text).toContain(`<option value="${mode.replace("<", "&lt;").replace(">", "&gt;")}">`);
    },
  );

  test("the sandbox's first page has all input fields that the buttons of its forms use", async () => {
    const text = await (await fetch(sandbox.url)).text();
    const forms = [...text.matchAll(/<form [^>]*>[\s\S]*?<\/form>/g)].map(([form]) => ({
      buttons: [...form.matchAll(/name="do" value="(\w+)"/g)].map(([, name]) => name),
      fields: [...form.matchAll(/<(?:input|select)[^>]* name="(\w+)"/g)].map(([, name]) => name),
    }));
    expect(forms).toEqual([
      { buttons: ["pay", "cancel"], fields: ["order", "card"] },
      { buttons: ["giveBack", "reverse"], fields: ["order", "amount"] },
      { buttons: ["openPage"], fields: ["amount"] },
      { buttons: ["submit", "tester", "expire"], fields: ["link", "outcome"] },
      { buttons: ["approve", "reject"], fields: ["link"] },
      { buttons: ["plant", "clear"], fields: ["operation", "mode", "times"] },
      { buttons: ["advance"], fields: ["seconds"] },
    ]);
  });

  test("the sandbox's first page escapes the submitted input that it shows, and returns status 422 for an unknown button", async () => {
    const { status, text } = await pressButton("pay", { order: '"><script>alert(1)</script>', card: "1" });
    expect(status).toBe(404);
    expect(text).not.toContain("<script>alert");
    expect((await pressButton("nothing")).status).toBe(422);
    expect((await pressButton("constructor")).status).toBe(422);
  });
});

describe("buttons of the first page", () => {
  test.each(["id", "number", "payment page URL"])(
    "the button `pay` on the sandbox's first page finds an order by its %s, pays the order, and shows the call",
    async (identifier) => {
      const order = await registerNewOrder(sandbox.url);
      const name = { id: order.orderId, number: order.orderNumber }[identifier] ?? order.formUrl;
      const { status, text } = await pressButton("pay", { order: name, card: "6280580610061110" });
      expect(status).toBe(200);
      expect(text).toContain(`POST /sandbox/payments/${order.orderId}/pay`);
      expect(text).toContain('href="http://shop.test/sorry?orderId=');
      expect(await view(order.orderId)).toMatchObject({ orderStatus: 6, outcome: "insufficient_balance" });
    },
  );

  test("the sandbox's first page has buttons that cancel, refund and reverse an order", async () => {
    const [open, first, second] = [
      await registerNewOrder(sandbox.url),
      await payNewOrder(sandbox.url),
      await payNewOrder(sandbox.url),
    ];
    await pressButton("cancel", { order: open.orderId });
    expect(await view(open.orderId)).toMatchObject({ outcome: "cancelled" });
    await pressButton("giveBack", { order: first.orderId, amount: "1000.00" });
    expect(await view(first.orderId)).toMatchObject({ orderStatus: 4, refundedAmount: 100_000 });
    await pressButton("giveBack", { order: first.orderId, amount: "" });
    expect(await view(first.orderId)).toMatchObject({ refundedAmount: 500_000 });
    await pressButton("reverse", { order: second.orderId });
    expect(await view(second.orderId)).toMatchObject({ orderStatus: 3 });
    expect((await pressButton("reverse", { order: second.orderId })).status).toBe(409);
  });

  test("the button `openPage` on the sandbox's first page opens the payment page of a new test order in the current language", async () => {
    const { status, location } = await pressButton("openPage", { amount: "75.50" }, "ar");
    expect([status, location]).toEqual([303, expect.stringMatching(/^\/payment\/pay\/\w+\?lang=ar$/)]);
    expect((await fetch(`${sandbox.url}${location}`)).status).toBe(200);
    const orderId = location?.split(/[/?]/)[3] ?? "";
    expect(await view(orderId)).toMatchObject({ amount: 7_550 });
    expect((await pressButton("openPage", { amount: "1" })).status).toBe(422);
  });

  test("the sandbox's first page has buttons that submit and expire a verification by its link or reference, and that decide a review", async () => {
    const [approved, reviewed, expired] = [
      await aVerification(sandbox.url),
      await aVerification(sandbox.url),
      await aVerification(sandbox.url),
    ];
    await pressButton("submit", { link: approved.linkUrl, outcome: "approved" });
    expect(await verification(approved.reference)).toMatchObject({ status: "COMPLETED", verdict: "APPROVED" });
    await pressButton("submit", { link: reviewed.reference, outcome: "needs_review" });
    await pressButton("reject", { link: reviewed.reference });
    expect(await verification(reviewed.reference)).toMatchObject({ verdict: "REJECTED" });
    await pressButton("expire", { link: expired.linkUrl });
    expect(await verification(expired.reference)).toMatchObject({ status: "EXPIRED" });
    const tester = await pressButton("tester", { link: expired.reference });
    expect([tester.status, tester.location]).toEqual([303, `/sandbox/kyc/${expired.token}/tester?lang=en`]);
  });

  test("the sandbox's first page has buttons that set and remove faults and advance the clock", async () => {
    const { text } = await pressButton("plant", { operation: "refund", mode: "slow:10", times: "3" });
    expect(text).toContain("<bdi>refund slow:10 × 3</bdi>");
    expect((await control(sandbox.url, "GET", "faults")).body.faults).toEqual([
      { operation: "refund", mode: "slow:10", times: 3 },
    ]);
    expect((await pressButton("plant", { operation: "refund", mode: "slow:<ms>", times: "1" })).status).toBe(422);
    await pressButton("clear");
    expect((await control(sandbox.url, "GET", "faults")).body.faults).toEqual([]);
    const order = await registerNewOrder(sandbox.url);
    await pressButton("advance", { seconds: "1200" });
    expect(await view(order.orderId)).toMatchObject({ outcome: "session_expired" });
  });

  test("the input fields of the sandbox's first page suggest the newest payments and verifications", async () => {
    const [order, application] = [await registerNewOrder(sandbox.url), await aVerification(sandbox.url)];
    const text = await (await fetch(sandbox.url)).text();
    expect(text).toContain(`<option value="${order.orderId}">${order.orderNumber}</option>`);
    expect(text).toContain(`<option value="${application.reference}">CREATED</option>`);
    expect(text).toContain(`href="/sandbox/kyc/${application.token}/tester?lang=fr"`);
  });
});
