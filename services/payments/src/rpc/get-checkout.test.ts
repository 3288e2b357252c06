import { CheckoutState } from "@amana/contracts/payments/v1/checkout_service_pb";
import type { PaymentLink } from "@amana/contracts/payments/v1/payment_link_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { platformCaller } from "@amana/rpc";
import { allTenants, forTenant } from "@amana/runtime";
import { aBusinessCaller, refusal } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Harness, linkTokenOf, startHarness } from "../../test/harness.ts";
import { pageTokenSql } from "../payment/page-token.ts";

let harness: Harness;
const caller = aBusinessCaller();
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const aLink = (changes: object = {}) => harness.aPaymentLink(caller, changes);
const read = (link: PaymentLink, paymentToken?: string) => {
  const request = { linkToken: linkTokenOf(link), ...(paymentToken !== undefined && { paymentToken }) };
  return harness.checkout.getCheckout(request, { caller: platformCaller });
};

describe("getCheckout", () => {
  test("getCheckout returns an open link with the same fields as getPaymentLink", async () => {
    const link = await aLink({ maxPayments: 1, description: "Row 7" });
    expect(await read(link)).toMatchObject({ link, state: CheckoutState.OPEN });
    expect(await read(link)).not.toHaveProperty("payment");
  });

  test.each(["is_active = false", "expires_at = now() - interval '1 second'", "max_payments = 1, payments_paid = 1"])(
    "getCheckout returns UNAVAILABLE for a link with %s",
    async (sql) => {
      const link = await aLink();
      await harness.sql(`update payment_link set ${sql} where id = ?`, [link.id]);
      expect(await read(link)).toMatchObject({ state: CheckoutState.UNAVAILABLE });
    },
  );

  test("getCheckout returns FULL while PAID and PENDING payments occupy all slots, and OPEN when a PENDING payment's time to pay is over", async () => {
    const link = await aLink({ maxPayments: 2 });
    await harness.aPaidCheckout(link);
    expect(await read(link)).toMatchObject({ state: CheckoutState.OPEN });
    const { payment } = await harness.startCheckout(link);
    expect(await read(link)).toMatchObject({ state: CheckoutState.FULL });
    await harness.sql("update payment set created_at = created_at - interval '1230 seconds' where id = ?", [payment?.id]);
    expect(await read(link)).toMatchObject({ state: CheckoutState.OPEN });
  });

  test("getCheckout returns the payment with the given page token until the payment's time to pay is over", async () => {
    const link = await aLink({ maxPayments: 1 });
    const { payment, paymentToken } = await harness.startCheckout(link);
    expect(await read(link, paymentToken)).toMatchObject({ state: CheckoutState.FULL, payment });
    await harness.sql("update payment set created_at = created_at - interval '1230 seconds' where id = ?", [payment?.id]);
    expect(await read(link, paymentToken)).not.toHaveProperty("payment");
  });

  test("getCheckout returns no payment if the page token is invalid or belongs to a CANCELED payment or another link's payment", async () => {
    const link = await aLink();
    const canceledCheckout = await harness.startCheckout(link);
    await harness.sandbox.cancel(canceledCheckout.payment?.processorOrderId);
    await harness.returnFromProcessor(canceledCheckout.payment?.id ?? "");
    const otherCheckout = await harness.startCheckout(await aLink());
    for (const token of [canceledCheckout.paymentToken, otherCheckout.paymentToken, "", "a\0b", "0".repeat(64)]) {
      expect(await read(link, token)).not.toHaveProperty("payment");
    }
  });

  test.each(["", "unknown", "a\0b", "t".repeat(22)])(
    "getCheckout returns payment_link_not_found for the link token %j",
    async (linkToken) => {
      const error = await refusal(harness.checkout.getCheckout({ linkToken }, { caller: platformCaller }));
      expect(error).toMatchObject({ kind: "not_found", code: "payment_link_not_found" });
    },
  );

  test("getCheckout rejects a business as the caller", async () => {
    const error = await refusal(harness.checkout.getCheckout({ linkToken: linkTokenOf(await aLink()) }, { caller }));
    expect(error).toMatchObject({ code: "platform_required" });
  });
});

test("PostgreSQL uses an index to find a payment by its page token, even under row-level security", async () => {
  const explained = await forTenant(allTenants, () =>
    harness.context.orm.em
      .fork()
      .execute<Record<string, string>[]>(`explain select id from payment_of_tenants where ${pageTokenSql} = ?`, ["0".repeat(64)]),
  );
  expect(explained.map((row) => row["QUERY PLAN"]).join("\n")).toContain("payment_page_token_key");
});

describe("getCheckoutResult", () => {
  const result = (link: PaymentLink, paymentToken: string) =>
    harness.checkout.getCheckoutResult(
      { linkToken: linkTokenOf(link), paymentToken },
      { caller: platformCaller, timeoutMs: 20_000 },
    );

  test("getCheckoutResult reads a PENDING payment at the processor, and returns PAID if the order is paid", async () => {
    const link = await aLink({ maxPayments: 2 });
    const { payment, paymentToken } = await harness.startCheckout(link);
    await harness.sandbox.pay(payment?.processorOrderId);
    const paid = await result(link, paymentToken);
    expect(paid).toMatchObject({ payment: { id: payment?.id, status: PaymentStatus.PAID }, canTryAgain: true });
    expect(paid.link).toEqual(await harness.links.getPaymentLink({ id: link.id }, { caller }));
  });

  test("getCheckoutResult reads a payment at the processor at most once in ten seconds", async () => {
    const link = await aLink();
    const { payment, paymentToken } = await harness.startCheckout(link);
    for (let i = 0; i < 3; i++) expect((await result(link, paymentToken)).payment?.status).toBe(PaymentStatus.PENDING);
    if (!payment) throw new Error("no payment was started");
    expect(await harness.countCalls(payment, "status")).toBe(1);
  });

  test("getCheckoutResult returns `canTryAgain: false` if other payments occupy all slots of the link", async () => {
    const link = await aLink({ maxPayments: 1 });
    const canceled = await harness.startCheckout(link);
    await harness.sandbox.cancel(canceled.payment?.processorOrderId);
    expect(await result(link, canceled.paymentToken)).toMatchObject({
      payment: { status: PaymentStatus.CANCELED },
      canTryAgain: true,
    });
    await harness.startCheckout(link);
    expect((await result(link, canceled.paymentToken)).canTryAgain).toBe(false);
  });

  test("getCheckoutResult returns not_found for a payment of another link and for unknown tokens", async () => {
    const [link, otherLink] = [await aLink(), await aLink()];
    const { paymentToken } = await harness.startCheckout(link);
    expect(await refusal(result(otherLink, paymentToken))).toMatchObject({ kind: "not_found", code: "not_found" });
    for (const token of ["", "a\0b", "0".repeat(64)]) {
      expect(await refusal(result(link, token))).toMatchObject({ kind: "not_found", code: "not_found" });
    }
    expect(await refusal(result({ ...link, url: "/unknown" }, paymentToken))).toMatchObject({ code: "payment_link_not_found" });
  });

  test("getCheckoutResult rejects a business as the caller", async () => {
    const request = { linkToken: linkTokenOf(await aLink()), paymentToken: "0".repeat(64) };
    expect(await refusal(harness.checkout.getCheckoutResult(request, { caller }))).toMatchObject({ code: "platform_required" });
  });
});
