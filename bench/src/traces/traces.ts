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

/** A process that is new to its work is slower. */
const warmUpSeconds = 4;

/**
 * What traces cost a read: a gateway and payments with each share of sampled traces, on one
 * database, in turns. Each round starts them anew, since of two processes that do the same one may
 * be a tenth cheaper for as long as it lives.
 */
export async function traces({ rounds, seconds }: { rounds: number; seconds: number }) {
  const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const system = stack.use(await startSystem({ dir, events: "direct", progress: createProgress() }));
  const path = `/api/v1/payments/${await aPaidPayment(system)}`;
  const collector = await startCollector(stack);

  const start = async (
    running: AsyncDisposableStack,
    service: "gateway" | "payments",
    tracing: Record<string, string>,
    env: Record<string, string>,
  ) => {
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
    running.defer(() => started.stop());
    return { url: loopbackUrl(port), pid: started.pid() ?? 0 };
  };

  const measure = async (name: Name) => {
    await using running = new AsyncDisposableStack();
    const ratio = ratios[name];
    const tracing: Record<string, string> = ratio ? { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TRACE_RATIO: ratio } : {};
    const payments = await start(running, "payments", tracing, {});
    const gateway = await start(running, "gateway", tracing, { PAYMENTS_URLS: payments.url });
    const reading = (seconds: number, pids: number[]) =>
      load(name, `${gateway.url}${path}`, system.business.api_key, seconds, pids);
    await reading(warmUpSeconds, []);
    return await reading(seconds, [gateway.pid, payments.pid]);
  };

  const names = Object.keys(ratios) as Name[];
  const runs = new Map(names.map((name) => [name, { perSecond: [] as number[], cpuUs: [] as number[] }]));
  for (let round = 1; round <= rounds; round++) {
    // Each comes first as often as the others do.
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round) % names.length] as Name;
      const { perSecond, cpuUs } = await measure(name);
      runs.get(name)?.perSecond.push(perSecond);
      runs.get(name)?.cpuUs.push(cpuUs);
    }
    say(
      `round ${round} of ${rounds}: ${[...runs].map(([name, run]) => `${name} ${run.cpuUs.at(-1)?.toFixed(0)} µs`).join(", ")}`,
    );
  }

  const base = median(runs.get("no traces")?.cpuUs ?? []);
  const rows = [...runs].map(([name, { perSecond, cpuUs }]) => ({
    traces: name,
    "req/s (median)": Math.round(median(perSecond)),
    "cpu µs/req (median)": Math.round(median(cpuUs)),
    "least and most": `${Math.round(Math.min(...cpuUs))} – ${Math.round(Math.max(...cpuUs))}`,
    "of none": (median(cpuUs) / base).toFixed(3),
  }));
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
