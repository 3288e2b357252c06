import { afterAll, beforeAll, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { aSandbox, control, payNewOrder, registerNewOrder, validCard } from "./a-sandbox.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await aSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const post = (formUrl: string, step: string, fields: Record<string, string>) =>
  fetch(`${formUrl}/${step}`, { method: "POST", body: new URLSearchParams(fields), redirect: "manual" });
const { password, ...card } = validCard;
const view = async (orderId: string) => (await control(sandbox.url, "GET", `payments/${orderId}`)).body;

test("the pages of a sandbox payment forbid caches, referrers, external resources and inline scripts", async () => {
  const { formUrl, orderId } = await registerNewOrder(sandbox.url);
  for (const url of [formUrl, (await payNewOrder(sandbox.url)).formUrl, `${sandbox.url}/payment/pay/unknown`]) {
    const page = await fetch(url);
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none';/);
    expect(page.headers.get("content-security-policy")).not.toContain("unsafe");
    const text = await page.text();
    expect(text).not.toMatch(/(src|href|action)="(https?:)?\/\//);
    expect(text).not.toMatch(/ (style|on\w+)="|<style|<script(?! src=)/);
  }
  expect((await post(formUrl, "card", { pan: "1" })).headers.get("cache-control")).toBe("no-store");
  const returnResponse = await fetch(`${(await payNewOrder(sandbox.url)).formUrl}/return`, { redirect: "manual" });
  expect(returnResponse.headers.get("referrer-policy")).toBe("no-referrer");
  expect(await view(orderId)).toMatchObject({ orderStatus: 0 });
});

test("the payment page escapes the order description that the shop sent", async () => {
  const { formUrl } = await registerNewOrder(sandbox.url, { description: `<script>alert("x")</script>'&` });
  const text = await (await fetch(formUrl)).text();
  expect(text).toContain("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39;&amp;");
  expect(text).not.toContain("<script>");
});

test("the payment page shows the entered card number and expiry again after an invalid entry, but not the CVV2", async () => {
  const { formUrl } = await registerNewOrder(sandbox.url);
  const response = await post(formUrl, "card", { pan: card.pan, expiry: "03/2031", cvv2: "918" });
  const text = await response.text();
  expect(response.status).toBe(422);
  expect(text).toContain(`value="${card.pan}"`);
  expect(text).toContain('value="03/2031"');
  expect(text).not.toContain("918");
});

test("the payment page executes one payment if the password is sent twice, and counts one attempt if a wrong password is sent twice", async () => {
  const order = await registerNewOrder(sandbox.url);
  await post(order.formUrl, "card", card);
  await Promise.all([1, 2].map(() => post(order.formUrl, "password", { password: "000000", attempts_left: "3" })));
  expect(await (await fetch(`${order.formUrl}?lang=en`)).text()).toContain("You have 2 attempts left.");

  const approvalCode = async () => /\b\d{6}(?=<\/bdi>)/.exec(await (await fetch(order.formUrl)).text())?.[0];
  await post(order.formUrl, "password", { password, attempts_left: "2" });
  const first = await approvalCode();
  expect(first).toMatch(/^\d{6}$/);
  for (const step of ["password", "card", "cancel"]) {
    expect((await post(order.formUrl, step, { ...card, password, attempts_left: "2" })).status).toBe(303);
  }
  expect(await approvalCode()).toBe(first);
  expect(await view(order.orderId)).toMatchObject({ orderStatus: 2, depositedAmount: 500_000 });
});

test("the return path of the payment page redirects to the shop with the order id, or to the payment page if the payment is not finished", async () => {
  const openOrder = await registerNewOrder(sandbox.url);
  const openResponse = await fetch(`${openOrder.formUrl}/return`, { redirect: "manual" });
  expect([openResponse.status, openResponse.headers.get("location")]).toEqual([303, `/payment/pay/${openOrder.orderId}?lang=fr`]);
  await post(openOrder.formUrl, "cancel", {});
  const canceledResponse = await fetch(`${openOrder.formUrl}/return`, { redirect: "manual" });
  expect([canceledResponse.status, canceledResponse.headers.get("location")]).toEqual([
    302,
    `http://shop.test/sorry?orderId=${openOrder.orderId}`,
  ]);

  const paidOrder = await payNewOrder(sandbox.url);
  const paidResponse = await fetch(`${paidOrder.formUrl}/return`, { redirect: "manual" });
  expect([paidResponse.status, paidResponse.headers.get("location")]).toEqual([
    302,
    `http://shop.test/thanks?basket=7&orderId=${paidOrder.orderId}`,
  ]);
});

test("the sandbox returns a page with status 404 for an unknown payment", async () => {
  const response = await fetch(`${sandbox.url}/payment/pay/unknown?lang=en`);
  expect(response.status).toBe(404);
  expect(await response.text()).toContain("This payment does not exist");
});
