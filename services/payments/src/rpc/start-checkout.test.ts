import { enumName } from "@amana/contracts/enum-names";
import { PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { CustomerFieldRule, type PaymentLink, PaymentLinkStatus } from "@amana/contracts/payments/v1/payment_link_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import type { DomainError } from "@amana/rpc";
import { allTenants, forTenant, uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, eventually, refusal } from "@amana/testing";
import type { Pool } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Harness, linkTokenOf, startHarness } from "../../test/harness.ts";
import { pageTokenOf } from "../payment/page-token.ts";

let harness: Harness;
const caller = aBusinessCaller();
beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

const aLink = (changes: object = {}) => harness.aPaymentLink(caller, changes);
const start: Harness["startCheckout"] = (link, changes) => harness.startCheckout(link, changes);
/**
 * Sends concurrent requests. Returns the ids of the started payments and the codes of the refusals.
 */
async function startConcurrently(link: PaymentLink, count: number, changes: object = {}) {
  const results = await Promise.allSettled(Array.from({ length: count }, () => start(link, changes)));
  return {
    ids: results.flatMap((result) => (result.status === "fulfilled" ? [result.value.payment?.id ?? ""] : [])),
    codes: results.flatMap((result) => (result.status === "rejected" ? [result.reason.code] : [])),
  };
}
const ofLink = async (link: PaymentLink) =>
  (await harness.payments.listPayments({ limit: 100, paymentLinkId: link.id }, { caller: aBusinessCaller(link.businessId) }))
    .payments;

/**
 * Starts requests while a lock on the table `payment` delays each insert. Releases the lock when
 * two transactions wait for a lock. If `startCheckout` did not lock the link's row, both
 * transactions would already have found a free slot.
 */
async function withHeldInserts<T>({ context, sql }: Harness, startAll: () => Promise<T>[]): Promise<PromiseSettledResult<T>[]> {
  return await forTenant(allTenants, async () => {
    const requests = await context.orm.em.fork().transactional(async (em) => {
      await em.execute("lock table payment in share mode");
      const requests = startAll();
      await eventually(async () => {
        const [row] = await sql<{ count: number }>(
          "select count(*)::int as count from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())",
        );
        expect(row?.count).toBeGreaterThanOrEqual(2);
      });
      return { settled: Promise.allSettled(requests) };
    });
    return await requests.settled;
  });
}
const isFull = async (link: PaymentLink) => (await refusal(start(link))) as { kind: string; code: string; message: string };

describe("startCheckout", () => {
  test("startCheckout returns a PENDING payment with the link's values and the processor's form URL", async () => {
    const link = await aLink({ orderRef: "spring-26", successUrl: "https://shop.test/thanks" });
    const { payment, paymentToken } = await start(link, { language: "AR" });
    const order = await harness.sandbox.byNumber(payment?.processorOrderNumber ?? "");
    const resultUrl = `${link.url}/result/${paymentToken}`;
    expect(payment).toMatchObject({
      businessId: caller.businessId,
      status: PaymentStatus.PENDING,
      amountMinor: 500_000n,
      currency: "DZD",
      language: "AR",
      description: "Two tickets",
      orderRef: "spring-26",
      successUrl: resultUrl,
      failUrl: resultUrl,
      paymentLinkId: link.id,
      conditionsVersion: "2026-01",
      conditionsAcceptedAtMs: payment?.createdAtMs,
      formUrl: order.formUrl,
    });
    for (const name of ["customerName", "customerEmail", "customerPhone"]) expect(payment).not.toHaveProperty(name);
    expect(paymentToken).toBe(pageTokenOf(await harness.readReturnToken(payment?.id ?? "")));
    expect(await ofLink(link)).toEqual([payment]);
  });

  test("startCheckout stores only the buyer data that the link requests", async () => {
    const { REQUIRED, OPTIONAL } = CustomerFieldRule;
    const link = await aLink({ customerFields: { name: REQUIRED, phone: OPTIONAL } });
    const buyer = { customerName: "Amina Benali", customerEmail: "amina@example.dz", customerPhone: "0550123456" };
    const { payment } = await start(link, buyer);
    expect(payment).toMatchObject({ customerName: "Amina Benali", customerPhone: "+213550123456" });
    expect(payment).not.toHaveProperty("customerEmail");
  });

  test("startCheckout creates the payment with the buyer's amount if the link has an amount range", async () => {
    const link = await aLink({ amountMinor: undefined, amountMinMinor: 5_000n, amountMaxMinor: 10_000n });
    expect((await start(link, { amountMinor: 7_500n })).payment?.amountMinor).toBe(7_500n);
  });

  test.each([
    [{ amountMinor: 400_000n }, "/amount"],
    [{ formToken: "" }, "/form_token"],
    [{ formToken: "a\0b" }, "/form_token"],
    [{ formToken: "a".repeat(201) }, "/form_token"],
    [{ language: "de" }, "/language"],
    [{ conditionsVersion: "" }, "/conditions"],
    [{ customerName: "" }, "/customer_name"],
    [{ customerName: "Amina", customerEmail: "amina" }, "/customer_email"],
  ])("startCheckout rejects %o and starts no payment", async (changes, pointer) => {
    const customerFields = { name: CustomerFieldRule.REQUIRED, email: CustomerFieldRule.OPTIONAL };
    const link = await aLink({ customerFields });
    const error = await refusal(start(link, { customerName: "Amina", ...changes }));
    expect(error).toMatchObject({ kind: "invalid", code: "validation_failed", pointer });
    expect(await ofLink(link)).toEqual([]);
  });

  test.each(["", "unknown", "a\0b", "t".repeat(22)])(
    "startCheckout returns payment_link_not_found for the link token %j",
    async (linkToken) => {
      const error = await refusal(start(await aLink(), { linkToken }));
      expect(error).toMatchObject({ kind: "not_found", code: "payment_link_not_found" });
    },
  );

  test.each([
    ["INACTIVE", "is_active = false"],
    ["EXPIRED", "expires_at = now() - interval '1 second'"],
    ["COMPLETED", "max_payments = 1, payments_paid = 1"],
  ])("startCheckout rejects a link in status %s with a message that does not state the status", async (status, sql) => {
    const link = await aLink();
    await harness.sql(`update payment_link set ${sql} where id = ?`, [link.id]);
    const error = await refusal(start(link));
    expect(error).toMatchObject({
      kind: "conflict",
      code: "payment_link_not_available",
      message: "The payment link is no longer available. Contact the seller.",
      members: {},
    });
    const { status: shownStatus } = await harness.links.getPaymentLink({ id: link.id }, { caller });
    expect(enumName(PaymentLinkStatus, shownStatus)).toBe(status);
    expect(await ofLink(link)).toEqual([]);
  });

  test.each([
    ["a business", aBusinessCaller()],
    ["an operator", adminCaller],
  ])("startCheckout rejects %s as the caller", async (_name, by) => {
    const request = { linkToken: linkTokenOf(await aLink()), formToken: "f", language: "FR", conditionsVersion: "1" };
    expect(await refusal(harness.checkout.startCheckout(request, { caller: by }))).toMatchObject({ code: "platform_required" });
  });

  test("startCheckout stores FAILED if the processor refuses the order, and returns the same processor_error for a repeated form token", async () => {
    await harness.sandbox.fault("register", "error:5");
    const link = await aLink({ maxPayments: 1 });
    const formToken = uuidv7();
    const error = await refusal(start(link, { formToken }));
    expect(error).toMatchObject({ kind: "upstream_error", code: "processor_error" });
    expect(await refusal(start(link, { formToken }))).toEqual(error);
    expect(await ofLink(link)).toMatchObject([{ status: PaymentStatus.FAILED }]);
    expect((await start(link)).payment?.status).toBe(PaymentStatus.PENDING);
  });
});

describe("startCheckout with a form token or browser of an earlier payment", () => {
  test("startCheckout returns one payment for ten concurrent requests with the same form token", async () => {
    await harness.sandbox.fault("register", "slow:300", 10);
    const link = await aLink();
    const { ids, codes } = await startConcurrently(link, 10, { formToken: uuidv7() });
    expect(codes).toEqual([]);
    expect(new Set(ids).size).toBe(1);
    const [payment] = await ofLink(link);
    if (!payment) throw new Error("the link has no payment");
    expect(await ofLink(link)).toHaveLength(1);
    expect(await harness.countCalls(payment, "register")).toBe(1);
  });

  test("startCheckout returns the existing payment for a repeated form token even after the payment has become PAID", async () => {
    const link = await aLink();
    const formToken = uuidv7();
    const { payment } = await start(link, { formToken });
    await harness.sandbox.pay(payment?.processorOrderId);
    await harness.returnFromProcessor(payment?.id ?? "");
    expect((await start(link, { formToken })).payment).toMatchObject({ id: payment?.id, status: PaymentStatus.PAID });
    expect(await ofLink(link)).toHaveLength(1);
  });

  test("startCheckout starts two payments if requests for two links have the same form token", async () => {
    const formToken = uuidv7();
    const [first, second] = [await start(await aLink(), { formToken }), await start(await aLink(), { formToken })];
    expect(first.payment?.id).not.toBe(second.payment?.id);
  });

  test("startCheckout returns the browser's payment in progress if another tab sends that payment's page token", async () => {
    const link = await aLink({ maxPayments: 1 });
    const { payment, paymentToken } = await start(link);
    const otherTab = await start(link, { paymentToken });
    expect(otherTab).toMatchObject({ payment: { id: payment?.id, formUrl: payment?.formUrl }, paymentToken });
    expect(await ofLink(link)).toHaveLength(1);
  });

  test("startCheckout returns the browser's payment in progress even if the link has been deactivated", async () => {
    const link = await aLink();
    const { payment, paymentToken } = await start(link);
    await harness.links.updatePaymentLink({ id: link.id, status: PaymentLinkStatus.INACTIVE }, { caller });
    expect((await start(link, { paymentToken })).payment?.id).toBe(payment?.id);
    expect(await refusal(start(link, { paymentToken, beginAgain: true }))).toMatchObject({ code: "payment_link_not_available" });
  });

  test("startCheckout with `beginAgain` starts a second payment while the first payment still occupies a slot", async () => {
    const link = await aLink({ maxPayments: 2 });
    const first = await start(link);
    const formToken = uuidv7();
    const newPaymentFields = { paymentToken: first.paymentToken, beginAgain: true, formToken };
    const second = await start(link, newPaymentFields);
    expect(second.payment?.id).not.toBe(first.payment?.id);
    expect((await start(link, newPaymentFields)).payment?.id).toBe(second.payment?.id);
    expect(await isFull(link)).toMatchObject({ code: "payment_link_full" });
    expect(await ofLink(link)).toHaveLength(2);
  });

  test("startCheckout starts a new payment if the browser's earlier payment was canceled or is past its time to pay", async () => {
    const link = await aLink();
    const first = await start(link);
    await harness.sandbox.cancel(first.payment?.processorOrderId);
    await harness.returnFromProcessor(first.payment?.id ?? "");
    const second = await start(link, { paymentToken: first.paymentToken });
    expect(second.payment?.id).not.toBe(first.payment?.id);
    await harness.sql("update payment set created_at = created_at - interval '1230 seconds' where id = ?", [second.payment?.id]);
    const third = await start(link, { paymentToken: second.paymentToken });
    expect(third.payment?.id).not.toBe(second.payment?.id);
  });

  test("startCheckout ignores the page token of another link's payment and an invalid page token", async () => {
    const otherCheckout = await start(await aLink());
    const link = await aLink();
    for (const paymentToken of [otherCheckout.paymentToken, "unknown", "a\0b"]) {
      expect((await start(link, { paymentToken })).payment).toMatchObject({ paymentLinkId: link.id });
    }
    expect(await ofLink(link)).toHaveLength(3);
  });
});

describe("startCheckout with max_payments", () => {
  test("startCheckout starts exactly one payment with one order when 100 buyers request the last slot concurrently", async () => {
    await using ownHarness = await startHarness();
    const link = await ownHarness.aPaymentLink(caller, { maxPayments: 2 });
    await ownHarness.aPaidCheckout(link);
    expect(await ownHarness.sandbox.countOrders()).toBe(1);
    const results = await withHeldInserts(ownHarness, () => Array.from({ length: 100 }, () => ownHarness.startCheckout(link)));
    const started = results.filter((result) => result.status === "fulfilled");
    expect(started).toHaveLength(1);
    const rejections = results.flatMap((result) => (result.status === "rejected" ? [(result.reason as DomainError).code] : []));
    expect(rejections).toContain("payment_link_full");
    // On a busy machine, some requests wait longer than three seconds for a connection.
    expect(rejections.filter((code) => code !== "payment_link_full" && code !== "service_unavailable")).toEqual([]);
    expect(await ownHarness.sandbox.countOrders()).toBe(2);
  });

  test("startCheckout starts exactly one payment if two replicas concurrently get requests for the last slot", async () => {
    await using replica = await startHarness({ sandbox: harness.sandbox, databaseUrl: harness.databaseUrl });
    const link = await aLink({ maxPayments: 1 });
    const starts = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? harness : replica).startCheckout(link));
    const started = (await Promise.allSettled(starts)).filter((result) => result.status === "fulfilled");
    expect(started).toHaveLength(1);
    expect(await ofLink(link)).toHaveLength(1);
  });

  test("startCheckout rejects a full link with a message for buyers", async () => {
    const link = await aLink({ maxPayments: 1 });
    await start(link);
    expect(await isFull(link)).toMatchObject({
      kind: "conflict",
      code: "payment_link_full",
      message: "All remaining payments of this link are in progress. Try again in a few minutes.",
    });
    expect(await ofLink(link)).toHaveLength(1);
  });

  test.each([
    [
      "canceled",
      async (id: string, orderId: string) => {
        await harness.sandbox.cancel(orderId);
        await harness.returnFromProcessor(id);
      },
    ],
    [
      "not paid before its time to pay was over",
      async (id: string) => {
        await harness.sql("update payment set created_at = created_at - interval '1230 seconds' where id = ?", [id]);
      },
    ],
  ])("startCheckout gives an earlier payment's slot to a new payment if the earlier payment was %s", async (_name, end) => {
    const link = await aLink({ maxPayments: 1 });
    const { payment } = await start(link);
    expect(await isFull(link)).toMatchObject({ code: "payment_link_full" });
    await end(payment?.id ?? "", payment?.processorOrderId ?? "");
    expect((await start(link)).payment?.id).not.toBe(payment?.id);
  });

  test("startCheckout rejects a new payment if a refunded payment occupies the last slot", async () => {
    const link = await aLink({ maxPayments: 1 });
    const { id } = await harness.aPaidCheckout(link);
    await harness.payments.refundPayment({ id }, { caller, timeoutMs: 20_000 });
    expect(await refusal(start(link))).toMatchObject({ code: "payment_link_not_available" });
  });

  test("startCheckout keeps a payment in its slot if the registration outcome is unknown, and reconcilePayments completes the registration", async () => {
    await harness.sandbox.fault("register", "reset_after", 1);
    await harness.sandbox.fault("status", "error:5", 1);
    const link = await aLink({ maxPayments: 1 });
    const formToken = uuidv7();
    expect(await refusal(start(link, { formToken }))).toMatchObject({ code: "processor_outcome_unknown" });
    expect(await isFull(link)).toMatchObject({ code: "payment_link_full" });
    await harness.sandbox.clearFaults();
    await harness.sql("update payment set next_check_at = now() where payment_link_id = ?", [link.id]);
    await using _job = harness.startReconciler();
    const { payment } = await eventually(() => start(link, { formToken }));
    expect(payment?.formUrl).toContain(payment?.processorOrderId);
    expect(await ofLink(link)).toHaveLength(1);
  });
});

describe("PAYMENT_LINK_COMPLETED", () => {
  test("returnFromProcessor emits PAYMENT_LINK_COMPLETED once if two payments that settle concurrently reach max_payments", async () => {
    const link = await harness.aPaymentLink(aBusinessCaller(), { maxPayments: 2, metadata: '{"course":7}' });
    const started = await Promise.all([harness.startCheckout(link), harness.startCheckout(link)]);
    for (const { payment } of started) await harness.sandbox.pay(payment?.processorOrderId);
    await Promise.all(started.map(({ payment }) => harness.returnFromProcessor(payment?.id ?? "")));
    const events = (await Promise.all(started.map(({ payment }) => harness.readEvents(payment?.id ?? "")))).flat();
    const counts = (type: PaymentEventType) => events.filter((event) => event.type === type).length;
    expect([counts(PaymentEventType.PAYMENT_COMPLETED), counts(PaymentEventType.PAYMENT_LINK_COMPLETED)]).toEqual([2, 1]);
    expect(events.map(({ linkMetadata }) => linkMetadata)).toEqual(events.map(() => '{"course":7}'));
  });

  test("returnFromProcessor does not emit PAYMENT_LINK_COMPLETED for a payment link without max_payments", async () => {
    const link = await harness.aPaymentLink();
    const { id } = await harness.aPaidCheckout(link);
    expect((await harness.readEvents(id)).map(({ type }) => type)).toEqual([PaymentEventType.PAYMENT_COMPLETED]);
  });
});

test("the generic plan of the count of a link's PENDING payments uses the index that contains only PENDING payments", async () => {
  const { orm } = harness.context;
  const pool = await (orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> }).getNativeClient();
  const texts = new Set<string>();
  pool.on("acquire", (client) => {
    if (Object.hasOwn(client, "query")) return;
    const query = client.query as (...config: unknown[]) => unknown;
    client.query = (...config: unknown[]) => {
      texts.add((config[0] as { text: string }).text);
      return query.apply(client, config) as never;
    };
  });
  const { businessId, id } = await aLink({ maxPayments: 5 });
  await start(await aLink({ maxPayments: 5 }));
  // A popular link, and links with one payment each.
  await harness.sql(
    `insert into payment (id, business_id, amount_minor, currency, status, language, success_url, fail_url, return_token,
       processor_order_number, created_at, updated_at, payment_link_id)
     select uuidv7(), ?::uuid, 100, 'DZD', case when i % 500 = 0 then 'PENDING' else 'PAID' end, 'FR', 'https://a.test',
       'https://a.test', 'count-' || i, (9000000000 + i)::text, now() - i * interval '100 milliseconds', now(),
       case when i <= 1600 then ?::uuid else uuidv7() end from generate_series(1, 2000) i`,
    [businessId, id],
  );
  await harness.sql("analyze payment");
  const counts = [...texts].filter((text) => /count\(\*\).* from payment\s.*payment_link_id/s.test(text));
  expect(counts).toHaveLength(1);
  const plan = await forTenant(allTenants, () => harness.sql(`explain (generic_plan, format json) ${counts[0]}`));
  expect(JSON.stringify(plan)).toContain("payment_business_link_pending");
});
