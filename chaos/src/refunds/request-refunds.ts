import { apiCaller } from "@amana/dev-env/demo/api";
import type { System } from "@amana/dev-env/system";
import { callSandbox, validCard } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import type { Pool } from "pg";
import { request } from "undici";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import type { ProcessorProxy } from "./processor-proxy.ts";
import { type Rows, readRows, rollBackRows } from "./rows.ts";
import { paidAmount, patienceMsMax, type RefundScenario } from "./scenario.ts";

/** A payment for which refunds were requested, and the data that the check of the payment needs. */
export interface TestedPayment {
  readonly id: string;
  readonly orderId: string;
  readonly scenario: RefundScenario;
  /** Amount of each refund request, in centimes. */
  readonly requestedMinor: number[];
  /** A line for each action and response. The lines are part of the text of a violation. */
  readonly timeline: string[];
  /** True if the back office refunded an amount before the first refund request. */
  refundedByBackOfficeFirst: boolean;
  rolledBack: boolean;
}

export interface RefundContext {
  readonly system: System;
  /** Returns the URL of a gateway for the next request. */
  readonly gatewayUrl: () => string;
  readonly apiKey: string;
  readonly proxy: ProcessorProxy;
  readonly database: Pool;
  readonly report: Report;
  /** Aborts at the end of the attack. Callers then disconnect and send no further requests. */
  readonly signal: AbortSignal;
}

/**
 * Creates a payment and pays it at the sandbox. Repeats every step that fails. Returns undefined if
 * `signal` is aborted before the payment is paid.
 */
async function preparePayment(context: RefundContext): Promise<{ id: string; orderId: string } | undefined> {
  const { system, apiKey, gatewayUrl, signal } = context;
  const paymentBody = { amount: paidAmount, success_url: "https://shop.example/merci", fail_url: "https://shop.example/desole" };
  // The request may get no response, because the gateway is down or is stopped meanwhile.
  const create = () => apiCaller(gatewayUrl(), apiKey)("POST", "/api/v1/payments", paymentBody).catch(() => undefined);
  let created = await create();
  for (; created?.status !== 201 && !signal.aborted; created = await create()) await sleep(300, signal);
  if (created?.status !== 201) return undefined;
  const { id, processor_order_id: orderId } = created.body as { id: string; processor_order_id: string };
  const payment = (await callSandbox(system, "POST", `/sandbox/payments/${orderId}/pay`, validCard)) as { redirect_url: string };
  const { pathname, search } = new URL(payment.redirect_url);
  while (!signal.aborted) {
    const returned = await request(`${gatewayUrl()}${pathname}${search}`, { headersTimeout: 20_000 }).catch(() => undefined);
    await returned?.body.dump().catch(() => {});
    if (String(returned?.headers["location"]).includes("status=PAID")) return { id, orderId };
    await sleep(200, signal);
  }
  return undefined;
}

/** Runs a scenario on a new payment. Returns undefined if the payment was not paid in time. */
export async function requestRefunds(
  context: RefundContext,
  scenario: RefundScenario,
  random: Random,
): Promise<TestedPayment | undefined> {
  const { system, database, proxy, report, signal } = context;
  const payment = await preparePayment(context);
  if (!payment) return undefined;
  report.count("payments paid");
  const startedMs = performance.now();
  const tested: TestedPayment = {
    ...payment,
    scenario,
    requestedMinor: [],
    timeline: [],
    refundedByBackOfficeFirst: false,
    rolledBack: false,
  };
  const note = (line: string) => tested.timeline.push(`${((performance.now() - startedMs) / 1000).toFixed(2)}s ${line}`);
  const { orderId } = payment;

  const setSandboxFault = (operation: string, fault: RefundScenario["refundFault"]) =>
    fault && callSandbox(system, "PUT", "/sandbox/faults", { operation, ...fault, orderId });
  const nameMode = (mode: string) => (/_?(late|stale|slow):/.test(mode) ? `${mode.split(":")[0]}:<ms>` : mode);
  const refundAtBackOffice = async () => {
    const gives = scenario.backOffice?.gives;
    const [path, body] = gives === "reverse" ? ["reverse", undefined] : ["refund", gives ? { amount: gives } : undefined];
    const isAccepted = await callSandbox(system, "POST", `/sandbox/payments/${orderId}/${path}`, body).then(
      () => true,
      () => false,
    );
    note(`back office: ${path} ${gives ?? "the remaining amount"}: ${isAccepted ? "accepted" : "rejected"}`);
    if (isAccepted) report.count(path === "reverse" ? "reversals by the back office" : "refunds by the back office");
    return isAccepted;
  };

  if (scenario.backOffice?.afterMs === "before") tested.refundedByBackOfficeFirst = await refundAtBackOffice();
  await setSandboxFault("refund", scenario.refundFault);
  if (scenario.refundFault) report.count(`refund calls: ${nameMode(scenario.refundFault.mode)}`);
  await setSandboxFault("status", scenario.statusFault);
  if (scenario.statusFault) report.count(`status reads: ${nameMode(scenario.statusFault.mode)}`);
  if (scenario.trouble) {
    proxy.plan(orderId, scenario.trouble);
    report.count(`proxy: ${scenario.trouble.kind}`);
  }
  note(JSON.stringify({ ...scenario, asks: undefined, backOffice: scenario.backOffice }));

  const afterMs = scenario.backOffice?.afterMs;
  const backOfficeRefund = typeof afterMs === "number" ? sleep(afterMs, signal).then(refundAtBackOffice) : undefined;
  const watchEnds = new AbortController();
  const observedStates = scenario.rollsBack ? watchRows(database, payment.id, watchEnds.signal) : undefined;
  const requestRefund = async (amount: string | undefined, patienceMs: number) => {
    if (signal.aborted) return;
    tested.requestedMinor.push(Math.round(Number(amount ?? paidAmount) * 100));
    report.count(amount === undefined || amount === paidAmount ? "full refunds requested" : "partial refunds requested");
    note(`requests a refund of ${amount ?? "the full amount"}`);
    const result = await sendRefund(
      context,
      payment.id,
      amount,
      patienceMs,
      random.chance(0.5) ? `r-${random.next()}` : undefined,
    );
    report.count(`refund responses: ${result}`);
    note(`response: ${result}`);
  };
  const refundRequests = scenario.asks.map(({ amount, pauseMs, patienceMs }) => async () => {
    await sleep(pauseMs, signal);
    await requestRefund(amount, patienceMs);
  });
  if (scenario.atOnce) await Promise.all(refundRequests.map((send) => send()));
  else for (const send of refundRequests) await send();
  await backOfficeRefund;

  if (observedStates && (await waitForRefund(context, tested))) {
    watchEnds.abort();
    const rows = random.pick(await observedStates);
    await rollBackRows(database, rows);
    tested.rolledBack = true;
    report.count("payments rolled back to older rows");
    note(
      `database rolled back to ${String(rows.payment["status"])}, refunds: ${rows.refunds.map((refund) => refund["status"]).join() || "none"}`,
    );
    for (let times = random.integer(1, 2); times > 0; times--)
      await requestRefund(random.pick(["1000.00", "2500.00", "4000.00"]), patienceMsMax);
  }
  watchEnds.abort();
  return tested;
}

/** Reads a payment's rows repeatedly until `signal` is aborted. Returns every distinct state. */
async function watchRows(database: Pool, paymentId: string, signal: AbortSignal): Promise<Rows[]> {
  const states = new Map<string, Rows>();
  while (!signal.aborted) {
    const rows = await readRows(database, paymentId);
    states.set(JSON.stringify(rows), rows);
    await sleep(15, signal);
  }
  return [...states.values()];
}

/**
 * Waits up to 6 s until the payment is refunded. Returns true if Amana and the processor have the
 * same refunded amount, because then no call in flight can still take effect.
 */
async function waitForRefund({ system, database, signal }: RefundContext, { id, orderId }: TestedPayment): Promise<boolean> {
  const endsAtMs = performance.now() + 6_000;
  while (performance.now() < endsAtMs && !signal.aborted) {
    const { payment } = await readRows(database, id);
    if (payment["status"] === "REFUNDED") {
      const view = (await callSandbox(system, "GET", `/sandbox/payments/${orderId}`)) as { refundedAmount: number };
      return view.refundedAmount === Number(payment["refunded_amount_minor"]);
    }
    await sleep(100);
  }
  return false;
}

async function sendRefund(
  { gatewayUrl, apiKey, signal }: RefundContext,
  paymentId: string,
  amount: string | undefined,
  patienceMs: number,
  idempotencyKey: string | undefined,
): Promise<string> {
  try {
    const result = await request(`${gatewayUrl()}/api/v1/payments/${paymentId}/refund`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
      },
      body: JSON.stringify(amount === undefined ? {} : { amount }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
    });
    const { code } = (await result.body.json()) as { code?: string };
    return [result.statusCode, code].filter(Boolean).join(" ");
  } catch (error) {
    return `no response (${(error as Error).name})`;
  }
}
