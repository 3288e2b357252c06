import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aPaymentRequest, type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
const caller = aBusinessCaller();
/** Newest first: PAID without a reference, then REFUSED, then two PENDING of one millisecond. */
let newest: string;
let refused: string;
let pending: string[];
const hour = (hours: number) => new Date(Date.UTC(2026, 2, 1, hours));

beforeAll(async () => {
  harness = await startHarness();
  const created = (changes: object) => harness.aPendingPayment(caller, changes);
  const one = await created({ orderRef: "basket-1" });
  const two = await created({ orderRef: "basket-1" });
  const three = await created({ orderRef: "100%_off" });
  const { orderRef: _none, ...withoutRef } = aPaymentRequest;
  const four = await harness.payments.createPayment(withoutRef, { caller, timeoutMs: 20_000 });
  await harness.aPendingPayment();
  const store = (id: string, at: Date, status: string) =>
    harness.sql("update payment set created_at = ?, status = ? where id = ?", [at, status, id]);
  await store(one.id, hour(1), "PENDING");
  await store(two.id, hour(1), "PENDING");
  await store(three.id, hour(2), "REFUSED");
  await store(four.id, hour(3), "PAID");
  pending = [one.id, two.id].sort().reverse();
  refused = three.id;
  newest = four.id;
});
afterAll(() => harness[Symbol.asyncDispose]());

const list = async (filter: object = {}, by = caller) => {
  const { payments, total } = await harness.payments.listPayments({ limit: 50, offset: 0, ...filter }, { caller: by });
  return { ids: payments.map(({ id }) => id), total };
};

describe("a business's payments", () => {
  test("come newest first, by id within a millisecond, with their total", async () => {
    expect(await list()).toEqual({ ids: [newest, refused, ...pending], total: 4 });
  });

  test("come in pages whose total is that of all", async () => {
    expect(await list({ limit: 2 })).toEqual({ ids: [newest, refused], total: 4 });
    expect(await list({ limit: 2, offset: 1 })).toEqual({ ids: [refused, pending[0]], total: 4 });
    expect(await list({ limit: 2, offset: 4 })).toEqual({ ids: [], total: 4 });
    expect(await list({ limit: 2, offset: 2_147_483_647 })).toEqual({ ids: [], total: 4 });
  });

  test("look in the list as they do alone", async () => {
    const { payments } = await harness.payments.listPayments({ limit: 1 }, { caller });
    expect(payments[0]).toEqual(await harness.payments.getPayment({ id: newest }, { caller }));
  });

  test("are filtered by status", async () => {
    expect(await list({ status: PaymentStatus.PAID })).toEqual({ ids: [newest], total: 1 });
    expect(await list({ status: PaymentStatus.PENDING })).toEqual({ ids: pending, total: 2 });
    expect(await list({ status: PaymentStatus.EXPIRED })).toEqual({ ids: [], total: 0 });
    expect(await list({ status: 99 })).toEqual({ ids: [], total: 0 });
  });

  test("are filtered by the exact reference", async () => {
    expect(await list({ orderRef: "basket-1" })).toEqual({ ids: pending, total: 2 });
    expect(await list({ orderRef: "100%_off" })).toEqual({ ids: [refused], total: 1 });
    for (const orderRef of ["basket", "%", "BASKET-1", "' or ''='"]) expect((await list({ orderRef })).total).toBe(0);
  });

  test("are filtered by their creation, from inclusive, to exclusive", async () => {
    const ms = (hours: number) => BigInt(hour(hours).getTime());
    expect(await list({ createdFromMs: ms(2) })).toEqual({ ids: [newest, refused], total: 2 });
    expect(await list({ createdToMs: ms(2) })).toEqual({ ids: pending, total: 2 });
    expect(await list({ createdFromMs: ms(2), createdToMs: ms(3) })).toEqual({ ids: [refused], total: 1 });
    expect(await list({ createdFromMs: ms(3), createdToMs: ms(2) })).toEqual({ ids: [], total: 0 });
  });

  test("are filtered by several at once", async () => {
    expect(await list({ status: PaymentStatus.PENDING, orderRef: "basket-1", limit: 1 })).toEqual({
      ids: [pending[0]],
      total: 2,
    });
    expect((await list({ status: PaymentStatus.PAID, orderRef: "basket-1" })).total).toBe(0);
  });

  test("none comes from a payment link", async () => {
    expect(await list({ paymentLinkId: uuidv7() })).toEqual({ ids: [], total: 0 });
  });

  test("are nobody else's", async () => {
    expect(await list({}, aBusinessCaller())).toEqual({ ids: [], total: 0 });
  });

  test("are not asked of the processor", async () => {
    const payment = await harness.aPendingPayment();
    await list({}, aBusinessCaller(payment.businessId));
    expect(await harness.calls(payment, "status")).toBe(0);
  });
});

test("an operator is refused", async () => {
  const refused = await refusal(harness.payments.listPayments({ limit: 1 }, { caller: adminCaller }));
  expect(refused).toMatchObject({ kind: "forbidden", code: "business_key_required" });
});
