import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { migrate, transaction } from "@amana/database";
import { startPostgres } from "@amana/dev-env/postgres";
import { prepareRecovery, readArchiveSettings, takeBaseBackup } from "@amana/e2e/base-backup";
import { createLogger, sleep } from "@amana/runtime";
import { aBusinessCaller, eventually, refusal, withIdempotencyKey } from "@amana/testing";
import pg from "pg";
import { expect, test } from "vitest";
import { database } from "../src/orm.ts";
import { findDifferences } from "../src/payment/compare-consumed.ts";
import { readRefundHold, updateHistory } from "../src/refund/refund-hold.ts";
import { type Harness, startHarness } from "./harness.ts";
import { startSandbox } from "./sandbox.ts";

/**
 * Settings of manual runs: number of payments in the database, and how long refunds are sent before
 * the loss.
 */
const rowCount = Number(process.env["RESTORE_ROWS"] ?? 2_000);
const refundSeconds = Number(process.env["RESTORE_SECONDS"] ?? 0);
const isManual = process.env["RESTORE_ROWS"] !== undefined;

const partMinor = 100_000n;
/**
 * The hold lasts longer than the test. The test shortens the hold itself, so this value does not
 * affect the test's duration.
 */
const refundLateEffectSeconds = 1_200;
/**
 * Remaining time of the hold after the test shortens it. This time is longer than the delay of the
 * late refund.
 */
const remainingHold = "8 seconds";
const schedule = { refundLateEffectSeconds, refundCheckSeconds: [0.2, 0.5], paymentRereadSeconds: [86_400] };

test("the payments service executes no refund twice and adopts the processor's states after a restore of its database to an earlier time", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "amana-restore-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const [walFolder, baseBackup] = [join(folder, "wal"), join(folder, "base")];
  const settings = await readArchiveSettings(walFolder);
  const startServer = async (name: string) => {
    const server = await startPostgres({
      dataDir: join(folder, name),
      durable: isManual,
      settings,
      log: () => {},
    });
    stack.defer(() => server.stop());
    return { ...server, url: server.superuserUrl.replace(/postgres$/, "amana_payments") };
  };
  const oldServer = await startServer("old");
  await query(oldServer.superuserUrl, "create database amana_payments");
  await migrate({ ...database, url: oldServer.url }, createLogger("test", "silent"));
  await insertPayments(oldServer.url);
  const sandbox = stack.use(await startSandbox(false));
  const startService = async (databaseUrl: string) =>
    stack.use(await startHarness({ schedule, satimTimeoutMs: 2_000, sandbox, databaseUrl, background: true }));
  const oldHarness = await startService(oldServer.url);
  const caller = aBusinessCaller();
  const report = isManual ? console.log : () => {};

  const [fullPayment, partialPayment, latePayment, untouchedPayment] = await Promise.all(
    [1, 2, 3, 4].map(() => oldHarness.aFinishedPayment(caller)),
  );
  if (!fullPayment || !partialPayment || !latePayment || !untouchedPayment) throw new Error("expected four payments");
  await takeBaseBackup(oldServer, join(folder, "old"), baseBackup);
  const time = await readTime(oldServer.superuserUrl);

  // The restored database lacks all changes after this time.
  const refund = (harness: Harness, id: string, amountMinor?: bigint) =>
    harness.payments.refundPayment({ id, ...(amountMinor && { amountMinor }) }, withIdempotencyKey(caller, `refund of ${id}`));
  const lostPayment = await oldHarness.aFinishedPayment(caller);
  // Repeats requests with the same Idempotency-Keys, because requests on a busy machine can exceed
  // a deadline.
  await eventually(() => refund(oldHarness, fullPayment.id));
  await eventually(() => refund(oldHarness, partialPayment.id, partMinor));
  const endsAtMs = performance.now() + refundSeconds * 1_000;
  let refundsLost = 0;
  while (performance.now() < endsAtMs) {
    // Ignores errors, because requests on a busy machine can exceed a deadline.
    const extraPayment = await oldHarness.aFinishedPayment(caller).catch(() => undefined);
    const outcome = extraPayment && (await refund(oldHarness, extraPayment.id).catch(() => undefined));
    if (outcome) refundsLost++;
    await sleep(200);
  }
  await sandbox.fault("refund", "late:7000");
  expect(await refusal(refund(oldHarness, latePayment.id, partMinor))).toMatchObject({ code: "refund_outcome_unknown" });

  const lossAtMs = performance.now();
  const timeAfterLoss = () => `${((performance.now() - lossAtMs) / 1_000).toFixed(1)} s after the loss`;
  await oldHarness[Symbol.asyncDispose]();
  await oldServer.stop();
  const [dataDir, lastWal] = [join(folder, "new"), join(folder, "old", "pg_wal")];
  await prepareRecovery({ baseBackup, walFolder, lastWal, dataDir, until: new Date(time) });
  const newServer = await startServer("new");
  report(`the log is replayed ${timeAfterLoss()}`);
  const newHarness = await startService(newServer.url);
  const readStatus = async (id: string) => (await newHarness.payments.getPayment({ id }, { caller })).status;
  expect(await readStatus(fullPayment.id)).toBe(PaymentStatus.PAID);
  expect(await newHarness.sql("select count(*)::int as refunds from refund")).toEqual([{ refunds: 0 }]);

  // The business repeats its requests with the same Idempotency-Keys. The restored database lacks
  // these keys.
  for (const { id } of [fullPayment, partialPayment, latePayment]) {
    expect(await refusal(refund(newHarness, id, partMinor))).toMatchObject({ code: "refunds_held" });
  }
  const newPayment = await newHarness.aFinishedPayment(caller);
  expect(newPayment.status).toBe(PaymentStatus.PAID);
  report(`payments are accepted ${timeAfterLoss()}; ${refundsLost} refunds of ${refundSeconds} s were lost`);

  // The comparison with the events that webhooks received schedules reads of the existing payments
  // during the hold.
  const consumedEvents = [fullPayment, partialPayment, lostPayment].map(({ id }, i) => ({
    eventId: id,
    id,
    businessId: caller.businessId,
    status: i < 2 ? "REFUNDED" : "PAID",
    details: "",
  }));
  const differences = await transaction(newHarness.context.orm, (em) => findDifferences(em, consumedEvents));
  expect(differences.map(({ id, here }) => [id, here])).toEqual(
    expect.arrayContaining([
      [fullPayment.id, "PAID"],
      [partialPayment.id, "PAID"],
      [lostPayment.id, "unknown"],
    ]),
  );
  await eventually(async () => {
    for (const { id } of [fullPayment, partialPayment]) expect(await readStatus(id)).toBe(PaymentStatus.REFUNDED);
  });
  report(`the states of the processor are adopted ${timeAfterLoss()}`);

  await eventually(async () => {
    const text = `update refund_hold set held_until = clock_timestamp() + interval '${remainingHold}' where held_until is not null returning 1`;
    expect(await query(newServer.url, text)).toHaveLength(1);
  });
  // No event contains the late refund. The next refund reads the order first and finds the late
  // refund.
  await eventually(async () => {
    expect(await refusal(refund(newHarness, latePayment.id, partMinor))).toMatchObject({ code: "payment_not_refundable" });
  });
  report(`refunds are sent again ${timeAfterLoss()}`);
  for (const { id } of [untouchedPayment, newPayment]) {
    expect(await eventually(() => refund(newHarness, id))).toMatchObject({ status: PaymentStatus.REFUNDED });
  }
  for (const [payment, sum] of [
    [fullPayment, 500_000n],
    [partialPayment, partMinor],
    [latePayment, partMinor],
    [untouchedPayment, 500_000n],
    [newPayment, 500_000n],
  ] as const) {
    const { refundedAmount, calls } = await sandbox.order(payment.processorOrderId);
    expect(BigInt(refundedAmount)).toBe(sum);
    expect(calls.filter(({ operation }) => operation === "refund")).toHaveLength(1);
  }
}, 3_600_000);

test("updateHistory holds refunds after a restore of a backup that contains payments but no database history", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "amana-restore-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const dataDir = join(folder, "data");
  const server = await startPostgres({ dataDir, durable: false, log: () => {} });
  stack.defer(() => server.stop());
  await query(server.superuserUrl, "create database amana_payments");
  const databaseUrl = server.superuserUrl.replace(/postgres$/, "amana_payments");
  await migrate({ ...database, url: databaseUrl }, createLogger("test", "silent"));
  const startService = () => startHarness({ schedule, databaseUrl });
  {
    await using harness = await startService();
    await harness.aFinishedPayment();
  }
  // Simulates a restore: PostgreSQL replays the log to its end and starts a new timeline.
  await query(server.superuserUrl, "alter system set restore_command = 'false'");
  await server.stop();
  await writeFile(join(dataDir, "recovery.signal"), "");
  await server.start();

  await using newHarness = await startService();
  const readHeldUntil = async () => (await readRefundHold(newHarness.context.orm.em.fork(), schedule)).heldUntil;
  expect(await query(databaseUrl, "select history from refund_hold")).toEqual([{ history: null }]);
  expect(await readHeldUntil()).toBeDefined();
  await updateHistory(newHarness.context);
  expect(await readHeldUntil()).toBeDefined();
  await query(databaseUrl, "delete from payment");
  await query(databaseUrl, "update refund_hold set history = null, held_until = null");
  await updateHistory(newHarness.context);
  expect(await readHeldUntil()).toBeUndefined();
});

/** Inserts payments of other businesses, so that the backup has a realistic size. */
const insertPayments = (url: string) =>
  query(
    url,
    `insert into payment (id, business_id, amount_minor, currency, status, language, success_url, fail_url, return_token,
       processor_order_number, processor_order_id, paid_at, created_at, updated_at)
     select uuidv7(), gen_random_uuid(), 500000, 'DZD', 'PAID', 'FR', 'https://shop.test/a', 'https://shop.test/b', gen_random_uuid(),
       (1000000000 + n)::text, gen_random_uuid(), now(), now(), now() from generate_series(1, ${rowCount}) as n`,
  );

async function readTime(url: string): Promise<string> {
  const [row] = await query<{ at: string }>(url, "select to_json(clock_timestamp()) #>> '{}' as at");
  return new Date(row?.at ?? "").toISOString();
}

async function query<Row extends object>(connectionString: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
