import { databaseTime, transaction } from "@amana/database";
import { type DueRows, processDueRows } from "@amana/jobs";
import { createLogger } from "@amana/runtime";
import { createTestDatabase, eventually, forAllTenants, testEventSettings, testRpcSettings } from "@amana/testing";
import { expect, test } from "vitest";
import { paymentsSettings } from "../../test/harness.ts";
import { readConfig } from "../config.ts";
import { database } from "../orm.ts";
import { Payment } from "../payment/payment.ts";
import { followUpRows, rereadRows } from "./reread-payments.ts";

/**
 * Virtual time: instead of advancing a clock, the test moves all times of the rows back by a step.
 * Rates per second apply to a step. So 5 payments per second are 5 new rows in each step, and the
 * limit of reads per second is the limit of reads in a step.
 */
const stepHours = 24;
const paymentsPerSecond = 5;
/** Longer than 36 days, when the last reread happens: 30 days after the payment plus 20 %. */
const days = 38;
const business = "0195a000-0000-7000-8000-000000000002";

const { schedule } = readConfig({
  RPC_PORT: "4003",
  DATABASE_URL: "postgres://unused",
  ...testEventSettings("payments.v1", "audit.v1"),
  ...testRpcSettings,
  ...paymentsSettings("http://127.0.0.1:9"),
});

test("no reread or follow-up stays due when one business has 5 payments a second for a month, at the default rate", async () => {
  await using db = await createTestDatabase("payments", database);
  const sql = <Row extends object>(text: string, values: unknown[] = []) => db.orm.em.fork().execute<Row[]>(text, values);
  const dueCount = async ({ due }: DueRows) =>
    (await sql<{ due: number }>(`select count(*)::int as due from payment where ${due} <= now()`))[0]?.due ?? 0;

  const passTime = () =>
    sql(
      `update payment set (paid_at, refund_ended_at, next_reread_at, next_follow_up_at) =
         (paid_at - step, refund_ended_at - step, next_reread_at - step, next_follow_up_at - step)
       from (select make_interval(hours => ?) as step) as virtual`,
      [stepHours],
    );
  /** Inserts the payments of one step; one of them is refunded in part. */
  const payAndRefund = (step: number) =>
    sql(
      `insert into payment (id, business_id, amount_minor, currency, status, language, success_url, fail_url, return_token,
         processor_order_number, processor_order_id, paid_at, refund_ended_at, next_reread_at, next_follow_up_at, created_at, updated_at)
       select gen_random_uuid(), ?, 500000, 'DZD', 'PAID', 'FR', 's', 'f', gen_random_uuid(), (1000000000 + n)::text, gen_random_uuid(),
         now(), case when n % 5 = 0 then now() end, now(), case when n % 5 = 0 then now() end, now(), now()
       from generate_series(?::int, ?::int) as n`,
      [business, step * paymentsPerSecond, (step + 1) * paymentsPerSecond - 1],
    );

  let read = 0;
  const planNextRead = (id: string) =>
    transaction(db.orm, async (em) => {
      const payment = await em.findOneOrFail(Payment, { id });
      payment.planReread(schedule, await databaseTime(em));
      read += 1;
    });
  /**
   * Runs the job until it has reached its rate limit for one step, or no row is due. Returns the
   * number of rows that are still due.
   */
  const workForOneStep = async (rows: DueRows) => {
    const limit = read + (rows.perPause ?? 0);
    await using _job = processDueRows({ orm: db.orm, logger: createLogger("test", "silent") }, rows, planNextRead, 3_600_000);
    await eventually(async () => expect(read === limit || (await dueCount(rows)) === 0).toBe(true));
    return await dueCount(rows);
  };

  const backlog = { rereads: [] as number[], followUps: [] as number[] };
  await forAllTenants(async () => {
    for (let step = 0; step < (days * 24) / stepHours; step++) {
      await passTime();
      await payAndRefund(step);
      backlog.rereads.push(await workForOneStep(rereadRows(schedule)));
      backlog.followUps.push(await workForOneStep(followUpRows(schedule)));
    }
  })();
  expect(backlog.rereads.filter((left) => left > 0)).toEqual([]);
  expect(backlog.followUps.filter((left) => left > 0)).toEqual([]);
  // Payments of the first days have had all rereads: four, since two of five fall into one step.
  expect(read).toBeGreaterThan((days - 36) * (24 / stepHours) * paymentsPerSecond * 4);
}, 120_000);
