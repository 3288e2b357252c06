import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { eventually } from "@amana/testing";
import { expect, test } from "vitest";
import { startTestGateway } from "../../test/harness.ts";
import { bulkheads } from "./bulkhead.ts";

const id = "019a0000-0000-7000-8000-000000000001";
const payment = { id, currency: "DZD", status: PaymentStatus.PAID };
const order = { amount: "5000.00", success_url: "https://shop.example/a", fail_url: "https://shop.example/b" };
type Key = { headers: Record<string, string> };

/**
 * Starts a gateway. The payments service responds to creations and refunds only after the call of
 * `respondAll`.
 */
async function startSlowGateway() {
  const gateway = await startTestGateway();
  const { payments } = gateway.behaviour;
  const responsesReleased = Promise.withResolvers<void>();
  const respondSlowly = async () => {
    await responsesReleased.promise;
    return payment;
  };
  payments.createPayment = respondSlowly;
  payments.refundPayment = respondSlowly;
  payments.getPayment = async () => payment;
  payments.listPayments = async () => ({ payments: [] });
  const call = (method: "GET" | "HEAD" | "POST", path: string, { headers }: Key, payload?: object) =>
    gateway.app.inject({ method, url: `/api/v1/payments${path}`, headers, ...(payload && { payload }) });
  return {
    gateway,
    respondAll: () => responsesReleased.resolve(),
    countReceived: (name: string) => gateway.received.filter(({ rpc }) => rpc === name).length,
    create: (key: Key) => call("POST", "", key, order),
    refund: (key: Key) => call("POST", `/${id}/refund`, key),
    read: (key: Key) => call("GET", `/${id}`, key),
    search: (key: Key, method: "GET" | "HEAD" = "GET") => call(method, "?created_from=2026-01-01T00:00:00Z", key),
    list: (key: Key) => call("GET", "", key),
  };
}

test("a business whose payment creations are slow uses only its share of the bulkhead's slots and does not delay another business", async () => {
  const { gateway, create, refund, read, countReceived, respondAll } = await startSlowGateway();
  await using _ = gateway;
  const [floodingKey, otherKey] = [gateway.aKey(), gateway.aKey()];
  const { perCaller, slots } = bulkheads.creation;
  const flood = Array.from({ length: slots * 2 }, () => create(floodingKey));
  await eventually(() => expect(countReceived("CreatePayment")).toBe(perCaller));

  const createdResponse = create(otherKey);
  await eventually(() => expect(countReceived("CreatePayment")).toBe(perCaller + 1));
  const refundResponse = refund(floodingKey);
  await eventually(() => expect(countReceived("RefundPayment")).toBe(1));
  expect((await read(floodingKey)).statusCode).toBe(200);

  respondAll();
  const statuses = (await Promise.all([...flood, createdResponse])).map(({ statusCode }) => statusCode);
  expect(new Set(statuses)).toEqual(new Set([201]));
  expect((await refundResponse).statusCode).toBe(200);
});

test("slow searches of a business delay neither this business's unfiltered lists nor another business's searches", async () => {
  const { gateway, search, list, countReceived, respondAll } = await startSlowGateway();
  await using _ = gateway;
  const [floodingKey, otherKey] = [gateway.aKey(), gateway.aKey()];
  const { listPayments } = gateway.behaviour.payments;
  let blockedSearches: (() => void)[] = [];
  gateway.behaviour.payments.listPayments = async (request, call) => {
    if (
      request.createdFromMs !== undefined &&
      call.caller.role === "business" &&
      call.caller.businessId === floodingKey.businessId
    ) {
      await new Promise<void>((resolve) => blockedSearches.push(resolve));
    }
    return (await listPayments?.(request, call)) ?? {};
  };
  const flood = Array.from({ length: 6 }, (_, i) => search(floodingKey, i % 2 === 0 ? "GET" : "HEAD"));
  await eventually(() => expect(countReceived("ListPayments")).toBe(bulkheads.search.perCaller));
  expect((await list(floodingKey)).statusCode).toBe(200);
  expect((await search(otherKey)).statusCode).toBe(200);
  expect(blockedSearches).toHaveLength(bulkheads.search.perCaller);
  respondAll();
  // A call that waits for a slot longer than a quarter of its timeout is rejected before it is
  // sent.
  const rejectedResponses = await Promise.all(flood.slice(bulkheads.search.perCaller));
  for (const response of rejectedResponses) {
    expect([response.statusCode, response.headers["retry-after"]]).toEqual([503, "1"]);
  }
  for (const resolve of blockedSearches) resolve();
  blockedSearches = [];
  const servedResponses = await Promise.all(flood.slice(0, bulkheads.search.perCaller));
  expect(servedResponses.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
});
