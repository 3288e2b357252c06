import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { type Payment, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { aBusinessCaller, eventually, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { aPaymentRequest, type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ satimTimeoutMs: 2_000 });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

type Caller = ReturnType<typeof aBusinessCaller>;

const createPayment = (caller: Caller, key = "k") =>
  harness.payments.createPayment(aPaymentRequest, withIdempotencyKey(caller, key));

async function readOnlyPayment(caller: Caller): Promise<Payment> {
  const { payments } = await harness.payments.listPayments({ limit: 10 }, { caller });
  if (payments.length !== 1 || !payments[0]) throw new Error(`expected one payment, got ${payments.length}`);
  return payments[0];
}

/** Makes the next check of the business's payment due immediately. */
const makeDue = ({ businessId }: Caller) =>
  harness.sql("update payment set next_check_at = now() where business_id = ?", [businessId]);

const readOperations = async ({ processorOrderNumber }: Payment) =>
  (await harness.sandbox.byNumber(processorOrderNumber)).calls.map(({ operation }) => operation);

describe("registerOrder after a lost response", () => {
  test.each(["timeout_after", "reset_after", "truncated"])(
    "registerOrder finds the registered order by its number if the fault %s loses the response to the registration",
    async (mode) => {
      await harness.sandbox.fault("register", mode);
      const payment = await createPayment(aBusinessCaller());
      const order = await harness.sandbox.byNumber(payment.processorOrderNumber);
      expect(payment).toMatchObject({
        status: PaymentStatus.PENDING,
        processorOrderId: order.orderId,
        formUrl: order.formUrl,
      });
      expect(await readOperations(payment)).toEqual(["register", "status"]);
    },
  );

  test.each(["timeout_before", "http_500", "http_503", "html_200"])(
    "registerOrder registers the order again with the same number if the fault %s prevented the first registration",
    async (mode) => {
      await harness.sandbox.fault("register", mode);
      const payment = await createPayment(aBusinessCaller());
      const order = await harness.sandbox.byNumber(payment.processorOrderNumber);
      expect(payment).toMatchObject({ processorOrderId: order.orderId, formUrl: order.formUrl });
      expect(await readOperations(payment)).toEqual(["register", "status", "register"]);
    },
  );
});

describe("registerOrder with a lasting unknown outcome", () => {
  test.each([
    ["the order look-up fails with status 500", "reset_after", "http_500"],
    ["the processor refuses the order look-up", "reset_after", "error:5"],
    ["the response to the order look-up is truncated", "truncated", "truncated"],
  ])(
    "createPayment returns processor_outcome_unknown if %s, and later returns the payment for the same Idempotency-Key",
    async (_name, registerMode, statusMode) => {
      const caller = aBusinessCaller();
      await harness.sandbox.fault("register", registerMode);
      await harness.sandbox.fault("status", statusMode);
      const error = await refusal(createPayment(caller));
      const pendingPayment = await readOnlyPayment(caller);
      expect(error).toMatchObject({
        kind: "outcome_unknown",
        code: "processor_outcome_unknown",
        members: { payment_id: pendingPayment.id },
      });
      expect(pendingPayment).toMatchObject({ status: PaymentStatus.PENDING });
      expect(pendingPayment).not.toHaveProperty("formUrl");
      expect(await refusal(createPayment(caller))).toMatchObject({ kind: "conflict", code: "idempotency_in_progress" });

      await makeDue(caller);
      await using _job = harness.startReconciler();
      const payment = await eventually(() => createPayment(caller));
      const order = await harness.sandbox.byNumber(payment.processorOrderNumber);
      expect(payment).toMatchObject({ id: pendingPayment.id, processorOrderId: order.orderId, formUrl: order.formUrl });
      const repeatedOptions = withIdempotencyKey(caller, "k");
      expect(await harness.payments.createPayment(aPaymentRequest, repeatedOptions)).toEqual(payment);
      expect(repeatedOptions.replayed).toBe(true);
      expect(await readOnlyPayment(caller)).toEqual(payment);
      expect(await readOperations(payment)).toEqual(["register", "status", "status"]);
    },
  );

  test("registerOrder looks up the order before it sends a third registration with the same order number", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("register", "html_200", 2);
    expect(await refusal(createPayment(caller))).toMatchObject({ code: "processor_outcome_unknown" });
    await makeDue(caller);
    await using _job = harness.startReconciler();
    const payment = await eventually(() => createPayment(caller));
    expect(payment.formUrl).toBeDefined();
    expect(await readOperations(payment)).toEqual(["register", "status", "register", "status", "status", "register"]);
  });

  test("registerOrder sets FAILED and emits one event when the processor refuses a repeated registration", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("register", "html_200", 2);
    expect(await refusal(createPayment(caller))).toMatchObject({ code: "processor_outcome_unknown" });
    await harness.sandbox.fault("register", "error:7");
    await makeDue(caller);
    await using _job = harness.startReconciler();
    const { id } = await readOnlyPayment(caller);
    await eventually(async () => expect(await refusal(createPayment(caller))).toMatchObject({ code: "processor_error" }));
    expect(await readOnlyPayment(caller)).toMatchObject({ status: PaymentStatus.FAILED, processorErrorCode: "7" });
    expect(await harness.readEvents(id)).toMatchObject([{ type: PaymentEventType.PAYMENT_FAILED }]);
  });

  test("registerOrder sets EXPIRED and emits one event if no order exists when the time to pay is over", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("register", "html_200", 2);
    expect(await refusal(createPayment(caller))).toMatchObject({ code: "processor_outcome_unknown" });
    const { id } = await readOnlyPayment(caller);
    await harness.sql("update payment set created_at = created_at - interval '1 hour', next_check_at = now() where id = ?", [id]);
    await using _job = harness.startReconciler();
    await eventually(async () => expect(await createPayment(caller)).toMatchObject({ id, status: PaymentStatus.EXPIRED }));
    const payment = await readOnlyPayment(caller);
    expect(payment.status).toBe(PaymentStatus.EXPIRED);
    expect(await harness.readEvents(id)).toMatchObject([{ type: PaymentEventType.PAYMENT_EXPIRED }]);
    expect(await readOperations(payment)).toEqual(["register", "status", "register", "status", "status"]);
  });
});

describe("registerOrder after a crash during the registration", () => {
  /** Restores the payment's row to its state before the registration. */
  const undoRegistration = (id: string) =>
    harness.sql("update payment set processor_order_id = null, form_url = null, checks = 0, next_check_at = now() where id = ?", [
      id,
    ]);

  test("registerOrder stores the existing order after a crash between the registration and its commit", async () => {
    const caller = aBusinessCaller();
    const payment = await createPayment(caller);
    await undoRegistration(payment.id);
    await using _job = harness.startReconciler();
    await eventually(async () =>
      expect(await readOnlyPayment(caller)).toMatchObject({
        processorOrderId: payment.processorOrderId,
        formUrl: payment.formUrl,
      }),
    );
    expect(await readOperations(payment)).toEqual(["register", "status"]);
  });

  test("registerOrder sets FAILED when the existing order with the payment's order number has another amount", async () => {
    const caller = aBusinessCaller();
    const payment = await createPayment(caller);
    await undoRegistration(payment.id);
    await harness.sql("update payment set amount_minor = amount_minor + 1 where id = ?", [payment.id]);
    await using _job = harness.startReconciler();
    await eventually(async () =>
      expect(await readOnlyPayment(caller)).toMatchObject({ status: PaymentStatus.FAILED, processorErrorCode: "1" }),
    );
    expect(await readOnlyPayment(caller)).not.toHaveProperty("processorOrderId");
    expect(await readOperations(payment)).toEqual(["register", "status"]);
  });
});
