import { databaseTime, transaction } from "@amana/database";
import { type DueRows, processDueRows } from "@amana/jobs";
import { createLogger } from "@amana/runtime";
import { createTestDatabase, eventually, forAllTenants, testEventSettings, testRpcSettings } from "@amana/testing";
import { expect, test } from "vitest";
import { paymentsSettings } from "../../test/harness.ts";
import { readConfig } from "../config.ts";
import { database } from "../orm.ts";
import { Payment } from "../payment/payment.ts";
import { describeFollowUpRows, describeRereadRows } from "./reread-payments.ts";

/**
 * Length of one step of virtual time. In each step, the test moves all times in the rows back by
 * this length. The test uses each rate per second as a number per step: five payments per second
 * are five new rows in each step.
 */
const stepHours = 24;
const paymentsPerSecond = 5;
/** The last reread of a payment is at most 36 days after the card payment: 30 days plus 20 %. */
const simulatedDays = 38;
const business = "0195a000-0000-7000-8000-000000000002";

const { schedule } = readConfig({
  RPC_PORT: "4003",
  DATABASE_URL: "postgres://unused",
  ...testEventSettings("payments.v1", "audit.v1"),
  ...testRpcSettings,
  ...paymentsSettings("http://127.0.0.1:9"),
});

test("rereadPayments and followUpPayments with default settings build up no backlog for a business with five payments per second", async () => {
  await using testDatabase = await createTestDatabase("payments", database);
  const sql = <Row extends object>(text: string, values: unknown[] = []) =>
    testDatabase.orm.em.fork().execute<Row[]>(text, values);
  const countDue = async ({ dueColumn }: DueRows) =>
    (await sql<{ due: number }>(`select count(*)::int as due from payment where ${dueColumn} <= now()`))[0]?.due ?? 0;

  const passTime = () =>
    sql(
      `update payment set (paid_at, refund_ended_at, next_reread_at, next_follow_up_at) =
         (paid_at - step, refund_ended_at - step, next_reread_at - step, next_follow_up_at - step)
       from (select make_interval(hours => ?) as step) as virtual`,
      [stepHours],
    );
  /** Inserts the payments of one step. One of these payments has a refund that ended. */
  const payAndRefund = (step: number) =>
    sql(
      `insert into payment (id, business_id, amount_minor, currency, status, language, success_url, fail_url, return_token,
         processor_order_number, processor_order_id, paid_at, refund_ended_at, next_reread_at, next_follow_up_at, created_at, updated_at)
       select gen_random_uuid(), ?, 500000, 'DZD', 'PAID', 'FR', 's', 'f', gen_random_uuid(), (1000000000 + n)::text, gen_random_uuid(),
         now(), case when n % 5 = 0 then now() end, now(), case when n % 5 = 0 then now() end, now(), now()
       from generate_series(?::int, ?::int) as n`,
      [business, step * paymentsPerSecond, (step + 1) * paymentsPerSecond - 1],
    );

  let readCount = 0;
  const planNextRead = (id: string) =>
    transaction(testDatabase.orm, async (em) => {
      const payment = await em.findOneOrFail(Payment, { id });
      payment.planReread(schedule, await databaseTime(em));
      readCount += 1;
    });
  /**
   * Runs the job until it has reached its rate limit for one step or no row is due. Returns the
   * number of rows that are due afterwards.
   */
  const runOneStep = async (rows: DueRows) => {
    const limit = readCount + (rows.rowsPerPauseMax ?? 0);
    await using _job = processDueRows(
      { orm: testDatabase.orm, logger: createLogger("test", "silent") },
      rows,
      planNextRead,
      3_600_000,
    );
    await eventually(async () => expect(readCount === limit || (await countDue(rows)) === 0).toBe(true));
    return await countDue(rows);
  };

  const backlog = { rereads: [] as number[], followUps: [] as number[] };
  await forAllTenants(async () => {
    for (let step = 0; step < (simulatedDays * 24) / stepHours; step++) {
      await passTime();
      await payAndRefund(step);
      backlog.rereads.push(await runOneStep(describeRereadRows(schedule)));
      backlog.followUps.push(await runOneStep(describeFollowUpRows(schedule)));
    }
  })();
  expect(backlog.rereads.filter((remainingRows) => remainingRows > 0)).toEqual([]);
  expect(backlog.followUps.filter((remainingRows) => remainingRows > 0)).toEqual([]);
  // The payments of the first days had all five rereads. Two of these rereads can be in one step,
  // so the test requires only four.
  expect(readCount).toBeGreaterThan((simulatedDays - 36) * (24 / stepHours) * paymentsPerSecond * 4);
}, 120_000);
