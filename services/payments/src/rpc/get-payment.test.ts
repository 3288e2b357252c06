import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { platformCaller } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, eventually, refusal } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventFieldsOf, type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  // The processor sends numbers as JSON numbers or as strings. In this file, the sandbox sends
  // strings.
  harness = await startHarness({ numbersAsStrings: true });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

const readPayment = (id: string, caller: ReturnType<typeof aBusinessCaller>) => harness.payments.getPayment({ id }, { caller });
const passTenSeconds = (id: string) =>
  harness.sql("update payment set checked_at = checked_at - interval '10 seconds' where id = ?", [id]);

describe("getPayment for a PENDING payment", () => {
  test("getPayment confirms a paid order and returns PAID even before the card holder's browser has returned", async () => {
    const caller = aBusinessCaller();
    const { id, processorOrderId } = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(processorOrderId);
    const payment = await readPayment(id, caller);
    expect(payment).toMatchObject({
      status: PaymentStatus.PAID,
      respCode: "00",
      approvalCode: expect.stringMatching(/^\d{6}$/),
      maskedPan: "628058**7215",
    });
    expect((await harness.sandbox.order(processorOrderId)).confirmed).toBe(true);
    expect(await harness.readEvents(id)).toMatchObject([
      { type: PaymentEventType.PAYMENT_COMPLETED, payment: eventFieldsOf(payment) },
    ]);
  });

  test("getPayment and returnFromProcessor store the same details of a declined order", async () => {
    const caller = aBusinessCaller();
    const card = { pan: "6280581110006712", expiry: "01/2027", cvv2: "897" };
    const returnedPayment = await harness.aFinishedPayment(caller, card);
    const { id, processorOrderId } = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(processorOrderId, card);
    const payment = await readPayment(id, caller);
    const pickDetails = ({ status, actionCode, respCode, respCodeDesc, maskedPan, processorErrorCode }: typeof payment) => ({
      status,
      actionCode,
      respCode,
      respCodeDesc,
      maskedPan,
      processorErrorCode,
    });
    expect(pickDetails(payment)).toEqual(pickDetails(returnedPayment));
    expect(payment).toMatchObject({ status: PaymentStatus.REFUSED, respCode: "37", processorErrorCode: "3" });
  });

  test("getPayment reads the order at most once in ten seconds, even for ten concurrent callers", async () => {
    const caller = aBusinessCaller();
    const payment = await harness.aPendingPayment(caller);
    await Promise.all(Array.from({ length: 10 }, () => readPayment(payment.id, caller)));
    await readPayment(payment.id, caller);
    expect(await harness.countCalls(payment, "status")).toBe(1);
    await passTenSeconds(payment.id);
    await readPayment(payment.id, caller);
    expect(await harness.countCalls(payment, "status")).toBe(2);
    expect(await harness.countCalls(payment, "confirm")).toBe(0);
  });

  test("getPayment does not confirm an unpaid order", async () => {
    const caller = aBusinessCaller();
    const payment = await harness.aPendingPayment(caller);
    expect((await readPayment(payment.id, caller)).status).toBe(PaymentStatus.PENDING);
    expect((await harness.sandbox.order(payment.processorOrderId)).confirmed).toBe(false);
  });

  test.each(["http_500", "html_200", "truncated", "reset_after", "error:5"])(
    "getPayment returns the stored payment when status calls fail with %s",
    async (mode) => {
      const caller = aBusinessCaller();
      const { id, processorOrderId } = await harness.aPendingPayment(caller);
      await harness.sandbox.pay(processorOrderId);
      await harness.sandbox.fault("status", mode);
      expect((await readPayment(id, caller)).status).toBe(PaymentStatus.PENDING);
      await passTenSeconds(id);
      expect((await readPayment(id, caller)).status).toBe(PaymentStatus.PAID);
    },
  );

  test("getPayment returns the stored payment if the processor is slow, and records the response when it arrives", async () => {
    const caller = aBusinessCaller();
    const { id, processorOrderId } = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(processorOrderId);
    await harness.sandbox.fault("status", "slow:2500");
    await harness.sandbox.fault("confirm", "slow:1500");
    expect((await readPayment(id, caller)).status).toBe(PaymentStatus.PENDING);
    await eventually(async () => expect((await readPayment(id, caller)).status).toBe(PaymentStatus.PAID));
    expect(await harness.readEvents(id)).toHaveLength(1);
  });

  test("getPayment returns PENDING if the amount of the paid order differs from the payment's amount", async () => {
    const caller = aBusinessCaller();
    const { id, processorOrderId } = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(processorOrderId);
    await harness.sql("update payment set amount_minor = amount_minor + 1 where id = ?", [id]);
    expect((await readPayment(id, caller)).status).toBe(PaymentStatus.PENDING);
    expect(await harness.readEvents(id)).toEqual([]);
  });
});

test.each(["PAID", "FAILED", "REFUSED", "CANCELED", "EXPIRED"])(
  "getPayment does not read the order of a payment in status %s",
  async (status) => {
    const caller = aBusinessCaller();
    const payment = await harness.aPendingPayment(caller);
    await harness.sql("update payment set status = ? where id = ?", [status, payment.id]);
    await readPayment(payment.id, caller);
    expect(await harness.countCalls(payment, "status")).toBe(0);
  },
);

test("getPayment returns the same error for another business's payment, an unknown id and a malformed id", async () => {
  const payment = await harness.aPendingPayment();
  const otherCaller = aBusinessCaller();
  const unknownIdError = await refusal(readPayment(uuidv7(), otherCaller));
  expect(unknownIdError).toMatchObject({ kind: "not_found", code: "not_found" });
  for (const id of [payment.id, "", "1", `${uuidv7()}x`, "\0", "' or ''='"])
    expect(await refusal(readPayment(id, otherCaller))).toEqual(unknownIdError);
  expect(await harness.countCalls(payment, "status")).toBe(0);
});

test.each([
  ["an operator", adminCaller],
  ["the platform", platformCaller],
])("getPayment rejects %s as the caller", async (_name, caller) => {
  const error = await refusal(harness.payments.getPayment({ id: uuidv7() }, { caller }));
  expect(error).toMatchObject({ kind: "forbidden", code: "business_key_required" });
});
