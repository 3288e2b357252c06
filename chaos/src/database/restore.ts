import type { Postgres } from "@amana/dev-env/postgres";
import type { System } from "@amana/dev-env/system";
import { anOrder, aPaidPayment, processorView, sandbox, type TestBusiness, validCard } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { Client } from "pg";
import { request } from "undici";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";

export interface RestoreScene {
  readonly system: System;
  readonly business: TestBusiness;
  readonly postgres: Postgres;
  readonly random: Random;
  readonly report: Report;
  readonly say: (line: string) => void;
}

/** Days of reading again become seconds. */
export const quickRereads = {
  payments: { PAYMENT_REREAD_SECONDS: "4,8,12,16", REFUND_REREAD_SECONDS: "4", PAYMENT_CHECK_SECONDS: "1,2,4" },
};

const database = "amana_payments";
const sweepMsMax = 180_000;

interface Known {
  readonly id: string;
  readonly orderId: string;
  /** What became of it after the backup. */
  readonly fate: "refunded" | "partly refunded" | "reversed" | "paid" | "left alone";
}

/**
 * The payments database is put back to an earlier state, as after a restore from a backup, while
 * the processor and the other services go on from the present. Refunds it forgot must not be sent
 * again, whoever asks; the sweep must bring every payment it still knows to what the processor
 * says; and those it does not know any more are counted.
 */
export async function restore(scene: RestoreScene): Promise<void> {
  const { system, business, random, report, say } = scene;
  const fates: Known["fate"][] = ["refunded", "refunded", "partly refunded", "partly refunded", "reversed", "paid", "left alone"];
  const known: Known[] = [];
  for (const fate of fates)
    known.push({ fate, ...(fate === "paid" ? await aPayment(business) : await aPaidPayment(system, business)) });

  await withPaymentsStopped(scene, async (server) => {
    await server.query(`create database ${database}_backup template ${database}`);
  });
  report.count("backups of the payments database");
  for (const payment of known) await live(scene, payment);
  const lost = await aPaidPayment(system, business);
  const calls = new Map<string, number>();
  for (const { id, orderId } of known) calls.set(id, (await processorView(system, orderId)).refundCalls);

  await withPaymentsStopped(scene, async (server) => {
    await server.query(`drop database ${database} with (force)`);
    await server.query(`alter database ${database}_backup rename to ${database}`);
    await server.query(`alter database ${database} owner to ${database}_owner`);
    await server.query(`revoke connect, temporary on database ${database} from public`);
    await server.query(`grant connect on database ${database} to ${database}`);
  });
  report.count("restores of the payments database");
  say("the payments database is back at its earlier state");

  // Before the sweep comes by, the business asks again for refunds that the database has forgotten.
  for (const { id, fate } of known) {
    if (!fate.includes("refunded") || random.chance(0.5)) continue;
    const again = await business.call("POST", `/api/v1/payments/${id}/refund`, fate === "refunded" ? {} : { amount: "100.00" });
    report.count(`forgotten refunds asked for again: ${again.status}`);
    if (again.status < 400) report.violation(`a refund of ${id}, which was ${fate} before the restore, answered ${again.status}`);
  }
  const endsAtMs = performance.now() + sweepMsMax;
  for (const payment of known) await untilItAgrees(scene, payment, calls.get(payment.id) ?? 0, endsAtMs);
  const gone = await business.call("GET", `/api/v1/payments/${lost.id}`);
  report.count(`payments made after the backup, known to the processor alone (${gone.status})`);
}

async function aPayment(business: TestBusiness): Promise<{ id: string; orderId: string }> {
  const { body } = await business.call("POST", "/api/v1/payments", anOrder);
  return { id: String(body["id"]), orderId: String(body["processor_order_id"]) };
}

/** What happens between the backup and the restore. */
async function live({ system, business }: RestoreScene, { id, orderId, fate }: Known): Promise<void> {
  if (fate === "refunded") await business.call("POST", `/api/v1/payments/${id}/refund`);
  if (fate === "partly refunded") await business.call("POST", `/api/v1/payments/${id}/refund`, { amount: "100.00" });
  if (fate === "reversed") await sandbox(system, "POST", `/sandbox/payments/${orderId}/reverse`);
  if (fate !== "paid") return;
  const path = `/sandbox/payments/${orderId}/pay`;
  const { redirect_url } = (await sandbox(system, "POST", path, validCard)) as { redirect_url: string };
  await request(redirect_url, { headersTimeout: 20_000 }).then(({ body }) => body.dump());
}

async function untilItAgrees(scene: RestoreScene, payment: Known, callsBefore: number, endsAtMs: number): Promise<void> {
  const { system, business, report } = scene;
  const wanted = {
    refunded: "REFUNDED",
    "partly refunded": "REFUNDED",
    reversed: "CANCELED",
    paid: "PAID",
    "left alone": "PAID",
  };
  for (;;) {
    const { body } = await business.call("GET", `/api/v1/payments/${payment.id}`);
    const { refundedAmount, refundCalls } = await processorView(system, payment.orderId);
    const sum = body["refunded_amount"] === undefined ? 0 : Math.round(Number(body["refunded_amount"]) * 100);
    const agrees = body["status"] === wanted[payment.fate] && (payment.fate === "reversed" || sum === refundedAmount);
    if (!agrees && performance.now() < endsAtMs) {
      await sleep(500);
      continue;
    }
    const seen = () => `${payment.id} was ${payment.fate}; it is ${body["status"]}, ${sum} given back, ${refundedAmount} there`;
    report.check("payments as they are at the processor", agrees, seen);
    report.check("no forgotten refund sent again", refundCalls === callsBefore, () => `${refundCalls} calls; ${seen()}`);
    return;
  }
}

async function withPaymentsStopped(scene: RestoreScene, work: (server: Client) => Promise<void>): Promise<void> {
  const { system, postgres } = scene;
  await system.services.payments.stop();
  const server = new Client({ connectionString: postgres.superuserUrl });
  await server.connect();
  try {
    await work(server);
  } finally {
    await server.end();
  }
  await system.services.payments.start();
  await system.ready();
}
