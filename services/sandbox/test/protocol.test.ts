import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import {
  aNewOrderNumber,
  anOrder,
  aSandbox,
  call,
  control,
  payNewOrder,
  registerNewOrder,
  send,
  validCard,
} from "./a-sandbox.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await aSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

describe("register", () => {
  test("register.do returns an order id of 20 letters and digits and the URL of the payment page", async () => {
    const response = await call(sandbox.url, "register.do", anOrder());
    expect(response).toEqual({
      errorCode: 0,
      orderId: expect.stringMatching(/^[A-Za-z0-9]{20}$/),
      formUrl: `${sandbox.url}/payment/pay/${response.orderId}`,
    });
  });

  test("register.do accepts each order number only once", async () => {
    const order = anOrder();
    expect(await call(sandbox.url, "register.do", order)).toMatchObject({ errorCode: 0 });
    expect(await call(sandbox.url, "register.do", order)).toMatchObject({ errorCode: 1, errorMessage: expect.any(String) });
  });

  test.each([
    ["amount under 5000", { amount: "4999" }, 5],
    ["amount that is not a whole number", { amount: "5000.5" }, 5],
    ["order number of 9 digits", { orderNumber: "123456789" }, 5],
    ["order number with a letter", { orderNumber: "12345678a0" }, 5],
    ["unknown currency", { currency: "978" }, 3],
    ["no amount", { amount: undefined }, 4],
    ["no order number", { orderNumber: undefined }, 4],
    ["no return URL", { returnUrl: undefined }, 4],
    ["no jsonParams", { jsonParams: undefined }, 4],
    ["no terminal", { jsonParams: '{"udf1":"x"}' }, 4],
    ["jsonParams that are not JSON", { jsonParams: "{terminal" }, 5],
    ["jsonParams that are a list", { jsonParams: "[]" }, 5],
    ["udf1 of 21 characters", { jsonParams: JSON.stringify({ force_terminal_id: "E1", udf1: "x".repeat(21) }) }, 5],
    ["return URL with the scheme javascript", { returnUrl: "javascript:alert(1)" }, 5],
    ["description of 513 characters", { description: "x".repeat(513) }, 5],
    ["unknown language", { language: "DE" }, 5],
  ])("register.do rejects an order with the problem: %s", async (_name, changes, errorCode) => {
    expect(await call(sandbox.url, "register.do", anOrder(changes))).toEqual({ errorCode, errorMessage: expect.any(String) });
  });

  test("register.do accepts a GET request with the parameters in the query", async () => {
    const response = await send(sandbox.url, "register.do", anOrder(), { method: "GET" });
    expect(await response.json()).toMatchObject({ errorCode: 0 });
  });
});

test.each([
  "register.do",
  "public/acknowledgeTransaction.do",
  "confirmOrder.do",
  "getOrderStatus.do",
  "getOrderStatusExtended.do",
  "refund.do",
])("%s returns the error `Access denied` for a wrong password and has no effect", async (path) => {
  const order = await payNewOrder(sandbox.url);
  const number = aNewOrderNumber();
  const parameters = { ...anOrder({ orderNumber: number, amount: "5000" }), orderId: order.orderId, password: "wrong" };
  expect(await call(sandbox.url, path, parameters)).toEqual({ errorCode: 5, errorMessage: "Access denied" });
  expect((await control(sandbox.url, "GET", `payments/${order.orderId}`)).body).toMatchObject({
    refundedAmount: 0,
    confirmed: false,
  });
  expect((await control(sandbox.url, "GET", `payments?orderNumber=${number}`)).status).toBe(404);
});

const cards = [
  ["6280581110007215", "01/2027", "373", "0", 2, 0, "00"],
  ["6280580610061011", "01/2027", "992", "0", 2, 0, "00"],
  ["5078000110007214", "01/2027", "507", "0", 2, 0, "00"],
  ["6280581110006712", "01/2027", "897", "3", 6, 203, "37"],
  ["6280581110006316", "01/2027", "657", "3", 6, 208, "41"],
  ["6280581110006415", "01/2027", "958", "3", 6, 209, "43"],
  ["6280581110006613", "08/2027", "411", "3", 6, -1, "AD"],
  ["6280581110003927", "01/2025", "834", "3", 6, 125, "62"],
  ["6280580610061219", "01/2027", "049", "3", 6, 121, "61"],
  ["6280580610061110", "01/2027", "260", "3", 6, 116, "51"],
  ["6280581110006514", "01/2027", "205", "3", 6, 111, "AB"],
  ["6280580610061318", "01/2027", "930", "3", 6, 2003, undefined],
  ["6280581110007017", "01/2027", "632", "3", 6, 2003, undefined],
  ["6280581110007116", "01/2027", "040", "3", 6, -1, "AE"],
  ["6280581110007314", "01/2027", "821", "3", 6, -2006, undefined],
  ["6280580610056615", "12/2022", "428", "3", 6, 101, "33"],
] as const;

const alreadyConfirmed = { ErrorCode: "2", ErrorMessage: "Order is already confirmed" };

describe.each(cards)("card %s", (pan, expiry, cvv2, ErrorCode, OrderStatus, actionCode, respCode) => {
  test(`a payment with the test card ${pan} has the same outcome in both confirm calls and both status calls`, async () => {
    const order = await registerNewOrder(sandbox.url);
    const payResponse = await control(sandbox.url, "POST", `payments/${order.orderId}/pay`, {
      pan,
      expiry,
      cvv2,
      password: "123456",
    });
    const returnUrl = OrderStatus === 2 ? "http://shop.test/thanks?basket=7&" : "http://shop.test/sorry?";
    expect(payResponse).toEqual({ status: 200, body: { redirect_url: `${returnUrl}orderId=${order.orderId}` } });

    const maskedPan = `${pan.slice(0, 6)}**${pan.slice(-4)}`;
    const expiration = expiry.replace(/(\d\d)\/(\d{4})/, "$2$1");
    const deposit = OrderStatus === 2 ? 500_000 : 0;
    const confirmed = await call(sandbox.url, "public/acknowledgeTransaction.do", { mdOrder: order.orderId, language: "FR" });
    expect(confirmed).toEqual({
      ErrorCode,
      ErrorMessage: expect.any(String),
      OrderStatus,
      OrderNumber: order.orderNumber,
      Amount: 500_000,
      depositAmount: deposit,
      currency: "012",
      expiration,
      cardholderName: expect.any(String),
      Pan: maskedPan,
      authCode: 2,
      actionCode,
      actionCodeDescription: expect.stringMatching(/./),
      Ip: expect.any(String),
      ...(OrderStatus === 2 && { approvalCode: expect.stringMatching(/^\d{6}$/) }),
      params: { ...(respCode && { respCode, respCode_desc: confirmed.actionCodeDescription }), udf1: "basket-7" },
      ...(respCode && { SvfeResponse: respCode }),
    });
    expect(await call(sandbox.url, "confirmOrder.do", { orderId: order.orderId })).toEqual(
      OrderStatus === 2 ? { ...confirmed, ...alreadyConfirmed } : confirmed,
    );
    expect(await call(sandbox.url, "getOrderStatus.do", { orderId: order.orderId })).toEqual(confirmed);

    const extended = await call(sandbox.url, "getOrderStatusExtended.do", { orderNumber: order.orderNumber });
    expect(extended).toEqual({
      errorCode: 0,
      errorMessage: "Success",
      orderNumber: order.orderNumber,
      orderStatus: OrderStatus,
      actionCode,
      actionCodeDescription: confirmed.actionCodeDescription,
      amount: 500_000,
      currency: "012",
      date: expect.any(Number),
      ...(OrderStatus === 2 && { depositedDate: expect.any(Number) }),
      orderDescription: "Two tickets",
      ip: expect.any(String),
      attributes: [{ name: "mdOrder", value: order.orderId }],
      merchantOrderParams: [
        { name: "force_terminal_id", value: "E010900001" },
        { name: "udf1", value: "basket-7" },
      ],
      cardAuthInfo: {
        pan: maskedPan,
        expiration,
        cardholderName: expect.any(String),
        ...(confirmed.approvalCode && { approvalCode: confirmed.approvalCode }),
      },
      paymentAmountInfo: {
        paymentState: OrderStatus === 2 ? "DEPOSITED" : "DECLINED",
        approvedAmount: deposit,
        depositedAmount: deposit,
        refundedAmount: 0,
      },
    });
    expect(await call(sandbox.url, "getOrderStatusExtended.do", { orderId: order.orderId })).toEqual(extended);
  });
});

test.each(["public/acknowledgeTransaction.do", "confirmOrder.do"])(
  "%s returns error code 2 and the usual other fields when a paid or refunded order is confirmed again",
  async (path) => {
    const { orderId } = await payNewOrder(sandbox.url);
    const confirm = () => call(sandbox.url, path, { mdOrder: orderId });
    const firstResponse = await confirm();
    expect(firstResponse).toMatchObject({ ErrorCode: "0", OrderStatus: 2, params: { respCode: "00" } });
    expect(await confirm()).toEqual({ ...firstResponse, ...alreadyConfirmed });
    await call(sandbox.url, "refund.do", { orderId, amount: "200000" });
    expect(await confirm()).toEqual({ ...firstResponse, ...alreadyConfirmed, OrderStatus: 4 });
    expect(await call(sandbox.url, "getOrderStatus.do", { orderId })).toEqual({ ...firstResponse, OrderStatus: 4 });
  },
);

test("getOrderStatus.do returns no card and no response code for an order without a payment attempt", async () => {
  const order = await registerNewOrder(sandbox.url);
  const status = await call(sandbox.url, "getOrderStatus.do", { orderId: order.orderId });
  expect(status).toMatchObject({
    ErrorCode: "0",
    OrderStatus: 0,
    actionCode: -100,
    depositAmount: 0,
    params: { udf1: "basket-7" },
  });
  expect(Object.keys(status)).not.toEqual(expect.arrayContaining(["Pan"]));
  expect(Object.keys(status.params)).toEqual(["udf1"]);
});

test.each([
  ["FR", "Votre paiement a été accepté."],
  ["AR", "تم قبول عملية الدفع."],
  ["EN", "Your payment was accepted."],
])("getOrderStatus.do returns the text for the card holder in the order's language %s", async (language, text) => {
  const order = await payNewOrder(sandbox.url, { language });
  const status = await call(sandbox.url, "getOrderStatus.do", { orderId: order.orderId });
  expect(status.params.respCode_desc).toBe(text);
});

test.each([
  ["public/acknowledgeTransaction.do", { ErrorCode: "6", ErrorMessage: "Order not found" }],
  ["getOrderStatus.do", { ErrorCode: "6", ErrorMessage: "Order not found" }],
  ["getOrderStatusExtended.do", { errorCode: 6, errorMessage: "Order not found" }],
  ["refund.do", { errorCode: 6, errorMessage: "Order not found" }],
])("%s returns the error `Order not found` for an unknown order", async (path, response) => {
  expect(await call(sandbox.url, path, { orderId: "unknown", mdOrder: "unknown", amount: "5000" })).toEqual(response);
});

describe("refund", () => {
  const refund = (orderId: string, amount: string) => call(sandbox.url, "refund.do", { orderId, amount });
  const view = async (orderId: string) => (await control(sandbox.url, "GET", `payments/${orderId}`)).body;

  test("refund.do accepts partial refunds up to the deposited amount", async () => {
    const { orderId } = await payNewOrder(sandbox.url);
    expect(await refund(orderId, "200000")).toEqual({ errorCode: 0, errorMessage: "Success" });
    expect(await refund(orderId, "200000")).toMatchObject({ errorCode: 0 });
    expect(await refund(orderId, "100001")).toMatchObject({ errorCode: 7 });
    expect(await view(orderId)).toMatchObject({ orderStatus: 4, depositedAmount: 500_000, refundedAmount: 400_000 });
    expect(await refund(orderId, "100000")).toMatchObject({ errorCode: 0 });
    expect(await refund(orderId, "1")).toMatchObject({ errorCode: 7 });

    const extended = await call(sandbox.url, "getOrderStatusExtended.do", { orderId });
    expect(extended).toMatchObject({ orderStatus: 4, refundedDate: expect.any(Number) });
    expect(extended.paymentAmountInfo).toMatchObject({ paymentState: "REFUNDED", refundedAmount: 500_000 });
  });

  test("refund.do accepts exactly one of ten concurrent refunds of the whole amount", async () => {
    const { orderId } = await payNewOrder(sandbox.url);
    const responses = await Promise.all(Array.from({ length: 10 }, () => refund(orderId, "500000")));
    expect(responses.map(({ errorCode }) => errorCode).sort()).toEqual([0, 7, 7, 7, 7, 7, 7, 7, 7, 7]);
    expect(await view(orderId)).toMatchObject({ refundedAmount: 500_000 });
    const { calls } = await view(orderId);
    expect(calls.filter((received: { operation: string }) => received.operation === "refund")).toHaveLength(10);
  });

  test("refund.do returns error code 7 for an order that is not deposited", async () => {
    const { orderId } = await registerNewOrder(sandbox.url);
    expect(await refund(orderId, "5000")).toMatchObject({ errorCode: 7 });
  });

  test.each(["0", "-1", "10.5"])("refund.do returns error code 5 for the amount %s", async (amount) => {
    const { orderId } = await payNewOrder(sandbox.url);
    expect(await refund(orderId, amount)).toMatchObject({ errorCode: 5 });
  });
});

test("the sandbox with the setting numbersAsStrings returns every number of a response as a string", async () => {
  await using stringsSandbox = await aSandbox({ numbersAsStrings: true });
  const order = anOrder();
  const { orderId, errorCode } = await call(stringsSandbox.url, "register.do", order);
  await control(stringsSandbox.url, "POST", `payments/${orderId}/pay`, validCard);
  expect(errorCode).toBe("0");
  expect(await call(stringsSandbox.url, "confirmOrder.do", { orderId })).toMatchObject({
    OrderStatus: "2",
    Amount: "500000",
    actionCode: "0",
  });
  const extended = await call(stringsSandbox.url, "getOrderStatusExtended.do", { orderId });
  expect(extended).toMatchObject({ orderStatus: "2", paymentAmountInfo: { depositedAmount: "500000" } });
  expect(JSON.stringify(extended)).not.toMatch(/[:[,]-?\d/);
});
