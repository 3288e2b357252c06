import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aPaymentRequest, type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
const caller = aBusinessCaller();
/**
 * Ids of four payments, newest first: a PAID payment without an order reference, a REFUSED payment,
 * and two PENDING payments with the same creation time.
 */
let newestId: string;
let refusedId: string;
let pendingIds: string[];
const dateAtHour = (hours: number) => new Date(Date.UTC(2026, 2, 1, hours));

beforeAll(async () => {
  harness = await startHarness();
  const createPayment = (changes: object) => harness.aPendingPayment(caller, changes);
  const firstPayment = await createPayment({ orderRef: "basket-1" });
  const secondPayment = await createPayment({ orderRef: "basket-1" });
  const thirdPayment = await createPayment({ orderRef: "100%_off" });
  const { orderRef: _none, ...withoutRef } = aPaymentRequest;
  const fourthPayment = await harness.payments.createPayment(withoutRef, { caller, timeoutMs: 20_000 });
  await harness.aPendingPayment();
  const storeStatus = (id: string, createdAt: Date, status: string) =>
    harness.sql("update payment set created_at = ?, status = ? where id = ?", [createdAt, status, id]);
  await storeStatus(firstPayment.id, dateAtHour(1), "PENDING");
  await storeStatus(secondPayment.id, dateAtHour(1), "PENDING");
  await storeStatus(thirdPayment.id, dateAtHour(2), "REFUSED");
  await storeStatus(fourthPayment.id, dateAtHour(3), "PAID");
  pendingIds = [firstPayment.id, secondPayment.id].sort().reverse();
  refusedId = thirdPayment.id;
  newestId = fourthPayment.id;
});
afterAll(() => harness[Symbol.asyncDispose]());

const list = async (filter: object = {}, listCaller = caller) => {
  const { payments, total } = await harness.payments.listPayments({ limit: 50, offset: 0, ...filter }, { caller: listCaller });
  return { ids: payments.map(({ id }) => id), total };
};

describe("listPayments", () => {
  test("listPayments returns payments in descending order of creation time and id, with their total number", async () => {
    expect(await list()).toEqual({ ids: [newestId, refusedId, ...pendingIds], total: 4 });
  });

  test("listPayments returns the total number of matching payments with each page", async () => {
    expect(await list({ limit: 2 })).toEqual({ ids: [newestId, refusedId], total: 4 });
    expect(await list({ limit: 2, offset: 1 })).toEqual({ ids: [refusedId, pendingIds[0]], total: 4 });
    expect(await list({ limit: 2, offset: 4 })).toEqual({ ids: [], total: 4 });
    expect(await list({ limit: 2, offset: 2_147_483_647 })).toEqual({ ids: [], total: 4 });
  });

  test("listPayments returns each payment with the same fields as getPayment", async () => {
    const { payments } = await harness.payments.listPayments({ limit: 1 }, { caller });
    expect(payments[0]).toEqual(await harness.payments.getPayment({ id: newestId }, { caller }));
  });

  test("listPayments returns only payments with the status that the request selects", async () => {
    expect(await list({ status: PaymentStatus.PAID })).toEqual({ ids: [newestId], total: 1 });
    expect(await list({ status: PaymentStatus.PENDING })).toEqual({ ids: pendingIds, total: 2 });
    expect(await list({ status: PaymentStatus.EXPIRED })).toEqual({ ids: [], total: 0 });
    expect(await list({ status: 99 })).toEqual({ ids: [], total: 0 });
  });

  test("listPayments returns only payments whose order reference equals the filter exactly", async () => {
    expect(await list({ orderRef: "basket-1" })).toEqual({ ids: pendingIds, total: 2 });
    expect(await list({ orderRef: "100%_off" })).toEqual({ ids: [refusedId], total: 1 });
    for (const orderRef of ["basket", "%", "BASKET-1", "' or ''='"]) expect((await list({ orderRef })).total).toBe(0);
  });

  test("listPayments filters by creation time with an inclusive start and an exclusive end", async () => {
    const toMs = (hours: number) => BigInt(dateAtHour(hours).getTime());
    expect(await list({ createdFromMs: toMs(2) })).toEqual({ ids: [newestId, refusedId], total: 2 });
    expect(await list({ createdToMs: toMs(2) })).toEqual({ ids: pendingIds, total: 2 });
    expect(await list({ createdFromMs: toMs(2), createdToMs: toMs(3) })).toEqual({ ids: [refusedId], total: 1 });
    expect(await list({ createdFromMs: toMs(3), createdToMs: toMs(2) })).toEqual({ ids: [], total: 0 });
  });

  test("listPayments returns only payments that match all filters of a request", async () => {
    expect(await list({ status: PaymentStatus.PENDING, orderRef: "basket-1", limit: 1 })).toEqual({
      ids: [pendingIds[0]],
      total: 2,
    });
    expect((await list({ status: PaymentStatus.PAID, orderRef: "basket-1" })).total).toBe(0);
  });

  test("listPayments returns payment_link_not_found when the filter has the id of an unknown payment link", async () => {
    const unknown = harness.payments.listPayments({ limit: 1, paymentLinkId: uuidv7() }, { caller: aBusinessCaller() });
    expect(await refusal(unknown)).toMatchObject({ kind: "not_found", code: "payment_link_not_found" });
  });

  test("listPayments returns no payment of another business", async () => {
    expect(await list({}, aBusinessCaller())).toEqual({ ids: [], total: 0 });
  });

  test("listPayments does not read orders at the processor", async () => {
    const payment = await harness.aPendingPayment();
    await list({}, aBusinessCaller(payment.businessId));
    expect(await harness.countCalls(payment, "status")).toBe(0);
  });
});

test("listPayments rejects an operator as the caller", async () => {
  const error = await refusal(harness.payments.listPayments({ limit: 1 }, { caller: adminCaller }));
  expect(error).toMatchObject({ kind: "forbidden", code: "business_key_required" });
});
