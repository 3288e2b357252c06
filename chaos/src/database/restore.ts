import type { Postgres } from "@amana/dev-env/postgres";
import type { System } from "@amana/dev-env/system";
import { anOrder, aPaidPayment, callSandbox, readProcessorView, type TestBusiness, validCard } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { Client } from "pg";
import { request } from "undici";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";

export interface RestoreContext {
  readonly system: System;
  readonly business: TestBusiness;
  readonly postgres: Postgres;
  readonly random: Random;
  readonly report: Report;
  readonly log: (line: string) => void;
}

/** Shortens the intervals of the periodic reads at the processor from days to seconds. */
export const quickRereads = {
  payments: { PAYMENT_REREAD_SECONDS: "4,8,12,16", REFUND_REREAD_SECONDS: "4", PAYMENT_CHECK_SECONDS: "1,2,4" },
};

const database = "amana_payments";
const rereadMsMax = 180_000;

/** A payment in the backup. */
interface BackedUpPayment {
  readonly id: string;
  readonly orderId: string;
  /** The change to the payment between the backup and the restore. */
  readonly change: "refunded" | "partly refunded" | "reversed" | "paid" | "unchanged";
}

/**
 * Resets the payments database to an earlier state, like a restore from a backup. The processor and
 * the other services keep their state. Checks that no lost refund is sent again, even if a business
 * requests it. Also checks that the periodic reads apply the processor's state to every payment of
 * the backup. Payments that are missing from the backup are only counted.
 */
export async function restore(context: RestoreContext): Promise<void> {
  const { system, business, random, report, log } = context;
  const changes: BackedUpPayment["change"][] = [
    "refunded",
    "refunded",
    "partly refunded",
    "partly refunded",
    "reversed",
    "paid",
    "unchanged",
  ];
  const backedUp: BackedUpPayment[] = [];
  for (const change of changes)
    backedUp.push({ change, ...(change === "paid" ? await createPayment(business) : await aPaidPayment(system, business)) });

  await withPaymentsStopped(context, async (server) => {
    await server.query(`create database ${database}_backup template ${database}`);
  });
  report.count("backups of the payments database");
  for (const payment of backedUp) await changePayment(context, payment);
  const missingPayment = await aPaidPayment(system, business);
  const refundCallsById = new Map<string, number>();
  for (const { id, orderId } of backedUp) refundCallsById.set(id, (await readProcessorView(system, orderId)).refundCalls);

  await withPaymentsStopped(context, async (server) => {
    await server.query(`drop database ${database} with (force)`);
    await server.query(`alter database ${database}_backup rename to ${database}`);
    await server.query(`alter database ${database} owner to ${database}_owner`);
    await server.query(`revoke connect, temporary on database ${database} from public`);
    await server.query(`grant connect on database ${database} to ${database}`);
  });
  report.count("restores of the payments database");
  log("the payments database was restored to its earlier state");

  // Before the periodic reads, the business requests refunds again that the restore has lost.
  for (const { id, change } of backedUp) {
    if (!change.includes("refunded") || random.chance(0.5)) continue;
    const repeated = await business.call(
      "POST",
      `/api/v1/payments/${id}/refund`,
      change === "refunded" ? {} : { amount: "100.00" },
    );
    report.count(`lost refunds requested again: ${repeated.status}`);
    if (repeated.status < 400)
      report.violation(`a refund of ${id}, which was ${change} before the restore, returned ${repeated.status}`);
  }
  const endsAtMs = performance.now() + rereadMsMax;
  for (const payment of backedUp) await checkReread(context, payment, refundCallsById.get(payment.id) ?? 0, endsAtMs);
  const missingResponse = await business.call("GET", `/api/v1/payments/${missingPayment.id}`);
  report.count(`payments missing from the backup (${missingResponse.status})`);
}

async function createPayment(business: TestBusiness): Promise<{ id: string; orderId: string }> {
  const { body } = await business.call("POST", "/api/v1/payments", anOrder);
  return { id: String(body["id"]), orderId: String(body["processor_order_id"]) };
}

/** Changes a payment after the backup, as its field `change` requires. */
async function changePayment({ system, business }: RestoreContext, { id, orderId, change }: BackedUpPayment): Promise<void> {
  if (change === "refunded") await business.call("POST", `/api/v1/payments/${id}/refund`);
  if (change === "partly refunded") await business.call("POST", `/api/v1/payments/${id}/refund`, { amount: "100.00" });
  if (change === "reversed") await callSandbox(system, "POST", `/sandbox/payments/${orderId}/reverse`);
  if (change !== "paid") return;
  const path = `/sandbox/payments/${orderId}/pay`;
  const { redirect_url } = (await callSandbox(system, "POST", path, validCard)) as { redirect_url: string };
  await request(redirect_url, { headersTimeout: 20_000 }).then(({ body }) => body.dump());
}

/**
 * Waits until the payment has the state of the processor, but at most until `endsAtMs`. Checks that
 * this state is reached and that no further refund was sent.
 */
async function checkReread(
  context: RestoreContext,
  payment: BackedUpPayment,
  refundCallsBefore: number,
  endsAtMs: number,
): Promise<void> {
  const { system, business, report } = context;
  const expected = {
    refunded: "REFUNDED",
    "partly refunded": "REFUNDED",
    reversed: "CANCELED",
    paid: "PAID",
    unchanged: "PAID",
  };
  for (;;) {
    const { body } = await business.call("GET", `/api/v1/payments/${payment.id}`);
    const { refundedAmount, refundCalls } = await readProcessorView(system, payment.orderId);
    const refundedMinor = body["refunded_amount"] === undefined ? 0 : Math.round(Number(body["refunded_amount"]) * 100);
    const isEqual =
      body["status"] === expected[payment.change] && (payment.change === "reversed" || refundedMinor === refundedAmount);
    if (!isEqual && performance.now() < endsAtMs) {
      await sleep(500);
      continue;
    }
    const describe = () =>
      `${payment.id} was ${payment.change}; status ${body["status"]}, refunded ${refundedMinor}, at the processor ${refundedAmount}`;
    report.check("a payment has the state of the processor", isEqual, describe);
    report.check("no lost refund is sent again", refundCalls === refundCallsBefore, () => `${refundCalls} calls; ${describe()}`);
    return;
  }
}

async function withPaymentsStopped(context: RestoreContext, change: (server: Client) => Promise<void>): Promise<void> {
  const { system, postgres } = context;
  await system.services.payments.stop();
  const server = new Client({ connectionString: postgres.superuserUrl });
  await server.connect();
  try {
    await change(server);
  } finally {
    await server.end();
  }
  await system.services.payments.start();
  await system.waitUntilReady();
}
