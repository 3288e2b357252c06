import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aPaymentRequest, type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
const caller = aBusinessCaller();
/** Newest first: PAID without a reference, REFUSED, and two PENDING of the same millisecond. */
let newest: string;
let refused: string;
let pending: string[];
const hour = (hours: number) => new Date(Date.UTC(2026, 2, 1, hours));

beforeAll(async () => {
  harness = await startHarness();
  const create = (changes: object) => harness.aPendingPayment(caller, changes);
  const first = await create({ orderRef: "basket-1" });
  const second = await create({ orderRef: "basket-1" });
  const third = await create({ orderRef: "100%_off" });
  const { orderRef: _none, ...withoutRef } = aPaymentRequest;
  const fourth = await harness.payments.createPayment(withoutRef, { caller, timeoutMs: 20_000 });
  await harness.aPendingPayment();
  const store = (id: string, at: Date, status: string) =>
    harness.sql("update payment set created_at = ?, status = ? where id = ?", [at, status, id]);
  await store(first.id, hour(1), "PENDING");
  await store(second.id, hour(1), "PENDING");
  await store(third.id, hour(2), "REFUSED");
  await store(fourth.id, hour(3), "PAID");
  pending = [first.id, second.id].sort().reverse();
  refused = third.id;
  newest = fourth.id;
});
afterAll(() => harness[Symbol.asyncDispose]());

const list = async (filter: object = {}, by = caller) => {
  const { payments, total } = await harness.payments.listPayments({ limit: 50, offset: 0, ...filter }, { caller: by });
  return { ids: payments.map(({ id }) => id), total };
};

describe("listPayments", () => {
  test("returns payments newest first, by id within a millisecond, with the total", async () => {
    expect(await list()).toEqual({ ids: [newest, refused, ...pending], total: 4 });
  });

  test("returns the total of all payments with each page", async () => {
    expect(await list({ limit: 2 })).toEqual({ ids: [newest, refused], total: 4 });
    expect(await list({ limit: 2, offset: 1 })).toEqual({ ids: [refused, pending[0]], total: 4 });
    expect(await list({ limit: 2, offset: 4 })).toEqual({ ids: [], total: 4 });
    expect(await list({ limit: 2, offset: 2_147_483_647 })).toEqual({ ids: [], total: 4 });
  });

  test("returns each payment with the same fields as getPayment", async () => {
    const { payments } = await harness.payments.listPayments({ limit: 1 }, { caller });
    expect(payments[0]).toEqual(await harness.payments.getPayment({ id: newest }, { caller }));
  });

  test("filters by status", async () => {
    expect(await list({ status: PaymentStatus.PAID })).toEqual({ ids: [newest], total: 1 });
    expect(await list({ status: PaymentStatus.PENDING })).toEqual({ ids: pending, total: 2 });
    expect(await list({ status: PaymentStatus.EXPIRED })).toEqual({ ids: [], total: 0 });
    expect(await list({ status: 99 })).toEqual({ ids: [], total: 0 });
  });

  test("filters by the exact reference", async () => {
    expect(await list({ orderRef: "basket-1" })).toEqual({ ids: pending, total: 2 });
    expect(await list({ orderRef: "100%_off" })).toEqual({ ids: [refused], total: 1 });
    for (const orderRef of ["basket", "%", "BASKET-1", "' or ''='"]) expect((await list({ orderRef })).total).toBe(0);
  });

  test("filters by creation time, with inclusive start and exclusive end", async () => {
    const ms = (hours: number) => BigInt(hour(hours).getTime());
    expect(await list({ createdFromMs: ms(2) })).toEqual({ ids: [newest, refused], total: 2 });
    expect(await list({ createdToMs: ms(2) })).toEqual({ ids: pending, total: 2 });
    expect(await list({ createdFromMs: ms(2), createdToMs: ms(3) })).toEqual({ ids: [refused], total: 1 });
    expect(await list({ createdFromMs: ms(3), createdToMs: ms(2) })).toEqual({ ids: [], total: 0 });
  });

  test("combines filters", async () => {
    expect(await list({ status: PaymentStatus.PENDING, orderRef: "basket-1", limit: 1 })).toEqual({
      ids: [pending[0]],
      total: 2,
    });
    expect((await list({ status: PaymentStatus.PAID, orderRef: "basket-1" })).total).toBe(0);
  });

  test("returns no payment for a payment link", async () => {
    expect(await list({ paymentLinkId: uuidv7() })).toEqual({ ids: [], total: 0 });
  });

  test("returns no payment of another business", async () => {
    expect(await list({}, aBusinessCaller())).toEqual({ ids: [], total: 0 });
  });

  test("does not read orders at the processor", async () => {
    const payment = await harness.aPendingPayment();
    await list({}, aBusinessCaller(payment.businessId));
    expect(await harness.calls(payment, "status")).toBe(0);
  });
});

test("listPayments rejects an operator", async () => {
  const refused = await refusal(harness.payments.listPayments({ limit: 1 }, { caller: adminCaller }));
  expect(refused).toMatchObject({ kind: "forbidden", code: "business_key_required" });
});
