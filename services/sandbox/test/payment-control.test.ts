import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { aSandbox, call, control, credentials, payNewOrder, registerNewOrder, send, validCard } from "./a-sandbox.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await aSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const pay = (orderId: string, changes: object = {}) =>
  control(sandbox.url, "POST", `payments/${orderId}/pay`, { ...validCard, ...changes });
const view = async (orderId: string) => (await control(sandbox.url, "GET", `payments/${orderId}`)).body;

describe("pay", () => {
  test("the sandbox control call `pay` returns the number of remaining attempts after a wrong password, and fails the payment with code 2003 after the third wrong password", async () => {
    const { orderId } = await registerNewOrder(sandbox.url);
    expect(await pay(orderId, { password: "1" })).toEqual({ status: 200, body: { attempts_left: 2 } });
    expect(await pay(orderId, { password: "2" })).toEqual({ status: 200, body: { attempts_left: 1 } });
    expect(await pay(orderId, { password: "3" })).toEqual({
      status: 200,
      body: { attempts_left: 0, redirect_url: `http://shop.test/sorry?orderId=${orderId}` },
    });
    expect(await view(orderId)).toMatchObject({ orderStatus: 6, actionCode: 2003 });
  });

  test("the sandbox control call `pay` pays the order if the correct password follows a wrong password", async () => {
    const { orderId } = await registerNewOrder(sandbox.url);
    await pay(orderId, { password: "1" });
    expect((await pay(orderId)).body).toEqual({ redirect_url: expect.stringContaining("/thanks") });
    expect(await view(orderId)).toMatchObject({ orderStatus: 2, depositedAmount: 500_000 });
  });

  test.each([
    ["a number that is not a test card", { pan: "4111111111111111" }],
    ["an expiry that does not match the card", { expiry: "02/2027" }],
    ["a CVV2 that does not match the card", { cvv2: "374" }],
    ["no CVV2", { cvv2: undefined }],
  ])("the sandbox control call `pay` rejects %s and does not change the order", async (_name, changes) => {
    const { orderId } = await registerNewOrder(sandbox.url);
    expect(await pay(orderId, changes)).toMatchObject({ status: 422, body: { message: expect.any(String) } });
    expect(await view(orderId)).toMatchObject({ orderStatus: 0 });
  });

  test("the sandbox control call `pay` returns status 409 for a finished order", async () => {
    const { orderId } = await payNewOrder(sandbox.url);
    expect(await pay(orderId)).toMatchObject({ status: 409 });
  });
});

test("the sandbox control call `cancel` declines the order with actionCode 10 and returns a redirect URL to failUrl", async () => {
  const { orderId } = await registerNewOrder(sandbox.url);
  expect(await control(sandbox.url, "POST", `payments/${orderId}/cancel`)).toEqual({
    status: 200,
    body: { redirect_url: `http://shop.test/sorry?orderId=${orderId}` },
  });
  expect(await call(sandbox.url, "confirmOrder.do", { orderId })).toMatchObject({
    ErrorCode: "3",
    OrderStatus: 6,
    actionCode: 10,
  });
});

test("the sandbox control call `cancel` accepts a JSON request with an empty body", async () => {
  const { orderId } = await registerNewOrder(sandbox.url);
  const response = await fetch(`${sandbox.url}/sandbox/payments/${orderId}/cancel`, {
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  expect(response.status).toBe(200);
});

test("GET /sandbox/payments returns an order by its id or number, with all received calls and without credentials", async () => {
  const order = await payNewOrder(sandbox.url);
  await call(sandbox.url, "confirmOrder.do", { orderId: order.orderId });
  await call(sandbox.url, "getOrderStatusExtended.do", { orderNumber: order.orderNumber });
  await send(sandbox.url, "refund.do", { orderId: order.orderId, amount: "100" }, { method: "GET" });
  const viewedOrder = await view(order.orderId);
  expect(viewedOrder.calls.map((received: { operation: string }) => received.operation)).toEqual([
    "register",
    "confirm",
    "status",
    "refund",
  ]);
  expect(viewedOrder.calls[3]).toEqual({
    operation: "refund",
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    parameters: { orderId: order.orderId, amount: "100" },
  });
  expect(JSON.stringify(viewedOrder)).not.toContain(credentials.password);
  expect((await control(sandbox.url, "GET", `payments?orderNumber=${order.orderNumber}`)).body).toEqual(viewedOrder);
});

describe("back office", () => {
  const refund = (orderId: string, body?: object) => control(sandbox.url, "POST", `payments/${orderId}/refund`, body);

  test("the sandbox control call `refund` refunds a part and then the remaining amount, and the order then lists each refund with its origin", async () => {
    const { orderId, orderNumber } = await payNewOrder(sandbox.url);
    await call(sandbox.url, "refund.do", { orderId, amount: "100" });
    const totals = { orderId, orderNumber, amount: 500_000, depositedAmount: 500_000, orderStatus: 4 };
    expect(await refund(orderId, { amount: "1000.00" })).toEqual({ status: 200, body: { ...totals, refundedAmount: 100_100 } });
    expect(await refund(orderId)).toEqual({ status: 200, body: { ...totals, refundedAmount: 500_000 } });
    expect(await refund(orderId)).toMatchObject({ status: 409, body: { error: "not_refundable" } });
    expect((await view(orderId)).refunds).toMatchObject([
      { amount: 100, by: "client" },
      { amount: 100_000, by: "back_office" },
      { amount: 399_900, by: "back_office" },
    ]);
  });

  test("the sandbox control call `refund` returns status 409 for an unpaid order or for more than the paid amount", async () => {
    const { orderId } = await payNewOrder(sandbox.url);
    expect(await refund(orderId, { amount: "5000.01" })).toMatchObject({ status: 409, body: { refundedAmount: 0 } });
    expect(await refund((await registerNewOrder(sandbox.url)).orderId)).toMatchObject({ status: 409 });
  });

  test.each(["0", "0.00", "-1", "1e3", 1000, null])(
    "the sandbox control call `refund` returns status 422 for the amount %j",
    async (amount) => {
      const { orderId } = await payNewOrder(sandbox.url);
      expect(await refund(orderId, { amount })).toMatchObject({ status: 422, body: { message: expect.any(String) } });
      expect(await view(orderId)).toMatchObject({ refundedAmount: 0 });
    },
  );

  test("the sandbox control call `reverse` reverses a deposit once, and returns status 409 for an order with refunds", async () => {
    const reverse = (orderId: string) => control(sandbox.url, "POST", `payments/${orderId}/reverse`);
    const { orderId } = await payNewOrder(sandbox.url);
    expect(await reverse(orderId)).toMatchObject({
      status: 200,
      body: { orderStatus: 3, depositedAmount: 0, refundedAmount: 0 },
    });
    expect(await reverse(orderId)).toMatchObject({ status: 409, body: { error: "not_reversible" } });
    expect(await call(sandbox.url, "getOrderStatusExtended.do", { orderId })).toMatchObject({ orderStatus: 3 });
    expect(await call(sandbox.url, "refund.do", { orderId, amount: "100" })).toMatchObject({ errorCode: 7 });
    const refunded = await payNewOrder(sandbox.url);
    await refund(refunded.orderId, { amount: "1.00" });
    expect(await reverse(refunded.orderId)).toMatchObject({ status: 409 });
  });
});

test.each(["pay", "cancel", "refund", "reverse"])(
  "the sandbox control call `%s` returns status 404 with a message for an unknown order",
  async (step) => {
    expect(await control(sandbox.url, "POST", `payments/unknown/${step}`, {})).toMatchObject({
      status: 404,
      body: { message: expect.any(String) },
    });
  },
);

describe("clock", () => {
  const advance = (clockSandbox: Sandbox, seconds: number) =>
    control(clockSandbox.url, "POST", "clock", { advance_seconds: seconds });

  test("POST /sandbox/clock declines an unpaid order with action code -2007 if the request advances the clock by 20 minutes", async () => {
    await using clockSandbox = await aSandbox();
    const { orderId } = await registerNewOrder(clockSandbox.url);
    await advance(clockSandbox, 20 * 60 - 30);
    expect(await call(clockSandbox.url, "getOrderStatus.do", { orderId })).toMatchObject({ OrderStatus: 0 });
    await advance(clockSandbox, 30);
    expect(await call(clockSandbox.url, "getOrderStatus.do", { orderId })).toMatchObject({ OrderStatus: 6, actionCode: -2007 });
    expect(await control(clockSandbox.url, "POST", `payments/${orderId}/pay`, validCard)).toMatchObject({ status: 409 });
  });

  test("POST /sandbox/clock reverses a paid but unconfirmed order if the request advances the clock by 20 minutes", async () => {
    await using clockSandbox = await aSandbox();
    const unconfirmedOrder = await payNewOrder(clockSandbox.url);
    const confirmedOrder = await payNewOrder(clockSandbox.url);
    await call(clockSandbox.url, "confirmOrder.do", { orderId: confirmedOrder.orderId });
    await advance(clockSandbox, 20 * 60);
    const status = (orderId: string) => call(clockSandbox.url, "getOrderStatusExtended.do", { orderId });
    expect(await status(unconfirmedOrder.orderId)).toMatchObject({
      orderStatus: 3,
      paymentAmountInfo: { paymentState: "REVERSED", depositedAmount: 0 },
    });
    expect(await status(confirmedOrder.orderId)).toMatchObject({
      orderStatus: 2,
      paymentAmountInfo: { depositedAmount: 500_000 },
    });
    expect(await call(clockSandbox.url, "refund.do", { orderId: unconfirmedOrder.orderId, amount: "100" })).toMatchObject({
      errorCode: 7,
    });
  });

  test.each([{}, { advance_seconds: -1 }, { advance_seconds: "60" }, { advance_seconds: 1.5 }])(
    "POST /sandbox/clock returns status 422 for %j",
    async (body) => {
      expect(await control(sandbox.url, "POST", "clock", body)).toMatchObject({
        status: 422,
        body: { message: expect.any(String) },
      });
    },
  );
});

test("GET /sandbox/money-movements lists deposits, refunds and reversals, oldest first, with their sum in centimes", async () => {
  await using ownSandbox = await aSandbox();
  const { url } = ownSandbox;
  const partial = await payNewOrder(url);
  const reversed = await payNewOrder(url);
  const declined = await registerNewOrder(url);
  await control(url, "POST", `payments/${declined.orderId}/cancel`);
  await call(url, "confirmOrder.do", { orderId: partial.orderId });
  await control(url, "POST", `payments/${partial.orderId}/refund`, { amount: "1000.05" });
  await call(url, "refund.do", { orderId: partial.orderId, amount: "5" });
  await control(url, "POST", `payments/${reversed.orderId}/reverse`);
  const { body } = await control(url, "GET", "money-movements");
  expect(body).toMatchObject({
    movements: [
      { orderId: partial.orderId, type: "DEPOSIT", amount: 500_000 },
      { orderId: reversed.orderId, type: "DEPOSIT", amount: 500_000 },
      { orderId: partial.orderId, type: "REFUND", amount: -100_005 },
      { orderId: partial.orderId, type: "REFUND", amount: -5 },
      { orderId: reversed.orderId, type: "REVERSAL", amount: -500_000 },
    ],
    total: 399_990,
  });
});
