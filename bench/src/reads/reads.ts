import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type System, startSystem } from "@amana/dev-env";
import { freePort } from "@amana/dev-env/free-port";
import { createProgress } from "@amana/dev-env/progress";
import { spawnServer } from "@amana/dev-env/server-process";
import autocannon from "autocannon";
import { request } from "undici";
import { aPaidPayment } from "../a-paid-payment.ts";
import { processFigures } from "../process-figures.ts";
import { median, printTable, say } from "../table.ts";

const connections = 32;

interface Candidate {
  readonly name: string;
  readonly url: string;
  readonly pids: () => number[];
}

/**
 * Authenticated reads of one payment through the gateway, beside one process of bare Fastify + pg that does the same two
 * queries, and one of Fastify + MikroORM that does the same two finds.
 */
export async function reads({ rounds, seconds }: { rounds: number; seconds: number }) {
  const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const unlimited = { RATE_LIMIT_PER_SECOND: "0" };
  const system = stack.use(
    await startSystem({
      dir,
      events: "direct",
      progress: createProgress(),
      env: { gateway: { ...unlimited, LOG_LEVEL: "warn" }, payments: { LOG_LEVEL: "warn" } },
    }),
  );
  // Paid, so that a read is two queries and never a call to the processor.
  const paymentId = await aPaidPayment(system);
  const path = `/api/v1/payments/${paymentId}`;
  const candidates: Candidate[] = [
    await bare(stack, system, "bare-fastify-pg", path),
    await bare(stack, system, "bare-fastify-mikroorm", path),
    {
      name: "amana gateway",
      url: `${system.gatewayUrl}${path}`,
      pids: () => (["gateway", "payments", "identity"] as const).flatMap((name) => system.services[name].pid() ?? []),
    },
  ];

  const expected = await read(candidates[0]?.url ?? "", system.business.api_key);
  for (const candidate of candidates) {
    const seen = await read(candidate.url, system.business.api_key);
    if (seen !== expected) throw new Error(`${candidate.name} answers something else:\n${seen}\n${expected}`);
    await load(candidate, system.business.api_key, 2);
  }

  const runs = new Map<string, { perSecond: number[]; p99: number[]; cpuUs: number[] }>();
  for (let round = 1; round <= rounds; round++) {
    for (const candidate of candidates) {
      const { cpuSeconds } = processFigures(candidate.pids());
      const result = await load(candidate, system.business.api_key, seconds);
      const cpu = processFigures(candidate.pids()).cpuSeconds - cpuSeconds;
      if (result.non2xx > 0 || result.errors > 0)
        throw new Error(`${candidate.name}: ${result.non2xx} refusals, ${result.errors} errors`);
      const run = runs.get(candidate.name) ?? { perSecond: [], p99: [], cpuUs: [] };
      run.perSecond.push(result.requests.average);
      run.p99.push(result.latency.p99);
      run.cpuUs.push((cpu / result.requests.total) * 1e6);
      runs.set(candidate.name, run);
      say(`round ${round} of ${rounds}: ${candidate.name} ${result.requests.average.toFixed(0)} req/s`);
    }
  }
  const base = median(runs.get("bare-fastify-pg")?.perSecond ?? []);
  const rows = candidates.map(({ name, pids }) => {
    const run = runs.get(name);
    const perSecond = median(run?.perSecond ?? []);
    return {
      server: name,
      "req/s (median)": Math.round(perSecond),
      "of bare pg": (perSecond / base).toFixed(2),
      "p99 ms": median(run?.p99 ?? []),
      "cpu µs/req": Math.round(median(run?.cpuUs ?? [])),
      "memory MB": Math.round(processFigures(pids()).residentMb),
    };
  });
  printTable(rows);
  return rows;
}

async function load({ url }: Candidate, key: string, seconds: number) {
  return await autocannon({ url, connections, duration: seconds, headers: { authorization: `Bearer ${key}` } });
}

async function read(url: string, key: string): Promise<string> {
  const answer = await request(url, { headers: { authorization: `Bearer ${key}` } });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode} ${text}`);
  return text;
}

async function bare(stack: AsyncDisposableStack, system: System, name: string, path: string): Promise<Candidate> {
  const port = await freePort();
  const server = await spawnServer({
    command: process.execPath,
    args: [join(import.meta.dirname, `${name}.ts`)],
    cwd: import.meta.dirname,
    env: {
      ...process.env,
      PORT: String(port),
      IDENTITY_DATABASE_URL: system.databaseUrls["identity"],
      PAYMENTS_DATABASE_URL: system.databaseUrls["payments"],
    },
    exitSignal: "SIGTERM",
    log: () => {},
  });
  stack.defer(() =>
    server.stop([
      { signal: "SIGTERM", waitMs: 2_000 },
      { signal: "SIGKILL", waitMs: 2_000 },
    ]),
  );
  for (let i = 0; i < 200; i++) {
    const up = await request(`http://127.0.0.1:${port}/healthz`).then(
      (answer) => answer.body.dump().then(() => true),
      () => false,
    );
    if (up) break;
    if (!server.running()) throw new Error(`${name} did not start:\n${server.recentOutput()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { name, url: `http://127.0.0.1:${port}${path}`, pids: () => [server.pid] };
}
