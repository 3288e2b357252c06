import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProgress } from "@amana/dev-env/progress";
import { type System, startSystem } from "@amana/dev-env/system";
import { request } from "undici";
import { measureLoad, startBareServer } from "../bare-server.ts";
import { createPaidPayment } from "../paid-payment.ts";
import { readProcessFigures } from "../process-figures.ts";
import { log, median, printTable } from "../table.ts";

interface Candidate {
  readonly name: string;
  readonly url: string;
  readonly pids: () => number[];
}

/**
 * Measures authenticated reads of 16 payments in turn through the gateway. Compares them with reads
 * from two bare servers that run the same two queries, one with pg and one with MikroORM.
 * Default of `running`: a new system.
 */
export async function measureReads({ rounds, seconds }: { rounds: number; seconds: number }, running?: System) {
  await using stack = new AsyncDisposableStack();
  const system = running ?? (await startReadsSystem(stack));
  // Uses paid payments, because a read of them never calls the processor.
  const paths: string[] = [];
  while (paths.length < 16) paths.push(`/api/v1/payments/${await createPaidPayment(system)}`);
  const databases = {
    IDENTITY_DATABASE_URL: system.databaseUrls["identity"] ?? "",
    PAYMENTS_DATABASE_URL: system.databaseUrls["payments"] ?? "",
    PUBLIC_URL: system.gatewayUrl,
  };
  const startBare = async (name: string): Promise<Candidate> => {
    const server = await startBareServer(stack, join("reads", `${name}.ts`), databases);
    return { name, url: server.url, pids: () => [server.pid] };
  };
  const candidates: Candidate[] = [
    await startBare("bare-fastify-pg"),
    await startBare("bare-fastify-mikroorm"),
    {
      name: "amana gateway",
      url: system.gatewayUrl,
      pids: () => (["gateway", "payments", "identity"] as const).flatMap((name) => system.services[name].pid() ?? []),
    },
  ];

  const [path] = paths;
  const expected = await readBody(`${candidates[0]?.url}${path}`, system.business.api_key);
  for (const candidate of candidates) {
    const body = await readBody(`${candidate.url}${path}`, system.business.api_key);
    if (body !== expected) throw new Error(`${candidate.name} returned a different body:\n${body}\nexpected:\n${expected}`);
    await measureLoad(candidate.name, candidate.url, system.business.api_key, Math.min(2, seconds), [], paths);
  }

  const runs = new Map<string, { perSecond: number[]; p99: number[]; cpuUs: number[] }>();
  for (let round = 1; round <= rounds; round++) {
    for (const candidate of candidates) {
      const { name, url, pids } = candidate;
      const { perSecond, p99Ms, cpuUs } = await measureLoad(name, url, system.business.api_key, seconds, pids(), paths);
      const run = runs.get(name) ?? { perSecond: [], p99: [], cpuUs: [] };
      run.perSecond.push(perSecond);
      run.p99.push(p99Ms);
      run.cpuUs.push(cpuUs);
      runs.set(name, run);
      log(`round ${round} of ${rounds}: ${name} ${perSecond.toFixed(0)} req/s`);
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
      "memory MB": Math.round(readProcessFigures(pids()).residentMb),
    };
  });
  printTable(rows);
  return rows;
}

async function readBody(url: string, key: string): Promise<string> {
  const response = await request(url, { headers: { authorization: `Bearer ${key}` } });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`${url} returned status ${response.statusCode}: ${text}`);
  return text;
}

async function startReadsSystem(stack: AsyncDisposableStack): Promise<System> {
  const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const unlimited = { RATE_LIMIT_PER_SECOND: "0" };
  return stack.use(
    await startSystem({
      dir,
      events: "direct",
      progress: createProgress(),
      env: { gateway: { ...unlimited, LOG_LEVEL: "warn" }, payments: { LOG_LEVEL: "warn" } },
    }),
  );
}
