import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { RefundOutcome, RefundStatus } from "@amana/contracts/payments/v1/refund_pb";
import { ProcessorOperation, ProcessorOutcome } from "@amana/contracts/payments/v1/refund_service_pb";
import { DeliveryFailure, DeliveryStatus } from "@amana/contracts/webhooks/v1/event_pb";
import { DomainError } from "@amana/rpc";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";

const id = "019a0000-0000-7000-8000-000000000002";
const payment = {
  id: "019a0000-0000-7000-8000-000000000001",
  businessId: "019a0000-0000-7000-8000-000000000003",
  amountMinor: 500_000n,
  currency: "DZD",
  status: PaymentStatus.PAID,
  language: "FR",
  successUrl: "https://shop.example/paid",
  failUrl: "https://shop.example/failed",
  processorOrderNumber: "0000000001",
  processorOrderId: "order000000000000001",
  createdAtMs: 1_795_170_000_000n,
  updatedAtMs: 1_795_170_000_000n,
};
const refund = {
  id,
  businessId: payment.businessId,
  paymentId: payment.id,
  amountMinor: 120_000n,
  status: RefundStatus.UNKNOWN,
  decisionReason: "UNEXPLAINED",
  needsDecisionSinceMs: 1_795_170_600_000n,
  sends: 1,
  lastSentAtMs: 1_795_170_000_000n,
  createdAtMs: 1_795_170_000_000n,
  updatedAtMs: 1_795_170_600_000n,
  payment,
  processorRefundedMinor: 700n,
  processorOrderStatus: 4,
  processorReadAtMs: 1_795_170_600_000n,
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
  gateway.behaviour.refunds.listRefunds = async () => ({ refunds: [refund], total: 1 });
  gateway.behaviour.refunds.resolveRefund = async () => ({ ...refund, resolution: RefundOutcome.REJECTED });
  gateway.behaviour.refunds.listChangedPayments = async () => ({
    payments: [
      {
        payment: { ...payment, status: PaymentStatus.REFUNDED, refundedAmountMinor: 700n, origin: "PROCESSOR" },
        processorRefundedMinor: 700n,
        processorReadAtMs: 1_795_170_600_000n,
      },
    ],
    total: 1,
  });
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.received.length = 0;
});

const send = (method: "GET" | "POST", path: string, payload?: object, headers = gateway.admin.headers) =>
  gateway.app.inject({ method, url: `/api/v1/admin${path}`, headers, ...(payload ? { payload } : {}) });

test("GET /admin/refunds returns refunds with the state of their orders at the card processor", async () => {
  const response = await send("GET", "/refunds?needs_decision=true&limit=1");
  expect(gateway.received[0]?.request).toMatchObject({ limit: 1, offset: 0, needsDecision: true });
  expect(response.headers["x-total-count"]).toBe("1");
  expect(response.json()).toEqual([
    {
      id,
      business_id: payment.businessId,
      payment_id: payment.id,
      amount: "1200.00",
      currency: "DZD",
      status: "UNKNOWN",
      needs_decision: true,
      decision_reason: "UNEXPLAINED",
      needs_decision_since: "2026-11-20T10:30:00.000Z",
      sends: 1,
      last_sent_at: "2026-11-20T10:20:00.000Z",
      payment_status: "PAID",
      payment_amount: "5000.00",
      processor: {
        order_id: payment.processorOrderId,
        order_number: payment.processorOrderNumber,
        order_status: 4,
        refunded_amount: "7.00",
        read_at: "2026-11-20T10:30:00.000Z",
      },
      created_at: "2026-11-20T10:20:00.000Z",
      updated_at: "2026-11-20T10:30:00.000Z",
    },
  ]);
});

test("GET /admin/refunds without a filter queries all refunds", async () => {
  await send("GET", "/refunds");
  expect(gateway.received[0]?.request).not.toHaveProperty("needsDecision");
});

test.each(["/payments?origin=PROCESSOR", "/payments"])(
  "GET /admin%s returns payments that changed at the processor, with their origin",
  async (path) => {
    const response = await send("GET", path);
    expect(response.json()).toMatchObject([
      {
        id: payment.id,
        status: "REFUNDED",
        refunded_amount: "7.00",
        origin: "PROCESSOR",
        processor: { refunded_amount: "7.00", read_at: "2026-11-20T10:30:00.000Z" },
      },
    ]);
  },
);

test("GET /admin/payments/{id}/timeline returns the entries of the payments service and the webhooks service in order of time", async () => {
  const at = payment.createdAtMs;
  gateway.behaviour.refunds.getPaymentHistory = async () => ({
    payment: { ...payment, paidAtMs: at + 1_000n },
    refunds: [refund],
    calls: [
      {
        ...{ id, refundId: id, operation: ProcessorOperation.REFUND, outcome: ProcessorOutcome.UNKNOWN, detail: "no response" },
        ...{ atMs: at + 300_000n, durationMs: 30_000 },
      },
    ],
    recordedAtMs: [at, at + 1_000n],
  });
  gateway.behaviour.events.listEventsOfPayment = async () => ({
    events: [
      {
        event: { id, type: "PAYMENT_COMPLETED", createdAtMs: at + 1_000n, body: "{}" },
        deliveries: [
          {
            ...{ id, endpointId: id, status: DeliveryStatus.PENDING, nextAttemptAtMs: at + 9_000n },
            attempts: [
              { atMs: at + 2_000n, statusCode: 500, durationMs: 7 },
              { atMs: at + 3_000n, failure: DeliveryFailure.TIMEOUT, error: "timed out after 10 s", durationMs: 10_000 },
            ],
          },
        ],
      },
    ],
  });
  const response = await send("GET", `/payments/${payment.id}/timeline`);
  expect(gateway.received.map(({ rpc }) => rpc)).toEqual(["GetPaymentHistory", "ListEventsOfPayment"]);
  expect(gateway.received[1]?.request).toMatchObject({ businessId: payment.businessId, paymentId: payment.id });
  const { payment: expectedJson, entries } = response.json() as { payment: object; entries: Record<string, unknown>[] };
  expect(expectedJson).toMatchObject({ id: payment.id, amount: "5000.00" });
  expect(entries.map(({ kind, name, outcome = "-" }) => `${kind} ${name} ${outcome}`)).toEqual([
    "payment PENDING -",
    "refund REQUESTED -",
    "refund SENT -",
    "payment PAID -",
    "event PAYMENT_COMPLETED -",
    "delivery_attempt PAYMENT_COMPLETED 500",
    "delivery_attempt PAYMENT_COMPLETED timeout",
    "next_attempt PAYMENT_COMPLETED -",
    "processor_call REFUND UNKNOWN",
    "refund NEEDS_DECISION -",
    "refund UNKNOWN -",
  ]);
  expect(entries[8]).toMatchObject({ at: "2026-11-20T10:25:00.000Z", detail: "no response", duration_ms: 30_000, refund_id: id });
});

test("GET /admin/payments/{id}/timeline lists a cause before its effect if both have the same time", async () => {
  const at = payment.createdAtMs;
  const status = PaymentStatus.REFUNDED;
  gateway.behaviour.refunds.getPaymentHistory = async () => ({
    payment: { ...payment, status, paidAtMs: at, updatedAtMs: at },
    refunds: [{ ...refund, status: RefundStatus.ACCEPTED, needsDecisionSinceMs: undefined, sends: 2, updatedAtMs: at }],
    calls: [ProcessorOperation.REFUND, ProcessorOperation.STATUS, ProcessorOperation.CONFIRM].map((operation) => {
      const refundId = operation === ProcessorOperation.CONFIRM ? undefined : id;
      return { id, operation, outcome: ProcessorOutcome.ACCEPTED, atMs: at, durationMs: 0, refundId };
    }),
    recordedAtMs: [at],
  });
  const event = (type: string) => ({
    event: { id, type, createdAtMs: at, body: "{}" },
    deliveries: [
      {
        ...{ id, endpointId: id, status: DeliveryStatus.PENDING, nextAttemptAtMs: at },
        attempts: [{ atMs: at, statusCode: 500, durationMs: 0 }],
      },
    ],
  });
  gateway.behaviour.events.listEventsOfPayment = async () => ({
    events: [event("PAYMENT_REFUNDED"), event("PAYMENT_COMPLETED")],
  });
  const { entries } = (await send("GET", `/payments/${payment.id}/timeline`)).json() as {
    entries: { kind: string; name: string; detail?: string }[];
  };
  expect(entries.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    ...["payment PENDING", "processor_call CONFIRM", "payment PAID"],
    ...[
      "refund REQUESTED",
      "processor_call STATUS",
      "refund SENT",
      "processor_call REFUND",
      "refund ACCEPTED",
      "payment REFUNDED",
    ],
    ...["event PAYMENT_COMPLETED", "event PAYMENT_REFUNDED"],
    ...["delivery_attempt PAYMENT_REFUNDED", "delivery_attempt PAYMENT_COMPLETED"],
    ...["next_attempt PAYMENT_REFUNDED", "next_attempt PAYMENT_COMPLETED"],
  ]);
  expect(entries.find(({ name }) => name === "SENT")?.detail).toBe("last of 2 times");
});

test('GET /admin/payments/{id}/timeline returns `missing: ["events"]` while the webhooks service is unavailable', async () => {
  gateway.behaviour.refunds.getPaymentHistory = async () => ({ payment, refunds: [refund], calls: [], recordedAtMs: [] });
  const timeline = async (error: Error) => {
    gateway.behaviour.events.listEventsOfPayment = async () => {
      throw error;
    };
    return await send("GET", `/payments/${payment.id}/timeline`);
  };
  const unavailableErrors = [Code.Unavailable, Code.DeadlineExceeded].map(
    (code) => new ConnectError("service unavailable", code),
  );
  for (const error of [
    ...unavailableErrors,
    new DomainError("unavailable", "service_unavailable", "The service is unavailable."),
  ]) {
    const response = await timeline(error);
    expect([response.statusCode, response.json().missing]).toEqual([200, ["events"]]);
    expect(response.json().entries.length).toBeGreaterThan(3);
  }
  expect((await timeline(new ConnectError("simulated failure", Code.Internal))).statusCode).toBe(500);
});

test("GET /admin/payments/{id}/timeline names the kinds of entries that are truncated", async () => {
  const timeline = async (cut: { refundsCut?: boolean; callsCut?: boolean; isCut?: boolean }) => {
    const { refundsCut = false, callsCut = false, isCut = false } = cut;
    const history = { payment, refunds: [], refundsCut, calls: [], callsCut, recordedAtMs: [] };
    gateway.behaviour.refunds.getPaymentHistory = async () => history;
    gateway.behaviour.events.listEventsOfPayment = async () => ({ events: [], isCut });
    return (await send("GET", `/payments/${payment.id}/timeline`)).json().truncated;
  };
  expect(await timeline({})).toBeUndefined();
  expect(await timeline({ callsCut: true })).toEqual(["processor_calls"]);
  expect(await timeline({ refundsCut: true, isCut: true })).toEqual(["refunds", "events"]);
});

describe("POST /admin/refunds/{id}/resolve", () => {
  const decision = { outcome: "REJECTED", note: "Called SATIM." };

  test("POST /admin/refunds/{id}/resolve sends the operator's decision to the payments service, and returns the refund", async () => {
    const response = await send("POST", `/refunds/${id}/resolve`, decision);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({ id, resolution: "REJECTED" });
    expect(gateway.received[0]).toMatchObject({
      rpc: "ResolveRefund",
      request: { id, outcome: RefundOutcome.REJECTED, note: decision.note },
      call: { caller: { role: "admin" } },
    });
  });

  test.each([
    [{}, ["/note", "/outcome"]],
    [{ ...decision, outcome: "PAID" }, ["/outcome"]],
    [{ ...decision, note: "" }, ["/note"]],
    [{ ...decision, note: "x".repeat(1_001) }, ["/note"]],
    [{ ...decision, amount: "1.00" }, ["/amount"]],
  ])("POST /admin/refunds/{id}/resolve with the body %j returns 422 with errors at %j", async (payload, pointers) => {
    const response = await send("POST", `/refunds/${id}/resolve`, payload);
    expect(response.statusCode).toBe(422);
    const { errors } = response.json() as { errors: { pointer: string }[] };
    expect(errors.map(({ pointer }) => pointer).sort()).toEqual(pointers);
    expect(gateway.received).toEqual([]);
  });

  test("POST /admin/refunds/{id}/resolve returns 409 with the status for a refund that needs no decision", async () => {
    gateway.behaviour.refunds.resolveRefund = async () => {
      throw new DomainError("conflict", "refund_decision_not_open", "The refund needs no decision.", {
        members: { refund_status: "ACCEPTED" },
      });
    };
    const response = await send("POST", `/refunds/${id}/resolve`, decision);
    expect(response.statusCode).toBe(409);
    expect(response.json()).toMatchObject({ code: "refund_decision_not_open", refund_status: "ACCEPTED" });
  });
});

test.each([
  ["/refunds?needs_decision=yes", "needs_decision"],
  ["/refunds?limit=0", "limit"],
  ["/payments?origin=US", "origin"],
])("GET /admin%s returns 422 and names the parameter %s", async (path, parameter) => {
  const response = await send("GET", path);
  expect(response.statusCode).toBe(422);
  expect(response.json()).toMatchObject({ errors: [{ parameter }] });
});

test.each([
  ["GET", "/refunds"],
  ["GET", "/payments?origin=PROCESSOR"],
  ["POST", `/refunds/${id}/resolve`],
] as const)("%s /admin%s requires an operator key", async (method, path) => {
  const response = await send(
    method,
    path,
    method === "POST" ? { outcome: "ACCEPTED", note: "x" } : undefined,
    gateway.business.headers,
  );
  expect([response.statusCode, response.json().code]).toEqual([403, "admin_required"]);
  expect(gateway.received).toEqual([]);
});
