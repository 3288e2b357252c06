import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { RefundOutcome, RefundStatus } from "@amana/contracts/payments/v1/refund_pb";
import { DomainError } from "@amana/rpc";
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

test("refunds that wait are shown with what the processor says beside what we believe", async () => {
  const answer = await send("GET", "/refunds?needs_decision=true&limit=1");
  expect(gateway.received[0]?.request).toMatchObject({ limit: 1, offset: 0, needsDecision: true });
  expect(answer.headers["x-total-count"]).toBe("1");
  expect(answer.json()).toEqual([
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

test("without a filter all refunds are asked for", async () => {
  await send("GET", "/refunds");
  expect(gateway.received[0]?.request).not.toHaveProperty("needsDecision");
});

test.each(["/payments?origin=PROCESSOR", "/payments"])(
  "%s shows payments that the processor changed, with their origin",
  async (path) => {
    const answer = await send("GET", path);
    expect(answer.json()).toMatchObject([
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

describe("deciding", () => {
  const decision = { outcome: "REJECTED", note: "Called SATIM." };

  test("hands the operator's decision over and answers with the refund", async () => {
    const answer = await send("POST", `/refunds/${id}/resolve`, decision);
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ id, resolution: "REJECTED" });
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
  ])("of %j is 422 at %j", async (payload, pointers) => {
    const answer = await send("POST", `/refunds/${id}/resolve`, payload);
    expect(answer.statusCode).toBe(422);
    const { errors } = answer.json() as { errors: { pointer: string }[] };
    expect(errors.map(({ pointer }) => pointer).sort()).toEqual(pointers);
    expect(gateway.received).toEqual([]);
  });

  test("one that waits for nobody is 409 with its state", async () => {
    gateway.behaviour.refunds.resolveRefund = async () => {
      throw new DomainError("conflict", "refund_decision_not_open", "No.", { members: { refund_status: "ACCEPTED" } });
    };
    const answer = await send("POST", `/refunds/${id}/resolve`, decision);
    expect(answer.statusCode).toBe(409);
    expect(answer.json()).toMatchObject({ code: "refund_decision_not_open", refund_status: "ACCEPTED" });
  });
});

test.each([
  ["/refunds?needs_decision=yes", "needs_decision"],
  ["/refunds?limit=0", "limit"],
  ["/payments?origin=US", "origin"],
])("%s is 422 and names %s", async (path, parameter) => {
  const answer = await send("GET", path);
  expect(answer.statusCode).toBe(422);
  expect(answer.json()).toMatchObject({ errors: [{ parameter }] });
});

test.each([
  ["GET", "/refunds"],
  ["GET", "/payments?origin=PROCESSOR"],
  ["POST", `/refunds/${id}/resolve`],
] as const)("%s %s belongs to operators", async (method, path) => {
  const answer = await send(
    method,
    path,
    method === "POST" ? { outcome: "ACCEPTED", note: "x" } : undefined,
    gateway.business.headers,
  );
  expect([answer.statusCode, answer.json().code]).toEqual([403, "admin_required"]);
  expect(gateway.received).toEqual([]);
});
