import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { platformCaller } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, eventually, refusal } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  // The real processor sends its numbers either way; here they are texts.
  harness = await startHarness({ numbersAsStrings: true });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

const read = (id: string, caller: ReturnType<typeof aBusinessCaller>) => harness.payments.getPayment({ id }, { caller });
const tenSecondsPass = (id: string) =>
  harness.sql("update payment set checked_at = checked_at - interval '10 seconds' where id = ?", [id]);

describe("a PENDING payment", () => {
  test("that was paid is confirmed and PAID, though no browser came back", async () => {
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

  test("that was declined ends with the details that a return would bring", async () => {
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

  test("is refreshed at most once in ten seconds, also by ten readers at once", async () => {
    const caller = aBusinessCaller();
    const payment = await harness.aPendingPayment(caller);
    await Promise.all(Array.from({ length: 10 }, () => read(payment.id, caller)));
    await read(payment.id, caller);
    expect(await harness.calls(payment, "status")).toBe(1);
    await tenSecondsPass(payment.id);
    await read(payment.id, caller);
    expect(await harness.calls(payment, "status")).toBe(2);
    expect(await harness.calls(payment, "confirm")).toBe(0);
  });

  test("is not confirmed by a read as long as nobody pays", async () => {
    const caller = aBusinessCaller();
    const payment = await harness.aPendingPayment(caller);
    expect((await read(payment.id, caller)).status).toBe(PaymentStatus.PENDING);
    expect((await harness.sandbox.order(payment.processorOrderId)).confirmed).toBe(false);
  });

  test.each(["http_500", "html_200", "truncated", "reset_after", "error:5"])(
    "is answered as stored when the processor says nothing usable: status %s",
    async (mode) => {
      const caller = aBusinessCaller();
      const { id, processorOrderId } = await harness.aPendingPayment(caller);
      await harness.sandbox.pay(processorOrderId);
      await harness.sandbox.fault("status", mode);
      expect((await read(id, caller)).status).toBe(PaymentStatus.PENDING);
      await tenSecondsPass(id);
      expect((await read(id, caller)).status).toBe(PaymentStatus.PAID);
    },
  );

  test("is answered as stored when the processor is slow, and what it says later is recorded", async () => {
    const caller = aBusinessCaller();
    const { id, processorOrderId } = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(processorOrderId);
    await harness.sandbox.fault("status", "slow:2500");
    await harness.sandbox.fault("confirm", "slow:1500");
    expect((await read(id, caller)).status).toBe(PaymentStatus.PENDING);
    await eventually(async () => expect((await read(id, caller)).status).toBe(PaymentStatus.PAID));
    expect(await harness.events(id)).toHaveLength(1);
  });

  test("with another amount at the processor stays PENDING", async () => {
    const caller = aBusinessCaller();
    const { id, processorOrderId } = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(processorOrderId);
    await harness.sql("update payment set amount_minor = amount_minor + 1 where id = ?", [id]);
    expect((await read(id, caller)).status).toBe(PaymentStatus.PENDING);
    expect(await harness.events(id)).toEqual([]);
  });
});

test.each(["PAID", "FAILED", "REFUSED", "CANCELED", "EXPIRED"])(
  "a payment that is %s is read without the processor",
  async (status) => {
    const caller = aBusinessCaller();
    const payment = await harness.aPendingPayment(caller);
    await harness.sql("update payment set status = ? where id = ?", [status, payment.id]);
    await read(payment.id, caller);
    expect(await harness.calls(payment, "status")).toBe(0);
  },
);

test("another business gets exactly what an unknown id gets, and so does what cannot be an id", async () => {
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
])("%s is refused", async (_name, caller) => {
  const refused = await refusal(harness.payments.getPayment({ id: uuidv7() }, { caller }));
  expect(refused).toMatchObject({ kind: "forbidden", code: "business_key_required" });
});
