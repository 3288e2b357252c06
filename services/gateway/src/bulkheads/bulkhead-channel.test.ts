import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { eventually } from "@amana/testing";
import { expect, test } from "vitest";
import { startTestGateway } from "../../test/harness.ts";
import { bulkheads } from "./bulkhead.ts";

const id = "019a0000-0000-7000-8000-000000000001";
const payment = { id, currency: "DZD", status: PaymentStatus.PAID };
const order = { amount: "5000.00", success_url: "https://shop.example/a", fail_url: "https://shop.example/b" };
type Key = { headers: Record<string, string> };

async function aSlowGateway() {
  const gateway = await startTestGateway();
  const { payments } = gateway.behaviour;
  let answerAll = () => {};
  const answered = new Promise<void>((resolve) => {
    answerAll = resolve;
  });
  const slowly = async () => {
    await answered;
    return payment;
  };
  payments.createPayment = slowly;
  payments.refundPayment = slowly;
  payments.getPayment = async () => payment;
  payments.listPayments = async () => ({ payments: [] });
  const call = (method: "GET" | "POST", path: string, { headers }: Key, payload?: object) =>
    gateway.app.inject({ method, url: `/api/v1/payments${path}`, headers, ...(payload && { payload }) });
  return {
    gateway,
    answerAll: () => answerAll(),
    arrived: (rpc: string) => gateway.received.filter((one) => one.rpc === rpc).length,
    create: (key: Key) => call("POST", "", key, order),
    refund: (key: Key) => call("POST", `/${id}/refund`, key),
    read: (key: Key) => call("GET", `/${id}`, key),
    search: (key: Key) => call("GET", "?created_from=2026-01-01T00:00:00Z", key),
    list: (key: Key) => call("GET", "", key),
  };
}

test("one business's slow calls hold its share of the places; all of them are answered, and others' go on meanwhile", async () => {
  const { gateway, create, refund, read, arrived, answerAll } = await aSlowGateway();
  await using _ = gateway;
  const [flooding, other] = [gateway.aKey(), gateway.aKey()];
  const { perCaller, slots } = bulkheads.creation;
  const flood = Array.from({ length: slots * 2 }, () => create(flooding));
  await eventually(() => expect(arrived("CreatePayment")).toBe(perCaller));

  const created = create(other);
  await eventually(() => expect(arrived("CreatePayment")).toBe(perCaller + 1));
  const refunded = refund(flooding);
  await eventually(() => expect(arrived("RefundPayment")).toBe(1));
  expect((await read(flooding)).statusCode).toBe(200);

  answerAll();
  const statuses = (await Promise.all([...flood, created])).map(({ statusCode }) => statusCode);
  expect(new Set(statuses)).toEqual(new Set([201]));
  expect((await refunded).statusCode).toBe(200);
});

test("searches that hang hold up no plain list, nor another business's search", async () => {
  const { gateway, search, list, arrived, answerAll } = await aSlowGateway();
  await using _ = gateway;
  const [flooding, other] = [gateway.aKey(), gateway.aKey()];
  const { listPayments } = gateway.behaviour.payments;
  let waiting: (() => void)[] = [];
  gateway.behaviour.payments.listPayments = async (request, call) => {
    if (
      request.createdFromMs !== undefined &&
      call.caller.role === "business" &&
      call.caller.businessId === flooding.businessId
    ) {
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    return (await listPayments?.(request, call)) ?? {};
  };
  const flood = Array.from({ length: 6 }, () => search(flooding));
  await eventually(() => expect(arrived("ListPayments")).toBe(bulkheads.search.perCaller));
  expect((await list(flooding)).statusCode).toBe(200);
  expect((await search(other)).statusCode).toBe(200);
  expect(waiting).toHaveLength(bulkheads.search.perCaller);
  answerAll();
  // What waits for its turn longer than a quarter of its time is refused, with nothing done.
  const refused = await Promise.all(flood.slice(bulkheads.search.perCaller));
  for (const answer of refused) {
    expect([answer.statusCode, answer.json().code, answer.headers["retry-after"]]).toEqual([503, "overloaded", "1"]);
  }
  for (const resolve of waiting) resolve();
  waiting = [];
  const answered = await Promise.all(flood.slice(0, bulkheads.search.perCaller));
  expect(answered.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
});
