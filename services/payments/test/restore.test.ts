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
import { noteHistory, readHold } from "../src/refund/hold.ts";
import { type Harness, startHarness } from "./harness.ts";
import { startSandbox } from "./sandbox.ts";

/** By hand: RESTORE_ROWS says how much there is, RESTORE_SECONDS for how long it goes on. */
const rows = Number(process.env["RESTORE_ROWS"] ?? 2_000);
const seconds = Number(process.env["RESTORE_SECONDS"] ?? 0);
const isByHand = process.env["RESTORE_ROWS"] !== undefined;

const part = 100_000n;
/** Longer than the test: it ends the hold itself, so that a slow machine cannot. */
const refundLateEffectSeconds = 1_200;
/** Longer than the sandbox delays the late refund. */
const restOfHold = "8 seconds";
const schedule = { refundLateEffectSeconds, refundCheckSeconds: [0.2, 0.5], paymentRereadSeconds: [86_400] };

test("payments, restored under a processor that goes on, gives nothing back twice, and becomes what it is there", async () => {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), "amana-restore-"));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const [walFolder, baseBackup] = [join(dir, "wal"), join(dir, "base")];
  const settings = await archivingTo(walFolder);
  const start = async (name: string) => {
    const server = await startPostgres({
      dataDir: join(dir, name),
      durable: isByHand,
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
  const told = isByHand ? console.log : () => {};

  const [whole, some, late, untouched] = await Promise.all([1, 2, 3, 4].map(() => before.aFinishedPayment(caller)));
  if (!whole || !some || !late || !untouched) throw new Error("four payments");
  await takeBaseBackup(old, join(dir, "old"), baseBackup);
  const time = await nowOf(old.superuserUrl);

  // From here on only the processor and the business know.
  const refund = (harness: Harness, id: string, amountMinor?: bigint) =>
    harness.payments.refundPayment({ id, ...(amountMinor && { amountMinor }) }, withIdempotencyKey(caller, `refund of ${id}`));
  const lost = await before.aFinishedPayment(caller);
  // Under the same keys, until a busy machine gets an answer.
  await eventually(() => refund(before, whole.id));
  await eventually(() => refund(before, some.id, part));
  const endsAtMs = performance.now() + seconds * 1_000;
  let since = 0;
  while (performance.now() < endsAtMs) {
    // A busy machine may lose one now and then.
    const made = await before.aFinishedPayment(caller).catch(() => undefined);
    const outcome = made && (await refund(before, made.id).catch(() => undefined));
    if (outcome) since++;
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
  told(`the log is read ${afterLoss()}`);
  const after = await begin(fresh.url);
  const statusOf = async (id: string) => (await after.payments.getPayment({ id }, { caller })).status;
  expect(await statusOf(whole.id)).toBe(PaymentStatus.PAID);
  expect(await after.sql("select count(*)::int as refunds from refund")).toEqual([{ refunds: 0 }]);

  // The business repeats what it asked for, under the same keys: they are forgotten, too.
  for (const { id } of [whole, some, late]) {
    expect(await refusal(refund(after, id, part))).toMatchObject({ code: "refunds_held" });
  }
  const made = await after.aFinishedPayment(caller);
  expect(made.status).toBe(PaymentStatus.PAID);
  told(`payments are taken ${afterLoss()}, and ${since} refunds of these ${seconds} s are forgotten`);

  // What webhooks was told brings the sweep to those that are known, while refunds are held.
  const heard = [whole, some, lost].map(({ id }, i) => ({
    eventId: id,
    id,
    businessId: caller.businessId,
    status: i < 2 ? "REFUNDED" : "PAID",
    details: "",
  }));
  const differences = await transaction(after.context.orm, (em) => compareWithConsumed(em, heard));
  expect(differences.map(({ id, here }) => [id, here])).toEqual(
    expect.arrayContaining([
      [whole.id, "PAID"],
      [some.id, "PAID"],
      [lost.id, "unknown"],
    ]),
  );
  await eventually(async () => {
    for (const { id } of [whole, some]) expect(await statusOf(id)).toBe(PaymentStatus.REFUNDED);
  });
  told(`what the processor did is taken over ${afterLoss()}`);

  await eventually(async () => {
    const text = `update refund_hold set held_until = clock_timestamp() + interval '${restOfHold}' where held_until is not null returning 1`;
    expect(await query(fresh.url, text)).toHaveLength(1);
  });
  // Nobody was told of the late one. It is found when somebody asks, behind the hold.
  await eventually(async () => {
    expect(await refusal(refund(after, late.id, part))).toMatchObject({ code: "payment_not_refundable" });
  });
  told(`refunds go on ${afterLoss()}`);
  for (const { id } of [untouched, made]) {
    expect(await eventually(() => refund(after, id))).toMatchObject({ status: PaymentStatus.REFUNDED });
  }
  for (const [payment, sum] of [
    [whole, 500_000n],
    [some, part],
    [late, part],
    [untouched, 500_000n],
    [made, 500_000n],
  ] as const) {
    const { refundedAmount, calls } = await sandbox.order(payment.processorOrderId);
    expect(BigInt(refundedAmount)).toBe(sum);
    expect(calls.filter(({ operation }) => operation === "refund")).toHaveLength(1);
  }
}, 3_600_000);

test("a backup from before there was anything to remember a history in is held too, and an empty database is not", async () => {
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
  // As a restore leaves it: the log is read to its end, and goes on as another timeline.
  await query(server.superuserUrl, "alter system set restore_command = 'false'");
  await server.stop();
  await writeFile(join(dataDir, "recovery.signal"), "");
  await server.start();

  await using after = await begin();
  const held = async () => (await readHold(after.context.orm.em.fork(), schedule)).heldUntil;
  expect(await query(databaseUrl, "select history from refund_hold")).toEqual([{ history: null }]);
  expect(await held()).toBeDefined();
  await noteHistory(after.context);
  expect(await held()).toBeDefined();
  await query(databaseUrl, "delete from payment");
  await query(databaseUrl, "update refund_hold set history = null, held_until = null");
  await noteHistory(after.context);
  expect(await held()).toBeUndefined();
});

/** Payments of others, so that there is something to copy. */
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
