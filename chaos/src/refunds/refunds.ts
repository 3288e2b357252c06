import { apiCaller } from "@amana/dev-env/demo/api";
import type { System } from "@amana/dev-env/system";
import { aBusiness, callSandbox, startTestSystem } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { Pool } from "pg";
import { extendSignal } from "../extend-signal.ts";
import type { Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { startSecondPaymentsProcess } from "../second-payments-process.ts";
import { findViolations, recordResult } from "./check-payment.ts";
import { applicationName, injectFaults } from "./inject-faults.ts";
import { decideRefunds, findPaymentsNeedingDecision } from "./operator.ts";
import { startProcessorProxy } from "./processor-proxy.ts";
import { type RefundContext, requestRefunds, type TestedPayment } from "./request-refunds.ts";
import { drawScenario, lateMsMax } from "./scenario.ts";

const workerCount = 24;
/** Time after the last fault within which every refund must end or need a decision. */
const resolveMsMax = 180_000;

/** Intervals of seconds in place of days, so that refunds need decisions within a run. */
const paymentSettings = {
  SATIM_TIMEOUT_MS: "1500",
  PAYMENT_CHECK_SECONDS: "1,2,5",
  REFUND_RESEND_AFTER_SECONDS: "2,4",
  REFUND_CHECK_SECONDS: "0.5,1,1",
  // Longer than any late effect can be delayed, and longer than a process can be frozen before it
  // sends.
  REFUND_LATE_EFFECT_SECONDS: "12",
  REFUND_DECISION_AFTER_SECONDS: "8",
  REFUND_REREAD_SECONDS: "2,6,15",
  PAYMENT_REREAD_SECONDS: "3,8,20,60",
  PAYMENT_REREADS_PER_SECOND: "50",
};

export const refundsProgram: Program = {
  summary: "P1: kill and freeze two replicas during refunds, with late effects, stale reads and lost commits; no double refund",
  async run({ seed, signal: endSignal, report, log }) {
    const random = createRandom(seed);
    await using proxy = await startProcessorProxy();
    await using testSystem = await startTestSystem("direct", {
      payments: { ...paymentSettings, SATIM_URL: `${proxy.url}/payment/rest` },
    });
    const { system } = testSystem;
    proxy.target = system.sandboxUrl;
    await using secondPayments = await startSecondPaymentsProcess(system);
    await using business = await createBusiness(system);
    await using database = await connect(system);
    const hasEnoughWork = () => report.countOf("payments paid") >= workerCount && report.countOf("partial refunds requested") > 0;
    const signal = extendSignal(endSignal, hasEnoughWork);
    const { pool } = database;
    const gatewayUrl = () => system.gatewayUrl;
    const context: RefundContext = { system, gatewayUrl, apiKey: business.key, proxy, database: pool, report, signal };

    const faults = injectFaults({
      replicas: [system.services.payments, secondPayments.replica],
      database: pool,
      random: random.fork(),
      report,
      signal,
    });
    const tested: TestedPayment[] = [];
    const runWorker = async (workerRandom: typeof random) => {
      while (!signal.aborted) {
        const payment = await requestRefunds(context, drawScenario(workerRandom), workerRandom).catch((error: Error) =>
          log(`scenario stopped by an error: ${error.stack}`),
        );
        if (payment) tested.push(payment);
      }
    };
    await Promise.all([faults, ...Array.from({ length: workerCount }, () => runWorker(random.fork()))]);
    log(`${tested.length} payments; waiting for refunds in progress`);
    await callSandbox(system, "DELETE", "/sandbox/faults");
    await sleep(lateMsMax);
    await checkPayments(context, tested, false);
    await decideRefunds(context, tested);
    await checkPayments(context, tested, true);
  },
};

/**
 * Checks payments repeatedly until no differences remain. Differences at the end are violations.
 */
async function checkPayments(context: RefundContext, tested: readonly TestedPayment[], isDecided: boolean): Promise<void> {
  const call = apiCaller(context.system.gatewayUrl, context.apiKey);
  const endsAtMs = performance.now() + resolveMsMax;
  let unchecked = tested;
  while (unchecked.length > 0) {
    const needsDecision = isDecided ? new Set<string>() : await findPaymentsNeedingDecision(context);
    const isOver = performance.now() > endsAtMs;
    const remaining: TestedPayment[] = [];
    for (const payment of unchecked) {
      const problems = await findViolations(context, payment, needsDecision);
      if (problems.length > 0 && !isOver) {
        remaining.push(payment);
        await call("POST", `/api/v1/payments/${payment.id}/refresh`);
      } else if (problems.length === 0 || !context.report.violations.some((text) => text.includes(payment.id))) {
        recordResult(context.report, payment, problems, needsDecision.has(payment.id));
      }
    }
    unchecked = remaining;
    await sleep(1_000);
  }
}

async function createBusiness(system: System) {
  const { key, receiver } = await aBusiness(system);
  return { key, [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose]() };
}

async function connect(system: System) {
  const pool = new Pool({ connectionString: system.databaseUrls["payments"], application_name: applicationName, max: 10 });
  pool.on("error", () => {});
  return { pool, [Symbol.asyncDispose]: () => pool.end() };
}
