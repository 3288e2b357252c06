import { apiCaller } from "@amana/dev-env/demo/api";
import type { System } from "@amana/dev-env/system";
import { sandbox, validCard } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import type { Pool } from "pg";
import { request } from "undici";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import { type Course, paid, patienceMsMax } from "./course.ts";
import type { ProcessorProxy } from "./processor-proxy.ts";
import { type Rows, readRows, rollBackRows } from "./rows.ts";

/** A payment that refunds were asked of, with all that the checker has to know. */
export interface Attempted {
  readonly id: string;
  readonly orderId: string;
  readonly course: Course;
  /** In centimes, each amount that a request named. */
  readonly asked: number[];
  /**
   * One line for each thing that was done and each answer that came, for whoever looks into a
   * violation.
   */
  readonly story: string[];
  /** The back office had given back, and said so, before the first refund was asked for. */
  givenBackBefore: boolean;
  rolledBack: boolean;
}

export interface Scene {
  readonly system: System;
  /** Of a gateway, for the next request. */
  readonly gatewayUrl: () => string;
  readonly apiKey: string;
  readonly proxy: ProcessorProxy;
  readonly database: Pool;
  readonly report: Report;
  /** When it goes off, clients leave and nothing more is asked for. */
  readonly signal: AbortSignal;
}

/**
 * A payment that its card holder has paid, whatever fails on the way; undefined when the time was
 * not enough.
 */
async function preparePayment(scene: Scene): Promise<{ id: string; orderId: string } | undefined> {
  const { system, apiKey, gatewayUrl, signal } = scene;
  const order = { amount: paid, success_url: "https://shop.example/merci", fail_url: "https://shop.example/desole" };
  // A gateway may be away, or go away with its answer.
  const create = () => apiCaller(gatewayUrl(), apiKey)("POST", "/api/v1/payments", order).catch(() => undefined);
  let created = await create();
  for (; created?.status !== 201 && !signal.aborted; created = await create()) await sleep(300, signal);
  if (created?.status !== 201) return undefined;
  const { id, processor_order_id: orderId } = created.body as { id: string; processor_order_id: string };
  const payment = (await sandbox(system, "POST", `/sandbox/payments/${orderId}/pay`, validCard)) as { redirect_url: string };
  const { pathname, search } = new URL(payment.redirect_url);
  while (!signal.aborted) {
    const back = await request(`${gatewayUrl()}${pathname}${search}`, { headersTimeout: 20_000 }).catch(() => undefined);
    await back?.body.dump().catch(() => {});
    if (String(back?.headers["location"]).includes("status=PAID")) return { id, orderId };
    await sleep(200, signal);
  }
  return undefined;
}

/** Takes one payment through a course of its own; undefined when it was not paid in time. */
export async function askForRefunds(scene: Scene, course: Course, random: Random): Promise<Attempted | undefined> {
  const { system, database, proxy, report, signal } = scene;
  const payment = await preparePayment(scene);
  if (!payment) return undefined;
  report.count("payments paid");
  const beganMs = performance.now();
  const attempted: Attempted = { ...payment, course, asked: [], story: [], givenBackBefore: false, rolledBack: false };
  const tell = (line: string) => attempted.story.push(`${((performance.now() - beganMs) / 1000).toFixed(2)}s ${line}`);
  const { orderId } = payment;

  const plant = (operation: string, fault: Course["refundFault"]) =>
    fault && sandbox(system, "PUT", "/sandbox/faults", { operation, ...fault, orderId });
  const nameOf = (mode: string) => (/_?(late|stale|slow):/.test(mode) ? `${mode.split(":")[0]}:<ms>` : mode);
  const visitBackOffice = async () => {
    const gives = course.backOffice?.gives;
    const [path, body] = gives === "reverse" ? ["reverse", undefined] : ["refund", gives ? { amount: gives } : undefined];
    const done = await sandbox(system, "POST", `/sandbox/payments/${orderId}/${path}`, body).then(
      () => true,
      () => false,
    );
    tell(`the back office: ${path} ${gives ?? "the rest"}: ${done ? "done" : "refused"}`);
    if (done) report.count(path === "reverse" ? "reversals by the back office" : "refunds by the back office");
    return done;
  };

  if (course.backOffice?.afterMs === "before") attempted.givenBackBefore = await visitBackOffice();
  await plant("refund", course.refundFault);
  if (course.refundFault) report.count(`refund calls: ${nameOf(course.refundFault.mode)}`);
  await plant("status", course.statusFault);
  if (course.statusFault) report.count(`status reads: ${nameOf(course.statusFault.mode)}`);
  if (course.trouble) {
    proxy.plan(orderId, course.trouble);
    report.count(`on the way: ${course.trouble.kind}`);
  }
  tell(JSON.stringify({ ...course, asks: undefined, backOffice: course.backOffice }));

  const afterMs = course.backOffice?.afterMs;
  const visiting = typeof afterMs === "number" ? sleep(afterMs, signal).then(visitBackOffice) : undefined;
  const watching = new AbortController();
  const watched = course.rollsBack ? watchRows(database, payment.id, watching.signal) : undefined;
  const ask = async (amount: string | undefined, patienceMs: number) => {
    if (signal.aborted) return;
    attempted.asked.push(Math.round(Number(amount ?? paid) * 100));
    report.count(amount === undefined || amount === paid ? "full refunds asked for" : "partial refunds asked for");
    tell(`asks for ${amount ?? "everything"}`);
    const answer = await askOnce(scene, payment.id, amount, patienceMs, random.chance(0.5) ? `r-${random.next()}` : undefined);
    report.count(`answered: ${answer}`);
    tell(`answered ${answer}`);
  };
  const asks = course.asks.map(({ amount, pauseMs, patienceMs }) => async () => {
    await sleep(pauseMs, signal);
    await ask(amount, patienceMs);
  });
  if (course.atOnce) await Promise.all(asks.map((one) => one()));
  else for (const one of asks) await one();
  await visiting;

  if (watched && (await isRefunded(scene, attempted))) {
    watching.abort();
    const rows = random.pick(await watched);
    await rollBackRows(database, rows);
    attempted.rolledBack = true;
    report.count("payments rolled back to older rows");
    tell(
      `rolled back to ${String(rows.payment["status"])}, refunds: ${rows.refunds.map((refund) => refund["status"]).join() || "none"}`,
    );
    for (let times = random.integer(1, 2); times > 0; times--)
      await ask(random.pick(["1000.00", "2500.00", "4000.00"]), patienceMsMax);
  }
  watching.abort();
  return attempted;
}

/** Every different state of the rows that is seen until the signal. */
async function watchRows(database: Pool, paymentId: string, signal: AbortSignal): Promise<Rows[]> {
  const seen = new Map<string, Rows>();
  while (!signal.aborted) {
    const rows = await readRows(database, paymentId);
    seen.set(JSON.stringify(rows), rows);
    await sleep(15, signal);
  }
  return [...seen.values()];
}

/** Whether both sides say so: then nothing of ours is under way that could still take effect. */
async function isRefunded({ system, database, signal }: Scene, { id, orderId }: Attempted): Promise<boolean> {
  const endsAtMs = performance.now() + 6_000;
  while (performance.now() < endsAtMs && !signal.aborted) {
    const { payment } = await readRows(database, id);
    if (payment["status"] === "REFUNDED") {
      const view = (await sandbox(system, "GET", `/sandbox/payments/${orderId}`)) as { refundedAmount: number };
      return view.refundedAmount === Number(payment["refunded_amount_minor"]);
    }
    await sleep(100);
  }
  return false;
}

async function askOnce(
  { gatewayUrl, apiKey, signal }: Scene,
  paymentId: string,
  amount: string | undefined,
  patienceMs: number,
  idempotencyKey: string | undefined,
): Promise<string> {
  try {
    const answer = await request(`${gatewayUrl()}/api/v1/payments/${paymentId}/refund`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
      },
      body: JSON.stringify(amount === undefined ? {} : { amount }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
    });
    const { code } = (await answer.body.json()) as { code?: string };
    return [answer.statusCode, code].filter(Boolean).join(" ");
  } catch (error) {
    return `nothing (${(error as Error).name})`;
  }
}
