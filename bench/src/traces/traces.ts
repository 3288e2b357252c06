import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@amana/dev-env/free-port";
import { createProgress } from "@amana/dev-env/progress";
import { serviceProcess } from "@amana/dev-env/service-process";
import { loopbackUrl } from "@amana/dev-env/services";
import { startSystem } from "@amana/dev-env/system";
import { aPaidPayment } from "../a-paid-payment.ts";
import { load } from "../bare-server.ts";
import { median, printTable, say } from "../table.ts";

/** What of the traces is sampled; undefined: there is no collector. */
const ratios = { "no traces": undefined, "1 %": "0.01", all: "1" } as const;
type Name = keyof typeof ratios;

/**
 * What traces cost a read: gateways and payments with each share of sampled traces, on one
 * database, in turns. A round compares neighbours in time, since the machine's speed moves by more.
 */
export async function traces({ rounds, seconds }: { rounds: number; seconds: number }) {
  const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const system = stack.use(await startSystem({ dir, events: "direct", progress: createProgress() }));
  const path = `/api/v1/payments/${await aPaidPayment(system)}`;
  const collector = await startCollector(stack);

  const start = async (service: "gateway" | "payments", tracing: Record<string, string>, env: Record<string, string>) => {
    const port = await freePort();
    const started = serviceProcess({
      name: service,
      port,
      env: {
        ...system.envOf(service),
        ...{ RATE_LIMIT_PER_SECOND: "0", LOG_LEVEL: "warn", [service === "gateway" ? "PORT" : "RPC_PORT"]: String(port) },
        ...tracing,
        ...env,
      },
      logDir: dir,
      supervised: false,
      onCrash: (name, output) => say(`${name} ended by itself:\n${output}`),
    });
    await started.start();
    stack.defer(() => started.stop());
    return { url: loopbackUrl(port), pid: started.pid() ?? 0 };
  };

  const candidates = new Map<Name, { url: string; pids: number[] }>();
  for (const [name, ratio] of Object.entries(ratios) as [Name, string | undefined][]) {
    const tracing: Record<string, string> = ratio ? { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TRACE_RATIO: ratio } : {};
    const payments = await start("payments", tracing, {});
    const gateway = await start("gateway", tracing, { PAYMENTS_URLS: payments.url });
    candidates.set(name, { url: `${gateway.url}${path}`, pids: [gateway.pid, payments.pid] });
  }

  const runs = new Map<Name, { perSecond: number[]; cpuUs: number[] }>();
  const measure = async (name: Name, seconds: number) => {
    const { url, pids } = candidates.get(name) as { url: string; pids: number[] };
    return load(name, url, system.business.api_key, seconds, pids);
  };
  for (const name of candidates.keys()) await measure(name, 5);
  for (let round = 1; round <= rounds; round++) {
    // Each comes first as often as the others do.
    const names = [...candidates.keys()];
    const order = names.map((_, i) => names[(i + round) % names.length] as Name);
    for (const name of order) {
      const { perSecond, cpuUs } = await measure(name, seconds);
      const run = runs.get(name) ?? { perSecond: [], cpuUs: [] };
      run.perSecond.push(perSecond);
      run.cpuUs.push(cpuUs);
      runs.set(name, run);
    }
    say(
      `round ${round} of ${rounds}: ${[...runs].map(([name, run]) => `${name} ${run.cpuUs.at(-1)?.toFixed(0)} µs`).join(", ")}`,
    );
  }

  const base = runs.get("no traces");
  const rows = [...runs].map(([name, run]) => {
    const ofBase = run.cpuUs.map((cpuUs, i) => cpuUs / (base?.cpuUs[i] ?? Number.NaN)).sort((a, b) => a - b);
    const part = (share: number) => (ofBase[Math.round((ofBase.length - 1) * share)] ?? Number.NaN).toFixed(3);
    return {
      traces: name,
      "req/s (median)": Math.round(median(run.perSecond)),
      "cpu µs/req": Math.round(median(run.cpuUs)),
      "cpu of none, median": part(0.5),
      "lower and upper quartile": `${part(0.25)} – ${part(0.75)}`,
    };
  });
  printTable(rows);
  say(`the collector was sent ${collector.posts()} times`);
  return rows;
}

/** Takes whatever it is sent. */
async function startCollector(stack: AsyncDisposableStack): Promise<{ url: string; posts: () => number }> {
  let posts = 0;
  const server = createServer((request, response) => {
    posts++;
    request.resume().once("end", () => response.setHeader("content-type", "application/json").end("{}"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stack.defer(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return { url: loopbackUrl((server.address() as AddressInfo).port), posts: () => posts };
}
