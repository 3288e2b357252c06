import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { anOrder, aSandbox, call, control, payNewOrder, registerNewOrder, send } from "./a-sandbox.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await aSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());
afterEach(() => control(sandbox.url, "DELETE", "faults"));

const setFault = (operation: string, mode: string, times?: number) =>
  control(sandbox.url, "PUT", "faults", { operation, mode, times });
const activeFaults = async () => (await control(sandbox.url, "GET", "faults")).body.faults;
const refundedAmount = async (orderId: string) => (await control(sandbox.url, "GET", `payments/${orderId}`)).body.refundedAmount;
const refund = (orderId: string, signal?: AbortSignal) =>
  send(sandbox.url, "refund.do", { orderId, amount: "1000" }, signal ? { signal } : {});

describe("a refund with a fault", () => {
  test.each([
    ["timeout_before", 0],
    ["timeout_after", 1000],
  ])("refund.do with the fault %s sends no response and refunds %i centimes", async (mode, refunded) => {
    const { orderId } = await payNewOrder(sandbox.url);
    await setFault("refund", mode);
    await expect(refund(orderId, AbortSignal.timeout(300))).rejects.toMatchObject({ name: "TimeoutError" });
    expect(await refundedAmount(orderId)).toBe(refunded);
  });

  test("refund.do with the fault `reset_after` refunds the amount, and resets the connection in place of a response", async () => {
    const { orderId } = await payNewOrder(sandbox.url);
    await setFault("refund", "reset_after");
    await expect(refund(orderId)).rejects.toMatchObject({ cause: { code: "ECONNRESET" } });
    expect(await refundedAmount(orderId)).toBe(1000);
  });

  test("refund.do with the fault `truncated` refunds the amount, and sends only half of the response", async () => {
    const { orderId } = await payNewOrder(sandbox.url);
    await setFault("refund", "truncated");
    const response = await refund(orderId);
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(value?.length).toBe(Math.floor(Number(response.headers.get("content-length")) / 2));
    await expect(reader?.read()).rejects.toThrow();
    expect(await refundedAmount(orderId)).toBe(1000);
  });

  test.each([
    ["http_500", 500],
    ["http_503", 503],
    ["html_200", 200],
  ])("refund.do with the fault %s returns an HTML page and refunds nothing", async (mode, status) => {
    const { orderId } = await payNewOrder(sandbox.url);
    await setFault("refund", mode);
    const response = await refund(orderId);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toMatch(/^text\/html/);
    expect(await refundedAmount(orderId)).toBe(0);
  });

  test("refund.do with the fault `error:7` returns the processor's error code 7 and refunds nothing", async () => {
    const { orderId } = await payNewOrder(sandbox.url);
    await setFault("refund", "error:7");
    expect(await (await refund(orderId)).json()).toEqual({ errorCode: 7, errorMessage: "System error" });
    expect(await refundedAmount(orderId)).toBe(0);
  });

  test("refund.do with the fault `slow` refunds the amount immediately and responds later", async () => {
    const { orderId } = await payNewOrder(sandbox.url);
    await setFault("refund", "slow:60000");
    const connection = new AbortController();
    let isFinished = false;
    const slowRefund = refund(orderId, connection.signal).finally(() => {
      isFinished = true;
    });
    await expect.poll(() => refundedAmount(orderId)).toBe(1000);
    expect(isFinished).toBe(false);
    connection.abort();
    await expect(slowRefund).rejects.toThrow();

    await setFault("refund", "slow:20");
    expect(await (await refund(orderId)).json()).toMatchObject({ errorCode: 0 });
    expect(await refundedAmount(orderId)).toBe(2000);
  });

  test("the sandbox lists each call of refund.do in the order's received calls, even if a fault prevents the refund", async () => {
    const { orderId } = await payNewOrder(sandbox.url);
    await setFault("refund", "http_500", 2);
    await refund(orderId);
    await refund(orderId);
    await refund(orderId);
    const { calls } = (await control(sandbox.url, "GET", `payments/${orderId}`)).body;
    expect(calls.filter(({ operation }: { operation: string }) => operation === "refund")).toHaveLength(3);
    expect(await refundedAmount(orderId)).toBe(1000);
  });
});

describe("a late refund", () => {
  test("refund.do with the fault `late` sends no response, and refunds the amount once after the caller has disconnected", async () => {
    const { orderId } = await payNewOrder(sandbox.url);
    await setFault("refund", "late:4000");
    await expect(refund(orderId, AbortSignal.timeout(200))).rejects.toMatchObject({ name: "TimeoutError" });
    expect(await refundedAmount(orderId)).toBe(0);
    await expect.poll(() => refundedAmount(orderId)).toBe(1000);
    const { body } = await control(sandbox.url, "GET", `payments/${orderId}`);
    expect(body.refunds).toEqual([{ amount: 1000, at: expect.any(String), by: "client" }]);
  });

  test("refund.do with the fault `error_late` returns error code 7 immediately, and refunds the amount later", async () => {
    const { orderId } = await payNewOrder(sandbox.url);
    await setFault("refund", "error_late:4000");
    expect(await (await refund(orderId)).json()).toEqual({ errorCode: 7, errorMessage: "System error" });
    expect(await refundedAmount(orderId)).toBe(0);
    await expect.poll(() => refundedAmount(orderId)).toBe(1000);
  });

  test("refund.do with the fault `error_late` refunds nothing more if the order has been fully refunded before the delay ends", async () => {
    const { orderId } = await payNewOrder(sandbox.url);
    await setFault("refund", "error_late:300");
    await refund(orderId);
    await control(sandbox.url, "POST", `payments/${orderId}/refund`);
    await setFault("refund", "error_late:0");
    await refund(orderId);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await refundedAmount(orderId)).toBe(500_000);
  });

  test("refund.do with the fault `error_late` and a wrong password refunds nothing", async () => {
    const { orderId } = await payNewOrder(sandbox.url);
    await setFault("refund", "error_late:0");
    await send(sandbox.url, "refund.do", { orderId, amount: "1000", password: "wrong" });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await refundedAmount(orderId)).toBe(0);
  });
});

test("getOrderStatusExtended.do with the fault `stale` returns an earlier state of the order, and the order keeps its current state", async () => {
  const { orderId, orderNumber } = await payNewOrder(sandbox.url);
  const paidAt = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await refund(orderId);
  const readStale = async (ms: number, parameters: Record<string, string>) => {
    await setFault("status", `stale:${ms}`);
    return call(sandbox.url, "getOrderStatusExtended.do", parameters);
  };
  const statusBeforeRefund = { orderStatus: 2, paymentAmountInfo: { refundedAmount: 0 } };
  expect(await readStale(Date.now() - paidAt - 10, { orderId })).toMatchObject(statusBeforeRefund);
  expect(await readStale(Date.now() - paidAt - 10, { orderNumber })).toMatchObject(statusBeforeRefund);
  expect(await readStale(0, { orderId })).toMatchObject({ orderStatus: 4, paymentAmountInfo: { refundedAmount: 1000 } });
  expect(await readStale(86_400_000, { orderId })).toMatchObject({ errorCode: 6 });
  expect(await call(sandbox.url, "getOrderStatusExtended.do", { orderId })).toMatchObject({ orderStatus: 4 });
});

test("register.do with the fault `timeout_after` creates an order, and register.do with the fault `timeout_before` creates no order", async () => {
  for (const [mode, errorCode] of [
    ["timeout_before", 6],
    ["timeout_after", 0],
  ] as const) {
    const order = anOrder();
    await setFault("register", mode);
    await expect(send(sandbox.url, "register.do", order, { signal: AbortSignal.timeout(300) })).rejects.toThrow();
    expect(await call(sandbox.url, "getOrderStatusExtended.do", { orderNumber: order.orderNumber })).toMatchObject({ errorCode });
    const { body } = await control(sandbox.url, "GET", `payments?orderNumber=${order.orderNumber}`);
    expect(body.calls.map(({ operation }: { operation: string }) => operation)).toEqual(["register", "status"]);
  }
});

test("a sandbox fault of the operation `confirm` affects both confirmOrder.do and acknowledgeTransaction.do", async () => {
  const { orderId } = await payNewOrder(sandbox.url);
  await setFault("confirm", "error:2", 2);
  const refusal = { ErrorCode: "2", ErrorMessage: "Payment is declined" };
  expect(await call(sandbox.url, "confirmOrder.do", { orderId })).toEqual(refusal);
  expect(await call(sandbox.url, "public/acknowledgeTransaction.do", { mdOrder: orderId })).toEqual(refusal);
  expect(await call(sandbox.url, "confirmOrder.do", { orderId })).toMatchObject({ OrderStatus: 2 });
});

test("a sandbox fault of the operation `status` affects only getOrderStatus.do and getOrderStatusExtended.do, in the error format of each call", async () => {
  const { orderId } = await registerNewOrder(sandbox.url);
  await setFault("status", "error:7", 2);
  expect(await call(sandbox.url, "getOrderStatus.do", { orderId })).toMatchObject({ ErrorCode: "7" });
  expect(await call(sandbox.url, "confirmOrder.do", { orderId })).toMatchObject({ ErrorCode: "0" });
  expect(await call(sandbox.url, "getOrderStatusExtended.do", { orderId })).toMatchObject({ errorCode: 7 });
  expect(await call(sandbox.url, "getOrderStatus.do", { orderId })).toMatchObject({ ErrorCode: "0" });
});

test("PUT /sandbox/faults replaces an operation's earlier fault, and DELETE /sandbox/faults with an operation removes only this operation's fault", async () => {
  await setFault("refund", "http_500", 5);
  await setFault("refund", "http_503", 2);
  await setFault("status", "html_200");
  expect(await activeFaults()).toEqual([
    { operation: "refund", mode: "http_503", times: 2 },
    { operation: "status", mode: "html_200", times: 1 },
  ]);
  await control(sandbox.url, "DELETE", "faults?operation=refund");
  expect(await activeFaults()).toEqual([{ operation: "status", mode: "html_200", times: 1 }]);
  await control(sandbox.url, "DELETE", "faults");
  expect(await activeFaults()).toEqual([]);
});

test("a sandbox fault for one order affects only calls for this order, and has priority over a fault for all orders", async () => {
  const [affectedOrder, otherOrder] = [await payNewOrder(sandbox.url), await payNewOrder(sandbox.url)];
  const fault = { operation: "refund", mode: "error:5", times: 1, orderId: affectedOrder.orderId };
  await control(sandbox.url, "PUT", "faults", fault);
  expect(await activeFaults()).toEqual([fault]);
  expect(await (await refund(otherOrder.orderId)).json()).toMatchObject({ errorCode: 0 });
  await setFault("refund", "error:6");
  expect(await (await refund(affectedOrder.orderId)).json()).toMatchObject({ errorCode: 5 });
  expect(await (await refund(affectedOrder.orderId)).json()).toMatchObject({ errorCode: 6 });
  expect(await (await refund(affectedOrder.orderId)).json()).toMatchObject({ errorCode: 0 });
});

test.each([
  [{ operation: "payout", mode: "http_500" }],
  [{ operation: "refund", mode: "explode" }],
  [{ operation: "refund", mode: "slow:" }],
  [{ operation: "refund", mode: "slow:999999" }],
  [{ operation: "refund", mode: "error:x" }],
  [{ operation: "refund", mode: "late:-1" }],
  [{ operation: "refund", mode: "late:86400001" }],
  [{ operation: "refund", mode: "stale:100" }],
  [{ operation: "refund", mode: "http_500", times: 0 }],
  [{}],
])("PUT /sandbox/faults returns status 422 with the permitted values for the invalid fault %j", async (body) => {
  const response = await control(sandbox.url, "PUT", "faults", body);
  expect(response).toMatchObject({ status: 422, body: { message: expect.stringMatching(/must be/) } });
  expect(await activeFaults()).toEqual([]);
});
