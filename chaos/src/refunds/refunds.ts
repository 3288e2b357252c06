import { apiCaller } from "@amana/dev-env/demo/api";
import { freePort } from "@amana/dev-env/free-port";
import { type ServiceProcess, serviceProcess } from "@amana/dev-env/service-process";
import type { System } from "@amana/dev-env/system";
import { aBusiness, sandbox, startTestSystem } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { Pool } from "pg";
import type { Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { type Attempted, askForRefunds, type Scene } from "./ask-for-refunds.ts";
import { applicationName, makeChaos } from "./chaos.ts";
import { judge, whatDoesNotHold } from "./check-payment.ts";
import { drawCourse, lateMsMax } from "./course.ts";
import { decideAll, waitingForAPerson } from "./operator.ts";
import { startProcessorProxy } from "./processor-proxy.ts";

const lanes = 24;
/** However long the start took and however slow the machine is, something is tried. */
const triedMsMin = 8_000;
const triedMsMax = 90_000;
/** After the last trouble, everything must have come to its end or to a person. */
const settleMsMax = 180_000;

/** Days become seconds, so that what is read on for hours comes to a person within a run. */
const payments = {
  SATIM_TIMEOUT_MS: "1500",
  PAYMENT_CHECK_SECONDS: "1,2,5",
  REFUND_RESEND_AFTER_SECONDS: "2,4",
  REFUND_CHECK_SECONDS: "0.5,1,1",
  // Longer than an effect is ever put off here, and than a process that froze before it sends may
  // take to send.
  REFUND_LATE_EFFECT_SECONDS: "12",
  REFUND_DECISION_AFTER_SECONDS: "8",
  REFUND_REREAD_SECONDS: "2,6,15",
  PAYMENT_REREAD_SECONDS: "3,8,20,60",
  PAYMENT_REREADS_PER_SECOND: "50",
};

export const refunds: Program = {
  attacks: "P1, no double refund: two replicas, kills, freezes, late effects, stale reads, lost commits, a busy back office",
  async run({ seed, signal: wanted, report, say }) {
    const random = createRandom(seed);
    await using proxy = await startProcessorProxy();
    await using running = await startTestSystem("direct", {
      payments: { ...payments, SATIM_URL: `${proxy.url}/payment/rest` },
    });
    const { system } = running;
    proxy.target = system.sandboxUrl;
    await using second = await secondReplica(system);
    await using business = await aRefundingBusiness(system);
    await using database = await connect(system);
    const isEnough = () => report.counted("payments paid") >= lanes && report.counted("partial refunds asked for") > 0;
    const signal = whenTried(wanted, isEnough);
    const { pool } = database;
    const gatewayUrl = () => system.gatewayUrl;
    const scene: Scene = { system, gatewayUrl, apiKey: business.key, proxy, database: pool, report, signal };

    const chaos = makeChaos({
      replicas: [system.services.payments, second.replica],
      database: pool,
      random: random.fork(),
      report,
      signal,
    });
    const attempted: Attempted[] = [];
    const lane = async (chances: typeof random) => {
      while (!signal.aborted) {
        const done = await askForRefunds(scene, drawCourse(chances), chances).catch((error: Error) =>
          say(`a lane stumbled: ${error.stack}`),
        );
        if (done) attempted.push(done);
      }
    };
    await Promise.all([chaos, ...Array.from({ length: lanes }, () => lane(random.fork()))]);
    say(`${attempted.length} payments; waiting for what is still under way`);
    await sandbox(system, "DELETE", "/sandbox/faults");
    await sleep(lateMsMax);
    await settle(scene, attempted, false);
    await decideAll(scene, attempted);
    await settle(scene, attempted, true);
  },
};

/** Goes off with the signal, but not before enough was tried. */
function whenTried(signal: AbortSignal, isEnough: () => boolean): AbortSignal {
  const both = new AbortController();
  const startedMs = performance.now();
  const watch = setInterval(() => {
    const triedMs = performance.now() - startedMs;
    if (!signal.aborted || triedMs < triedMsMin || !(isEnough() || triedMs > triedMsMax)) return;
    clearInterval(watch);
    both.abort();
  }, 100);
  return both.signal;
}

/** Checks until all is well or the time is over; only then what does not hold is a violation. */
async function settle(scene: Scene, attempted: readonly Attempted[], isDecided: boolean): Promise<void> {
  const call = apiCaller(scene.system.gatewayUrl, scene.apiKey);
  const endsAtMs = performance.now() + settleMsMax;
  let left = attempted;
  while (left.length > 0) {
    const waiting = isDecided ? new Set<string>() : await waitingForAPerson(scene);
    const isOver = performance.now() > endsAtMs;
    const still: Attempted[] = [];
    for (const one of left) {
      const problems = await whatDoesNotHold(scene, one, waiting);
      if (problems.length > 0 && !isOver) {
        still.push(one);
        await call("POST", `/api/v1/payments/${one.id}/refresh`);
      } else if (problems.length === 0 || !scene.report.violations.some((text) => text.includes(one.id))) {
        judge(scene.report, one, problems, waiting.has(one.id));
      }
    }
    left = still;
    await sleep(1_000);
  }
}

/** A second process of the payments service on the same database; the gateway is told of both. */
async function secondReplica(system: System): Promise<AsyncDisposable & { replica: ServiceProcess }> {
  const port = await freePort();
  const env = { ...system.envOf("payments"), RPC_PORT: String(port) };
  const replica = serviceProcess({ name: "payments", env, port, logDir: system.logDir, supervised: false, onCrash: () => {} });
  await replica.start();
  const urls = [system.rpcPorts.payments, port].map((each) => `http://127.0.0.1:${each}`).join();
  await system.services.gateway.kill();
  await system.services.gateway.start({ PAYMENTS_URLS: urls });
  await system.ready();
  return { replica, [Symbol.asyncDispose]: () => replica.stop() };
}

async function aRefundingBusiness(system: System) {
  const { key, receiver } = await aBusiness(system);
  return { key, [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose]() };
}

async function connect(system: System) {
  const pool = new Pool({ connectionString: system.databaseUrls["payments"], application_name: applicationName, max: 10 });
  pool.on("error", () => {});
  return { pool, [Symbol.asyncDispose]: () => pool.end() };
}
