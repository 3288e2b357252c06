import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { platformCaller } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, eventually, refusal } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  // The processor sends numbers as JSON numbers or as strings; this file tests strings.
  harness = await startHarness({ numbersAsStrings: true });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

const read = (id: string, caller: ReturnType<typeof aBusinessCaller>) => harness.payments.getPayment({ id }, { caller });
const passTenSeconds = (id: string) =>
  harness.sql("update payment set checked_at = checked_at - interval '10 seconds' where id = ?", [id]);

describe("getPayment, for a PENDING payment", () => {
  test("confirms a paid order and returns PAID when no browser has returned", async () => {
    const caller = aBusinessCaller();
    const { id, processorOrderId } = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(processorOrderId);
    const payment = await read(id, caller);
    expect(payment).toMatchObject({
      status: PaymentStatus.PAID,
      respCode: "00",
      approvalCode: expect.stringMatching(/^\d{6}$/),
      maskedPan: "628058**7215",
    });
    expect((await harness.sandbox.order(processorOrderId)).confirmed).toBe(true);
    expect(await harness.events(id)).toMatchObject([{ type: PaymentEventType.PAYMENT_COMPLETED, payment }]);
  });

  test("stores the same details of a declined order as a return of the browser", async () => {
    const caller = aBusinessCaller();
    const card = { pan: "6280581110006712", expiry: "01/2027", cvv2: "897" };
    const returned = await harness.aFinishedPayment(caller, card);
    const { id, processorOrderId } = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(processorOrderId, card);
    const payment = await read(id, caller);
    const details = ({ status, actionCode, respCode, respCodeDesc, maskedPan, processorErrorCode }: typeof payment) => ({
      status,
      actionCode,
      respCode,
      respCodeDesc,
      maskedPan,
      processorErrorCode,
    });
    expect(details(payment)).toEqual(details(returned));
    expect(payment).toMatchObject({ status: PaymentStatus.REFUSED, respCode: "37", processorErrorCode: "3" });
  });

  test("reads the order at most once in ten seconds, also for ten concurrent callers", async () => {
    const caller = aBusinessCaller();
    const payment = await harness.aPendingPayment(caller);
    await Promise.all(Array.from({ length: 10 }, () => read(payment.id, caller)));
    await read(payment.id, caller);
    expect(await harness.calls(payment, "status")).toBe(1);
    await passTenSeconds(payment.id);
    await read(payment.id, caller);
    expect(await harness.calls(payment, "status")).toBe(2);
    expect(await harness.calls(payment, "confirm")).toBe(0);
  });

  test("does not confirm an unpaid order", async () => {
    const caller = aBusinessCaller();
    const payment = await harness.aPendingPayment(caller);
    expect((await read(payment.id, caller)).status).toBe(PaymentStatus.PENDING);
    expect((await harness.sandbox.order(payment.processorOrderId)).confirmed).toBe(false);
  });

  test.each(["http_500", "html_200", "truncated", "reset_after", "error:5"])(
    "returns the stored payment when the processor returns no state: status %s",
    async (mode) => {
      const caller = aBusinessCaller();
      const { id, processorOrderId } = await harness.aPendingPayment(caller);
      await harness.sandbox.pay(processorOrderId);
      await harness.sandbox.fault("status", mode);
      expect((await read(id, caller)).status).toBe(PaymentStatus.PENDING);
      await passTenSeconds(id);
      expect((await read(id, caller)).status).toBe(PaymentStatus.PAID);
    },
  );

  test("returns the stored payment when the processor is slow, and records the later response", async () => {
    const caller = aBusinessCaller();
    const { id, processorOrderId } = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(processorOrderId);
    await harness.sandbox.fault("status", "slow:2500");
    await harness.sandbox.fault("confirm", "slow:1500");
    expect((await read(id, caller)).status).toBe(PaymentStatus.PENDING);
    await eventually(async () => expect((await read(id, caller)).status).toBe(PaymentStatus.PAID));
    expect(await harness.events(id)).toHaveLength(1);
  });

  test("returns PENDING when the order has another amount", async () => {
    const caller = aBusinessCaller();
    const { id, processorOrderId } = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(processorOrderId);
    await harness.sql("update payment set amount_minor = amount_minor + 1 where id = ?", [id]);
    expect((await read(id, caller)).status).toBe(PaymentStatus.PENDING);
    expect(await harness.events(id)).toEqual([]);
  });
});

test.each(["PAID", "FAILED", "REFUSED", "CANCELED", "EXPIRED"])(
  "getPayment does not read the order of a payment that is %s",
  async (status) => {
    const caller = aBusinessCaller();
    const payment = await harness.aPendingPayment(caller);
    await harness.sql("update payment set status = ? where id = ?", [status, payment.id]);
    await read(payment.id, caller);
    expect(await harness.calls(payment, "status")).toBe(0);
  },
);

test("getPayment returns the same refusal for another business's payment, an unknown id and a malformed id", async () => {
  const payment = await harness.aPendingPayment();
  const stranger = aBusinessCaller();
  const unknown = await refusal(read(uuidv7(), stranger));
  expect(unknown).toMatchObject({ kind: "not_found", code: "not_found" });
  for (const id of [payment.id, "", "1", `${uuidv7()}x`, "\0", "' or ''='"])
    expect(await refusal(read(id, stranger))).toEqual(unknown);
  expect(await harness.calls(payment, "status")).toBe(0);
});

test.each([
  ["an operator", adminCaller],
  ["the platform", platformCaller],
])("getPayment rejects %s", async (_name, caller) => {
  const refused = await refusal(harness.payments.getPayment({ id: uuidv7() }, { caller }));
  expect(refused).toMatchObject({ kind: "forbidden", code: "business_key_required" });
});
