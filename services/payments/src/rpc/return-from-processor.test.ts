import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { platformCaller } from "@amana/rpc";
import { aBusinessCaller, adminCaller, eventually, refusal } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventFieldsOf, type Harness, startHarness } from "../../test/harness.ts";
import { credentials } from "../../test/sandbox.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ satimTimeoutMs: 2_000 });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

const readPayment = (id: string, caller: ReturnType<typeof aBusinessCaller>) => harness.payments.getPayment({ id }, { caller });
const readEventTypes = async (id: string) => (await harness.readEvents(id)).map(({ type }) => type);

describe("returnFromProcessor", () => {
  test("returnFromProcessor confirms a paid payment, emits an event and redirects to success_url", async () => {
    const caller = aBusinessCaller();
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const { id, processorOrderId } = await harness.payments.createPayment(
      { amountMinor: 500_000n, successUrl: "https://shop.test/thanks", failUrl: "https://shop.test/sorry", language: "FR" },
      { caller, traceparent, timeoutMs: 20_000 },
    );
    await harness.sandbox.pay(processorOrderId);
    expect(String(await harness.returnFromProcessor(id))).toBe(`https://shop.test/thanks?payment_id=${id}&status=PAID`);
    expect(await harness.sandbox.order(processorOrderId)).toMatchObject({ confirmed: true, orderStatus: 2 });
    const payment = await readPayment(id, caller);
    expect(payment).toMatchObject({ status: PaymentStatus.PAID, paidAtMs: expect.any(BigInt) });
    const [completedEvent, ...otherEvents] = await harness.readEvents(id);
    expect(completedEvent).toMatchObject({
      type: PaymentEventType.PAYMENT_COMPLETED,
      payment: { ...eventFieldsOf(payment), successUrl: "", failUrl: "" },
      traceparent,
    });
    expect(otherEvents).toEqual([]);
  });

  test("returnFromProcessor redirects to fail_url with the status CANCELED when the card holder has canceled the payment", async () => {
    const payment = await harness.aPendingPayment();
    await harness.sandbox.cancel(payment.processorOrderId);
    expect(String(await harness.returnFromProcessor(payment.id))).toBe(
      `https://shop.test/sorry?payment_id=${payment.id}&status=CANCELED`,
    );
    expect(await readEventTypes(payment.id)).toEqual([PaymentEventType.PAYMENT_CANCELED]);
  });

  test("returnFromProcessor redirects with the status PENDING before the buyer pays, and with the status PAID after the payment", async () => {
    const caller = aBusinessCaller();
    const payment = await harness.aPendingPayment(caller);
    expect((await harness.returnFromProcessor(payment.id)).searchParams.get("status")).toBe("PENDING");
    expect(await readEventTypes(payment.id)).toEqual([]);
    await harness.sandbox.pay(payment.processorOrderId);
    expect((await harness.returnFromProcessor(payment.id)).searchParams.get("status")).toBe("PAID");
    expect(await readEventTypes(payment.id)).toEqual([PaymentEventType.PAYMENT_COMPLETED]);
  });

  test("returnFromProcessor returns the same URL if the buyer reloads the page, and does not confirm the order again", async () => {
    const payment = await harness.aPendingPayment();
    await harness.sandbox.pay(payment.processorOrderId);
    const firstUrl = await harness.returnFromProcessor(payment.id);
    expect(await harness.returnFromProcessor(payment.id)).toEqual(firstUrl);
    expect(await harness.countCalls(payment, "confirm")).toBe(1);
    expect(await readEventTypes(payment.id)).toHaveLength(1);
  });

  test("returnFromProcessor confirms a paid order once for ten concurrent returns", async () => {
    const payment = await harness.aPendingPayment();
    await harness.sandbox.pay(payment.processorOrderId);
    const urls = await Promise.all(Array.from({ length: 10 }, () => harness.returnFromProcessor(payment.id)));
    expect(new Set(urls.map(String))).toEqual(new Set([`https://shop.test/thanks?payment_id=${payment.id}&status=PAID`]));
    expect(await harness.countCalls(payment, "confirm")).toBe(1);
    expect(await readEventTypes(payment.id)).toHaveLength(1);
  });

  test("returnFromProcessor confirms an unpaid order at most twice for ten concurrent returns", async () => {
    const payment = await harness.aPendingPayment();
    await harness.sandbox.fault("confirm", "slow:500");
    const urls = await Promise.all(Array.from({ length: 10 }, () => harness.returnFromProcessor(payment.id)));
    expect(new Set(urls.map((url) => url.searchParams.get("status")))).toEqual(new Set(["PENDING"]));
    expect(await harness.countCalls(payment, "confirm")).toBeLessThanOrEqual(2);
    await harness.sandbox.pay(payment.processorOrderId);
    expect((await harness.returnFromProcessor(payment.id)).searchParams.get("status")).toBe("PAID");
  });

  test("returnFromProcessor redirects to success_url with the status REFUNDED after a refund", async () => {
    const caller = aBusinessCaller();
    const payment = await harness.aFinishedPayment(caller);
    await harness.payments.refundPayment({ id: payment.id }, { caller, timeoutMs: 20_000 });
    expect(String(await harness.returnFromProcessor(payment.id))).toBe(
      `https://shop.test/thanks?payment_id=${payment.id}&status=REFUNDED`,
    );
  });

  test("returnFromProcessor sets an EXPIRED payment to PAID and emits an event when the order is paid", async () => {
    const caller = aBusinessCaller();
    const payment = await harness.aPendingPayment(caller);
    await harness.sql("update payment set status = 'EXPIRED', next_check_at = null where id = ?", [payment.id]);
    await harness.sandbox.pay(payment.processorOrderId);
    expect((await harness.returnFromProcessor(payment.id)).searchParams.get("status")).toBe("PAID");
    expect(await readPayment(payment.id, caller)).toMatchObject({ status: PaymentStatus.PAID });
    expect(await readEventTypes(payment.id)).toEqual([PaymentEventType.PAYMENT_COMPLETED]);
  });

  test("returnFromProcessor emits PAYMENT_COMPLETED and PAYMENT_REFUNDED if the processor has already refunded part of the amount", async () => {
    const caller = aBusinessCaller();
    const payment = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(payment.processorOrderId);
    await harness.sandbox.refundExternally(payment.processorOrderId, "1200.00");
    expect((await harness.returnFromProcessor(payment.id)).searchParams.get("status")).toBe("REFUNDED");
    expect(await readPayment(payment.id, caller)).toMatchObject({ refundedAmountMinor: 120_000n });
    expect(await harness.readEvents(payment.id)).toMatchObject([
      { type: PaymentEventType.PAYMENT_COMPLETED, payment: { status: PaymentStatus.PAID } },
      {
        type: PaymentEventType.PAYMENT_REFUNDED,
        payment: { status: PaymentStatus.REFUNDED, refundedAmountMinor: 120_000n, origin: "PROCESSOR" },
      },
    ]);
  });

  test.each([
    ["https://shop.test/a?q=a%20b&flag&sig=%7e%2B", "https://shop.test/a?q=a%20b&flag&sig=%7e%2B&"],
    ["https://shop.test/a?status=mine#part", "https://shop.test/a?status=mine&", "#part"],
    ["https://shop.test", "https://shop.test/?"],
  ])(
    "returnFromProcessor appends its parameters to the query of the business's URL %s, and keeps the existing query unchanged",
    async (failUrl, expectedStart, expectedEnd = "") => {
      const { id } = await harness.aPendingPayment(aBusinessCaller(), { failUrl });
      const token = await harness.readReturnToken(id);
      const { redirectUrl } = await harness.payments.returnFromProcessor({ token }, { caller: platformCaller });
      expect(redirectUrl).toBe(`${expectedStart}payment_id=${id}&status=PENDING${expectedEnd}`);
    },
  );
});

describe("returnFromProcessor with an unknown outcome", () => {
  test.each([
    "timeout_before",
    "timeout_after",
    "reset_after",
    "http_500",
    "http_503",
    "html_200",
    "truncated",
    "error:5",
    "error:7",
  ])(
    "returnFromProcessor redirects with the status PENDING if the confirm fails with %s, and settles the payment when the page is reloaded",
    async (mode) => {
      const payment = await harness.aPendingPayment();
      await harness.sandbox.pay(payment.processorOrderId);
      await harness.sandbox.fault("confirm", mode);
      expect(String(await harness.returnFromProcessor(payment.id))).toBe(
        `https://shop.test/sorry?payment_id=${payment.id}&status=PENDING`,
      );
      expect(await readEventTypes(payment.id)).toEqual([]);
      expect((await harness.returnFromProcessor(payment.id)).searchParams.get("status")).toBe("PAID");
      expect(await readEventTypes(payment.id)).toEqual([PaymentEventType.PAYMENT_COMPLETED]);
      expect(await harness.countCalls(payment, "confirm")).toBe(2);
    },
  );

  test.each(["timeout_after", "reset_after", "truncated"])(
    "reconcilePayments settles a payment whose confirm took effect but got no usable response (%s), even if the buyer's browser does not return",
    async (mode) => {
      const caller = aBusinessCaller();
      const payment = await harness.aPendingPayment(caller);
      await harness.sandbox.pay(payment.processorOrderId);
      await harness.sandbox.fault("confirm", mode);
      await harness.returnFromProcessor(payment.id);
      expect(await harness.sandbox.order(payment.processorOrderId)).toMatchObject({ confirmed: true });
      expect(await readEventTypes(payment.id)).toEqual([]);
      await harness.sql("update payment set next_check_at = now() where id = ?", [payment.id]);
      await using _job = harness.startReconciler();
      await eventually(async () => expect(await readEventTypes(payment.id)).toEqual([PaymentEventType.PAYMENT_COMPLETED]));
      expect(await harness.countCalls(payment, "confirm")).toBe(2);
      const settledPayment = await readPayment(payment.id, caller);
      expect(settledPayment).toMatchObject({ status: PaymentStatus.PAID, respCode: "00" });
      expect(settledPayment.processorErrorCode).toBeUndefined();
      expect((await harness.returnFromProcessor(payment.id)).searchParams.get("status")).toBe("PAID");
    },
  );

  test("returnFromProcessor emits PAYMENT_COMPLETED and PAYMENT_REFUNDED if the order was refunded after a confirm whose response was lost", async () => {
    const payment = await harness.aPendingPayment();
    await harness.sandbox.pay(payment.processorOrderId);
    await harness.sandbox.fault("confirm", "reset_after");
    await harness.returnFromProcessor(payment.id);
    await harness.sandbox.refundExternally(payment.processorOrderId, "1200.00");
    expect((await harness.returnFromProcessor(payment.id)).searchParams.get("status")).toBe("REFUNDED");
    expect(await readEventTypes(payment.id)).toEqual([PaymentEventType.PAYMENT_COMPLETED, PaymentEventType.PAYMENT_REFUNDED]);
  });

  test("returnFromProcessor redirects with the status PENDING before the deadline if another process has the payment's lease", async () => {
    const payment = await harness.aPendingPayment();
    await harness.sql(
      "update payment set leased_until = now() + interval '1 hour', lease_token = gen_random_uuid() where id = ?",
      [payment.id],
    );
    expect((await harness.returnFromProcessor(payment.id, 2_000)).searchParams.get("status")).toBe("PENDING");
    expect(await harness.countCalls(payment, "confirm")).toBe(0);
  });
});

describe("returnFromProcessor with the test cards of the protocol", () => {
  test.each([
    ["valid", "6280581110007215", "01/2027", "373", "PAID", "0", "00", undefined],
    ["valid", "6280580610061011", "01/2027", "992", "PAID", "0", "00", undefined],
    ["blocked", "6280581110006712", "01/2027", "897", "REFUSED", "203", "37", "3"],
    ["lost", "6280581110006316", "01/2027", "657", "REFUSED", "208", "41", "3"],
    ["stolen", "6280581110006415", "01/2027", "958", "REFUSED", "209", "43", "3"],
    ["wrong expiry", "6280581110006613", "08/2027", "411", "REFUSED", "-1", "AD", "3"],
    ["unknown to issuer", "6280581110003927", "01/2025", "834", "REFUSED", "125", "62", "3"],
    ["limit exceeded", "6280580610061219", "01/2027", "049", "REFUSED", "121", "61", "3"],
    ["insufficient balance", "6280580610061110", "01/2027", "260", "REFUSED", "116", "51", "3"],
    ["wrong CVV2", "6280581110006514", "01/2027", "205", "REFUSED", "111", "AB", "3"],
    ["three wrong passwords", "6280580610061318", "01/2027", "930", "REFUSED", "2003", undefined, "3"],
    ["not authorised online", "6280581110007017", "01/2027", "632", "REFUSED", "2003", undefined, "3"],
    ["not active online", "6280581110007116", "01/2027", "040", "REFUSED", "-1", "AE", "3"],
    ["terminal ceiling", "6280581110007314", "01/2027", "821", "REFUSED", "-2006", undefined, "3"],
    ["expired", "6280580610056615", "12/2022", "428", "REFUSED", "101", "33", "3"],
  ] as const)(
    "returnFromProcessor stores the status and codes of a payment with the test card: %s, %s",
    async (_name, pan, expiry, cvv2, status, actionCode, respCode, errorCode) => {
      const caller = aBusinessCaller();
      const { id, processorOrderId } = await harness.aPendingPayment(caller);
      await harness.sandbox.pay(processorOrderId, { pan, expiry, cvv2 });
      const url = await harness.returnFromProcessor(id);
      const payment = await readPayment(id, caller);
      const isPaid = status === "PAID";
      expect(url.pathname).toBe(isPaid ? "/thanks" : "/sorry");
      expect(url.searchParams.get("status")).toBe(status);
      expect(payment).toMatchObject({
        status: PaymentStatus[status],
        actionCode,
        actionCodeDescription: expect.stringMatching(/\p{L}/u),
        maskedPan: `${pan.slice(0, 6)}**${pan.slice(-4)}`,
        cardBrand: "CIB",
        processorOrderStatus: isPaid ? 2 : 6,
      });
      expect(payment.respCode).toBe(respCode);
      expect(payment.respCodeDesc === undefined).toBe(respCode === undefined);
      expect(payment.processorErrorCode).toBe(errorCode);
      expect(payment.approvalCode ?? "").toMatch(isPaid ? /^\d{6}$/ : /^$/);
      expect(payment.paidAtMs === undefined).toBe(!isPaid);
      expect(await readEventTypes(id)).toEqual([isPaid ? PaymentEventType.PAYMENT_COMPLETED : PaymentEventType.PAYMENT_REFUSED]);
      const [row] = await harness.sql("select * from payment where id = ?", [id]);
      const storedText = JSON.stringify(row);
      expect(storedText).not.toContain(pan);
      expect(storedText).not.toContain(credentials.password);
    },
  );
});

describe("returnFromProcessor with a rejected request", () => {
  test.each(["", "x", "A".repeat(43), "a\0b", `${"A".repeat(42)}\0`, "' or ''='"])(
    "returnFromProcessor rejects the unknown token %j",
    async (token) => {
      const error = await refusal(harness.payments.returnFromProcessor({ token }, { caller: platformCaller }));
      expect(error).toMatchObject({ kind: "not_found", code: "not_found" });
    },
  );

  test.each([
    ["a business", aBusinessCaller()],
    ["an operator", adminCaller],
  ])("returnFromProcessor rejects %s as the caller", async (_name, caller) => {
    const payment = await harness.aPendingPayment();
    const token = await harness.readReturnToken(payment.id);
    const error = await refusal(harness.payments.returnFromProcessor({ token }, { caller }));
    expect(error).toMatchObject({ kind: "forbidden", code: "platform_required" });
  });
});
