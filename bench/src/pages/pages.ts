import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiCaller } from "@amana/dev-env/demo/api";
import { createProgress } from "@amana/dev-env/progress";
import { type System, startSystem } from "@amana/dev-env/system";
import { request } from "undici";
import { createPaidPayment } from "../paid-payment.ts";
import { readFiguresOfDescendants } from "../process-figures.ts";
import { log, median, printTable } from "../table.ts";
import { percentile, type Route, sendAtRate } from "./send-at-rate.ts";

const pagesPerSecond = 200;
const othersPerSecond = 25;
const processes = ["gateway", "payments", "postgres"] as const;

/**
 * Measures the delay of API requests, first alone and then while the gateway serves 200 checkout
 * pages per second. Also compares the CPU time of a page with the CPU time of a payment read at the
 * same rate. Each round measures everything, so that other load of the machine affects all figures
 * in the same way. The figures are medians of the rounds.
 */
export async function measurePages({ rounds, seconds }: { rounds: number; seconds: number }) {
  const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const unlimited = {
    RATE_LIMIT_PER_SECOND: "0",
    RATE_LIMIT_CREATION_PER_SECOND: "0",
    RATE_LIMIT_KEYLESS_PER_SECOND: "0",
    RATE_LIMIT_KEYLESS_TOTAL_PER_SECOND: "0",
  };
  const system = stack.use(
    await startSystem({
      dir,
      events: "direct",
      progress: createProgress(),
      env: { gateway: { ...unlimited, LOG_LEVEL: "warn" }, payments: { LOG_LEVEL: "warn" } },
    }),
  );
  const { page, others } = await createRoutes(system);
  // Fills caches, plans and pools before the measurement.
  await sendAtRate([page, ...others], 2);

  const p99 = new Map(others.map(({ name }) => [name, { quiet: [] as number[], beside: [] as number[] }]));
  const alone = [page, ...others.slice(0, 1)].map((route) => ({ ...route, perSecond: pagesPerSecond }));
  const cpuMs = alone.map(() => processes.map((): number[] => []));
  for (let round = 1; round <= rounds; round++) {
    for (const [i, route] of alone.entries()) {
      const before = readFiguresOfDescendants(process.pid);
      await sendAtRate([route], seconds);
      const after = readFiguresOfDescendants(process.pid);
      for (const [j, name] of processes.entries()) {
        const cpuSeconds = (after[name]?.cpuSeconds ?? 0) - (before[name]?.cpuSeconds ?? 0);
        cpuMs[i]?.[j]?.push((cpuSeconds * 1_000) / (pagesPerSecond * seconds));
      }
    }
    const quiet = await sendAtRate(others, seconds);
    const beside = await sendAtRate([page, ...others], seconds);
    for (const [name, run] of p99) {
      run.quiet.push(percentile(quiet.get(name) ?? [], 0.99));
      run.beside.push(percentile(beside.get(name) ?? [], 0.99));
    }
    log(`round ${round} of ${rounds}`);
  }

  const delays = [...p99].map(([name, { quiet, beside }]) => ({
    route: name,
    "p99 ms quiet": median(quiet).toFixed(1),
    [`p99 ms beside ${pagesPerSecond} pages/s`]: median(beside).toFixed(1),
    "ratio (goal ≤ 3)": median(beside.map((ms, i) => ms / (quiet[i] ?? ms))).toFixed(2),
  }));
  const costs = alone.map(({ name }, i) => ({
    [`${pagesPerSecond} requests/s`]: name,
    ...Object.fromEntries(processes.map((process, j) => [`${process} cpu ms`, median(cpuMs[i]?.[j] ?? []).toFixed(2)])),
  }));
  printTable(delays);
  printTable(costs);
  return { delays, costs };
}

/**
 * Creates a payment link and a paid payment. Returns the route of the link's page, and API routes
 * as the other routes.
 */
async function createRoutes(system: System): Promise<{ page: Route; others: Route[] }> {
  const sale = { name: "Cours d'arabe", amount: "2500.00" };
  const linksUrl = `${system.gatewayUrl}/api/v1/payment-links`;
  const call = apiCaller(system.gatewayUrl, system.business.api_key);
  const link = await call("POST", "/api/v1/payment-links", sale);
  const paymentId = await createPaidPayment(system);
  const authorization = { authorization: `Bearer ${system.business.api_key}` };
  const others: Route[] = [
    {
      name: "read of a payment",
      perSecond: othersPerSecond,
      send: () => request(`${system.gatewayUrl}/api/v1/payments/${paymentId}`, { headers: authorization }),
    },
    {
      name: "creation of a payment link",
      perSecond: othersPerSecond,
      send: () =>
        request(linksUrl, {
          method: "POST",
          headers: { ...authorization, "content-type": "application/json" },
          body: JSON.stringify(sale),
        }),
    },
  ];
  const page = { name: "checkout page", perSecond: pagesPerSecond, send: () => request(String(link.body["url"])) };
  return { page, others };
}
