import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { migrate, transaction } from "@amana/database";
import { startPostgres } from "@amana/dev-env/postgres";
import { archivingTo, prepareRecovery, takeBaseBackup } from "@amana/e2e/base-backup";
import { createLogger, sleep } from "@amana/runtime";
import { aBusinessCaller, eventually, refusal, withIdempotencyKey } from "@amana/testing";
import pg from "pg";
import { expect, test } from "vitest";
import { database } from "../src/orm.ts";
import { compareWithConsumed } from "../src/payment/compare-consumed.ts";
import { readHold, updateHistory } from "../src/refund/hold.ts";
import { type Harness, startHarness } from "./harness.ts";
import { startSandbox } from "./sandbox.ts";

/** For manual runs: number of payments in the database, and seconds of refunds before the loss. */
const rows = Number(process.env["RESTORE_ROWS"] ?? 2_000);
const seconds = Number(process.env["RESTORE_SECONDS"] ?? 0);
const isManual = process.env["RESTORE_ROWS"] !== undefined;

const part = 100_000n;
/** Longer than the test, which ends the hold itself, independent of the speed of the machine. */
const refundLateEffectSeconds = 1_200;
/** Longer than the delay of the late refund in the sandbox. */
const restOfHold = "8 seconds";
const schedule = { refundLateEffectSeconds, refundCheckSeconds: [0.2, 0.5], paymentRereadSeconds: [86_400] };

test("the payments service, restored to an earlier time, refunds nothing twice and adopts the states of the processor", async () => {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), "amana-restore-"));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const [walFolder, baseBackup] = [join(dir, "wal"), join(dir, "base")];
  const settings = await archivingTo(walFolder);
  const start = async (name: string) => {
    const server = await startPostgres({
      dataDir: join(dir, name),
      durable: isManual,
      settings,
      log: () => {},
    });
    stack.defer(() => server.stop());
    return { ...server, url: server.superuserUrl.replace(/postgres$/, "amana_payments") };
  };
  const old = await start("old");
  await query(old.superuserUrl, "create database amana_payments");
  await migrate({ ...database, url: old.url }, createLogger("test", "silent"));
  await fill(old.url);
  const sandbox = stack.use(await startSandbox(false));
  const begin = async (databaseUrl: string) =>
    stack.use(await startHarness({ schedule, satimTimeoutMs: 2_000, sandbox, databaseUrl, background: true }));
  const before = await begin(old.url);
  const caller = aBusinessCaller();
  const report = isManual ? console.log : () => {};

  const [full, partial, late, untouched] = await Promise.all([1, 2, 3, 4].map(() => before.aFinishedPayment(caller)));
  if (!full || !partial || !late || !untouched) throw new Error("expected four payments");
  await takeBaseBackup(old, join(dir, "old"), baseBackup);
  const time = await nowOf(old.superuserUrl);

  // The restored database will lack everything from here on.
  const refund = (harness: Harness, id: string, amountMinor?: bigint) =>
    harness.payments.refundPayment({ id, ...(amountMinor && { amountMinor }) }, withIdempotencyKey(caller, `refund of ${id}`));
  const lost = await before.aFinishedPayment(caller);
  // Repeated under the same keys, because a busy machine can exceed a deadline.
  await eventually(() => refund(before, full.id));
  await eventually(() => refund(before, partial.id, part));
  const endsAtMs = performance.now() + seconds * 1_000;
  let refundsLost = 0;
  while (performance.now() < endsAtMs) {
    // A busy machine can exceed a deadline.
    const made = await before.aFinishedPayment(caller).catch(() => undefined);
    const outcome = made && (await refund(before, made.id).catch(() => undefined));
    if (outcome) refundsLost++;
    await sleep(200);
  }
  await sandbox.fault("refund", "late:7000");
  expect(await refusal(refund(before, late.id, part))).toMatchObject({ code: "refund_outcome_unknown" });

  const lostAtMs = performance.now();
  const afterLoss = () => `${((performance.now() - lostAtMs) / 1_000).toFixed(1)} s after the loss`;
  await before[Symbol.asyncDispose]();
  await old.stop();
  const [dataDir, lastWal] = [join(dir, "new"), join(dir, "old", "pg_wal")];
  await prepareRecovery({ baseBackup, walFolder, lastWal, dataDir, until: new Date(time) });
  const fresh = await start("new");
  report(`the log is replayed ${afterLoss()}`);
  const after = await begin(fresh.url);
  const statusOf = async (id: string) => (await after.payments.getPayment({ id }, { caller })).status;
  expect(await statusOf(full.id)).toBe(PaymentStatus.PAID);
  expect(await after.sql("select count(*)::int as refunds from refund")).toEqual([{ refunds: 0 }]);

  // The business repeats its requests under the same keys, which were lost too.
  for (const { id } of [full, partial, late]) {
    expect(await refusal(refund(after, id, part))).toMatchObject({ code: "refunds_held" });
  }
  const made = await after.aFinishedPayment(caller);
  expect(made.status).toBe(PaymentStatus.PAID);
  report(`payments are accepted ${afterLoss()}; ${refundsLost} refunds of ${seconds} s were lost`);

  // The events that webhooks received schedule reads of the existing payments during the hold.
  const consumed = [full, partial, lost].map(({ id }, i) => ({
    eventId: id,
    id,
    businessId: caller.businessId,
    status: i < 2 ? "REFUNDED" : "PAID",
    details: "",
  }));
  const differences = await transaction(after.context.orm, (em) => compareWithConsumed(em, consumed));
  expect(differences.map(({ id, here }) => [id, here])).toEqual(
    expect.arrayContaining([
      [full.id, "PAID"],
      [partial.id, "PAID"],
      [lost.id, "unknown"],
    ]),
  );
  await eventually(async () => {
    for (const { id } of [full, partial]) expect(await statusOf(id)).toBe(PaymentStatus.REFUNDED);
  });
  report(`the states of the processor are adopted ${afterLoss()}`);

  await eventually(async () => {
    const text = `update refund_hold set held_until = clock_timestamp() + interval '${restOfHold}' where held_until is not null returning 1`;
    expect(await query(fresh.url, text)).toHaveLength(1);
  });
  // No event reports the late refund. The read before the next refund finds it, after the hold.
  await eventually(async () => {
    expect(await refusal(refund(after, late.id, part))).toMatchObject({ code: "payment_not_refundable" });
  });
  report(`refunds are sent again ${afterLoss()}`);
  for (const { id } of [untouched, made]) {
    expect(await eventually(() => refund(after, id))).toMatchObject({ status: PaymentStatus.REFUNDED });
  }
  for (const [payment, sum] of [
    [full, 500_000n],
    [partial, part],
    [late, part],
    [untouched, 500_000n],
    [made, 500_000n],
  ] as const) {
    const { refundedAmount, calls } = await sandbox.order(payment.processorOrderId);
    expect(BigInt(refundedAmount)).toBe(sum);
    expect(calls.filter(({ operation }) => operation === "refund")).toHaveLength(1);
  }
}, 3_600_000);

test("updateHistory holds refunds after a restore of a backup without a stored history, unless the database has no payment", async () => {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), "amana-restore-"));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const dataDir = join(dir, "data");
  const server = await startPostgres({ dataDir, durable: false, log: () => {} });
  stack.defer(() => server.stop());
  await query(server.superuserUrl, "create database amana_payments");
  const databaseUrl = server.superuserUrl.replace(/postgres$/, "amana_payments");
  await migrate({ ...database, url: databaseUrl }, createLogger("test", "silent"));
  const begin = () => startHarness({ schedule, databaseUrl });
  {
    await using before = await begin();
    await before.aFinishedPayment();
  }
  // Simulates a restore: PostgreSQL replays the log to its end and starts a new timeline.
  await query(server.superuserUrl, "alter system set restore_command = 'false'");
  await server.stop();
  await writeFile(join(dataDir, "recovery.signal"), "");
  await server.start();

  await using after = await begin();
  const held = async () => (await readHold(after.context.orm.em.fork(), schedule)).heldUntil;
  expect(await query(databaseUrl, "select history from refund_hold")).toEqual([{ history: null }]);
  expect(await held()).toBeDefined();
  await updateHistory(after.context);
  expect(await held()).toBeDefined();
  await query(databaseUrl, "delete from payment");
  await query(databaseUrl, "update refund_hold set history = null, held_until = null");
  await updateHistory(after.context);
  expect(await held()).toBeUndefined();
});

/** Inserts payments of other businesses, to give the backup a realistic size. */
const fill = (url: string) =>
  query(
    url,
    `insert into payment (id, business_id, amount_minor, currency, status, language, success_url, fail_url, return_token,
       processor_order_number, processor_order_id, paid_at, created_at, updated_at)
     select uuidv7(), gen_random_uuid(), 500000, 'DZD', 'PAID', 'FR', 'https://shop.test/a', 'https://shop.test/b', gen_random_uuid(),
       (1000000000 + n)::text, gen_random_uuid(), now(), now(), now() from generate_series(1, ${rows}) as n`,
  );

async function nowOf(url: string): Promise<string> {
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
