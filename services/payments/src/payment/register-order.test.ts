import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { type Payment, PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { aBusinessCaller, eventually, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { aPaymentRequest, type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ satimTimeoutMs: 1_000 });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

type Caller = ReturnType<typeof aBusinessCaller>;

const create = (caller: Caller, key = "k") => harness.payments.createPayment(aPaymentRequest, withIdempotencyKey(caller, key));

async function onlyPayment(caller: Caller): Promise<Payment> {
  const { payments } = await harness.payments.listPayments({ limit: 10 }, { caller });
  if (payments.length !== 1 || !payments[0]) throw new Error(`expected one payment, got ${payments.length}`);
  return payments[0];
}

/** Ends the pause before the next check. */
const becomeDue = ({ businessId }: Caller) =>
  harness.sql("update payment set next_check_at = now() where business_id = ?", [businessId]);

const operations = async ({ processorOrderNumber }: Payment) =>
  (await harness.sandbox.byNumber(processorOrderNumber)).calls.map(({ operation }) => operation);

describe("registerOrder, when the response is lost", () => {
  test.each(["timeout_after", "reset_after", "truncated"])(
    "finds the order by its number, the form by the template, and does not register again: %s",
    async (mode) => {
      await harness.sandbox.fault("register", mode);
      const payment = await create(aBusinessCaller());
      const order = await harness.sandbox.byNumber(payment.processorOrderNumber);
      expect(payment).toMatchObject({
        status: PaymentStatus.PENDING,
        processorOrderId: order.orderId,
        formUrl: order.formUrl,
      });
      expect(await operations(payment)).toEqual(["register", "status"]);
    },
  );

  test.each(["timeout_before", "http_500", "http_503", "html_200"])(
    "registers the same number again when the look-up finds no order: %s",
    async (mode) => {
      await harness.sandbox.fault("register", mode);
      const payment = await create(aBusinessCaller());
      const order = await harness.sandbox.byNumber(payment.processorOrderNumber);
      expect(payment).toMatchObject({ processorOrderId: order.orderId, formUrl: order.formUrl });
      expect(await operations(payment)).toEqual(["register", "status", "register"]);
    },
  );
});

describe("registerOrder, when the outcome stays unknown", () => {
  test.each([
    ["the look-up fails with HTTP 500", "reset_after", "http_500"],
    ["the look-up is refused", "reset_after", "error:5"],
    ["the look-up is truncated", "truncated", "truncated"],
  ])(
    "returns processor_outcome_unknown, and later the payment under the same key: %s",
    async (_name, registerMode, statusMode) => {
      const caller = aBusinessCaller();
      await harness.sandbox.fault("register", registerMode);
      await harness.sandbox.fault("status", statusMode);
      const refused = await refusal(create(caller));
      const waiting = await onlyPayment(caller);
      expect(refused).toMatchObject({
        kind: "outcome_unknown",
        code: "processor_outcome_unknown",
        members: { payment_id: waiting.id },
      });
      expect(waiting).toMatchObject({ status: PaymentStatus.PENDING });
      expect(waiting).not.toHaveProperty("formUrl");
      expect(await refusal(create(caller))).toMatchObject({ kind: "conflict", code: "idempotency_in_progress" });

      await becomeDue(caller);
      await using _job = harness.reconciling();
      const payment = await eventually(() => create(caller));
      const order = await harness.sandbox.byNumber(payment.processorOrderNumber);
      expect(payment).toMatchObject({ id: waiting.id, processorOrderId: order.orderId, formUrl: order.formUrl });
      const again = withIdempotencyKey(caller, "k");
      expect(await harness.payments.createPayment(aPaymentRequest, again)).toEqual(payment);
      expect(again.replayed).toBe(true);
      expect(await onlyPayment(caller)).toEqual(payment);
      expect(await operations(payment)).toEqual(["register", "status", "status"]);
    },
  );

  test("looks the order up before the third registration of the same number", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("register", "html_200", 2);
    expect(await refusal(create(caller))).toMatchObject({ code: "processor_outcome_unknown" });
    await becomeDue(caller);
    await using _job = harness.reconciling();
    const payment = await eventually(() => create(caller));
    expect(payment.formUrl).toBeDefined();
    expect(await operations(payment)).toEqual(["register", "status", "register", "status", "status", "register"]);
  });

  test("sets FAILED with one event when the processor then refuses, and the key replays the refusal", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("register", "html_200", 2);
    expect(await refusal(create(caller))).toMatchObject({ code: "processor_outcome_unknown" });
    await harness.sandbox.fault("register", "error:7");
    await becomeDue(caller);
    await using _job = harness.reconciling();
    const { id } = await onlyPayment(caller);
    await eventually(async () => expect(await refusal(create(caller))).toMatchObject({ code: "processor_error" }));
    expect(await onlyPayment(caller)).toMatchObject({ status: PaymentStatus.FAILED, processorErrorCode: "7" });
    expect(await harness.events(id)).toMatchObject([{ type: PaymentEventType.PAYMENT_FAILED }]);
  });

  test("sets EXPIRED with one event, without another registration, when there is no order after the time to pay", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("register", "html_200", 2);
    expect(await refusal(create(caller))).toMatchObject({ code: "processor_outcome_unknown" });
    const { id } = await onlyPayment(caller);
    await harness.sql("update payment set created_at = created_at - interval '1 hour', next_check_at = now() where id = ?", [id]);
    await using _job = harness.reconciling();
    await eventually(async () => expect(await create(caller)).toMatchObject({ id, status: PaymentStatus.EXPIRED }));
    const payment = await onlyPayment(caller);
    expect(payment.status).toBe(PaymentStatus.EXPIRED);
    expect(await harness.events(id)).toMatchObject([{ type: PaymentEventType.PAYMENT_EXPIRED }]);
    expect(await operations(payment)).toEqual(["register", "status", "register", "status", "status"]);
  });
});

describe("registerOrder, after a crash during the registration", () => {
  /** Restores the row as it is committed before the registration. */
  const rewind = (id: string) =>
    harness.sql("update payment set processor_order_id = null, form_url = null, checks = 0, next_check_at = now() where id = ?", [
      id,
    ]);

  test("looks the order up and adopts it", async () => {
    const caller = aBusinessCaller();
    const payment = await create(caller);
    await rewind(payment.id);
    await using _job = harness.reconciling();
    await eventually(async () =>
      expect(await onlyPayment(caller)).toMatchObject({ processorOrderId: payment.processorOrderId, formUrl: payment.formUrl }),
    );
    expect(await operations(payment)).toEqual(["register", "status"]);
  });

  test("never adopts an order with another amount", async () => {
    const caller = aBusinessCaller();
    const payment = await create(caller);
    await rewind(payment.id);
    await harness.sql("update payment set amount_minor = amount_minor + 1 where id = ?", [payment.id]);
    await using _job = harness.reconciling();
    await eventually(async () =>
      expect(await onlyPayment(caller)).toMatchObject({ status: PaymentStatus.FAILED, processorErrorCode: "1" }),
    );
    expect(await onlyPayment(caller)).not.toHaveProperty("processorOrderId");
    expect(await operations(payment)).toEqual(["register", "status"]);
  });
});
