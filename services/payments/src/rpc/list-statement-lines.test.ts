import { RefundOutcome } from "@amana/contracts/payments/v1/refund_pb";
import { StatementLineType, StatementService } from "@amana/contracts/payments/v1/statement_service_pb";
import { createOrm } from "@amana/database";
import { type Caller, createRpcClient } from "@amana/rpc";
import { createLogger, forTenant } from "@amana/runtime";
import { aBusinessCaller, adminCaller, eventually, refusal } from "@amana/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Harness, noLease, startHarness } from "../../test/harness.ts";
import { database } from "../orm.ts";
import { rereadPayment } from "../payment/reread-payment.ts";

const { PAYMENT, REFUND, REVERSAL } = StatementLineType;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

let caller: ReturnType<typeof aBusinessCaller>;
beforeEach(() => {
  caller = aBusinessCaller();
});

const hourMs = 3_600_000;
const lastHour = () => ({ fromMs: BigInt(Date.now() - hourMs), toMs: BigInt(Date.now() + hourMs) });

async function readPage(range: { fromMs: bigint; toMs: bigint; cursor?: string }, by: Caller = caller) {
  return await createRpcClient(StatementService, harness.channel).listStatementLines(range, { caller: by });
}
const readLines = async () => (await readPage(lastHour())).lines;
const readSums = async () => (await readLines()).map(({ type, amountMinor, origin }) => [type, amountMinor, origin]);

const reread = (id: string) =>
  forTenant(caller.businessId, async () => rereadPayment(harness.context, await harness.stored(id), noLease, () => 5_000));

/**
 * Creates money movements of each kind, and a declined payment without a movement. Returns the paid
 * payments.
 */
async function changeMoney() {
  const [ours, external, reversed] = [
    await harness.aFinishedPayment(caller),
    await harness.aFinishedPayment(caller),
    await harness.aFinishedPayment(caller),
  ];
  await harness.aFinishedPayment(caller, { pan: "6280581110006712", expiry: "01/2027", cvv2: "897" });
  await harness.payments.refundPayment({ id: ours.id, amountMinor: 120_000n }, { caller, timeoutMs: 20_000 });
  await harness.sandbox.refundExternally(external.processorOrderId, "1000.00");
  await reread(external.id);
  await harness.sandbox.refundExternally(external.processorOrderId, "0.05");
  await reread(external.id);
  await harness.sandbox.reverse(reversed.processorOrderId);
  await reread(reversed.id);
  await harness.sandbox.refundExternally(ours.processorOrderId);
  await reread(ours.id);
  return { ours, external, reversed };
}

describe("listStatementLines", () => {
  test("listStatementLines returns each payment, refund and reversal in the order in which they took effect", async () => {
    const { ours, external, reversed } = await changeMoney();
    const lines = await readLines();
    expect(lines).toMatchObject([
      { type: PAYMENT, paymentId: ours.id, amountMinor: 500_000n, currency: "DZD", orderRef: "basket-7" },
      { type: PAYMENT, paymentId: external.id, amountMinor: 500_000n },
      { type: PAYMENT, paymentId: reversed.id, amountMinor: 500_000n },
      { type: REFUND, paymentId: ours.id, amountMinor: -120_000n, processorOrderNumber: ours.processorOrderNumber },
      { type: REFUND, paymentId: external.id, amountMinor: -100_000n, origin: "PROCESSOR" },
      { type: REFUND, paymentId: external.id, amountMinor: -5n, origin: "PROCESSOR" },
      { type: REVERSAL, paymentId: reversed.id, amountMinor: -500_000n, origin: "PROCESSOR" },
      { type: REFUND, paymentId: ours.id, amountMinor: -380_000n, origin: "PROCESSOR" },
    ]);
    expect(lines.map(({ origin }) => origin).slice(0, 4)).toEqual([undefined, undefined, undefined, undefined]);
    expect(Number(lines[0]?.atMs)).toBe((await harness.stored(ours.id)).paidAt?.getTime());
    expect(Number(lines[7]?.atMs)).toBe((await harness.stored(ours.id)).updatedAt.getTime());
    expect((await readPage(lastHour(), aBusinessCaller())).lines).toEqual([]);
  });

  test("listStatementLines returns a payment before its refund even if both were found in the same read of the order", async () => {
    const pending = await harness.aPendingPayment(caller);
    await harness.sandbox.pay(pending.processorOrderId);
    await harness.sandbox.refundExternally(pending.processorOrderId, "1000.00");
    await harness.returnFromProcessor(pending.id);
    expect(await readSums()).toEqual([
      [PAYMENT, 500_000n, undefined],
      [REFUND, -100_000n, "PROCESSOR"],
    ]);
  });

  test("listStatementLines returns a line for a refund that an operator accepts, and no line for a refund that an operator rejects", async () => {
    const [accepted, rejected] = [await harness.aFinishedPayment(caller), await harness.aFinishedPayment(caller)];
    for (const { id } of [accepted, rejected]) {
      await harness.sandbox.fault("refund", "http_503");
      expect(await refusal(harness.payments.refundPayment({ id }, { caller, timeoutMs: 20_000 }))).toBeDefined();
    }
    await harness.sql("update refund set needs_decision_since = now() where business_id = ?", [caller.businessId]);
    const { refunds } = await harness.refunds.listRefunds({ limit: 100, needsDecision: true }, { caller: adminCaller });
    for (const { id, payment } of refunds) {
      const outcome = payment?.id === accepted.id ? RefundOutcome.ACCEPTED : RefundOutcome.REJECTED;
      await harness.refunds.resolveRefund({ id, outcome, note: "read in the back office" }, { caller: adminCaller });
    }
    expect((await readSums()).slice(2)).toEqual([[REFUND, -500_000n, undefined]]);
  });

  test("listStatementLines returns each line in the half-open time range once and in order, over three pages", async () => {
    const { id } = await harness.aFinishedPayment(caller);
    const startMs = Date.UTC(2026, 0, 1);
    // Each second has three rows with the same time.
    await harness.sql(
      `insert into money_movement (business_id, at, payment_id, type, amount_minor)
       select ?, to_timestamp(? / 1000.0) + (i / 3) * interval '1 second', ?, 'PAYMENT', i from generate_series(0, 5999) i`,
      [caller.businessId, startMs, id],
    );
    const range = { fromMs: BigInt(startMs + 1_000), toMs: BigInt(startMs + 1_999_000) };
    const amounts: bigint[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await readPage({ ...range, cursor });
      expect(page.untilMs).toBe(range.toMs);
      amounts.push(...page.lines.map(({ amountMinor }) => amountMinor));
      cursor = page.nextCursor;
      pages++;
    } while (cursor !== undefined);
    expect(pages).toBe(3);
    expect(amounts.toSorted((a, b) => Number(a - b))).toEqual(Array.from({ length: 5_994 }, (_, i) => BigInt(i + 3)));
    expect(amounts.map((amount) => amount / 3n)).toEqual(amounts.map((amount) => amount / 3n).toSorted((a, b) => Number(a - b)));
  });

  test("listStatementLines ends a statement before the changes of an open transaction, and returns these changes in the next statement", async () => {
    const [slow, quick] = [await harness.aPendingPayment(caller), await harness.aPendingPayment(caller)];
    const fromMs = BigInt(Date.now() - hourMs);
    const { promise: committed, resolve: commit } = Promise.withResolvers<void>();
    const { promise: changed, resolve: reportChanged } = Promise.withResolvers<void>();
    const transaction = forTenant(caller.businessId, () =>
      harness.context.orm.em.fork().transactional(async (em) => {
        await em.execute("update payment set status = 'PAID', updated_at = clock_timestamp() where id = ?", [slow.id]);
        reportChanged();
        await committed;
      }),
    );
    await changed;
    await harness.sandbox.pay(quick.processorOrderId);
    await harness.returnFromProcessor(quick.id);

    const first = await readPage({ fromMs, toMs: BigInt(Date.now() + hourMs) });
    expect(first.lines).toEqual([]);
    expect(Number(first.untilMs)).toBeLessThan((await harness.stored(quick.id)).updatedAt.getTime());
    commit();
    await transaction;
    await eventually(async () => {
      const second = await readPage({ fromMs: first.untilMs, toMs: BigInt(Date.now() + hourMs) });
      expect(second.lines.map(({ paymentId }) => paymentId)).toEqual([slow.id, quick.id]);
    });
  });

  test("listStatementLines returns statement_not_ready while the payments service still inserts money movements of earlier payments", async () => {
    await harness.sql("insert into money_movement_fill (began_at, after_id) values (now(), ?)", [
      "00000000-0000-0000-0000-000000000000",
    ]);
    expect(await refusal(readLines())).toMatchObject({ kind: "unavailable", code: "statement_not_ready" });
    await harness.sql("delete from money_movement_fill");
    expect(await readLines()).toEqual([]);
  });
});

test("the table money_movement rejects updates and deletions, and rejects the insert of a row for another business", async () => {
  await harness.aFinishedPayment(caller);
  const owner = await createOrm({ ...database, url: harness.databaseUrl, poolMax: 1 }, createLogger("test", "silent"));
  for (const change of ["update money_movement set amount_minor = 1", "delete from money_movement", "truncate money_movement"]) {
    await expect(owner.em.fork().execute(change)).rejects.toThrow(/append-only/);
  }
  await owner.close();
  const insert = `insert into money_movement (business_id, at, payment_id, type, amount_minor) values (?, now(), ?, 'PAYMENT', 1)`;
  await expect(
    forTenant(caller.businessId, () =>
      harness.context.orm.em.fork().execute(insert, [aBusinessCaller().businessId, aBusinessCaller().businessId]),
    ),
  ).rejects.toThrow(/row-level security/);
  expect(await readLines()).toHaveLength(1);
});
