import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProgress } from "@amana/dev-env/progress";
import { type System, startSystem } from "@amana/dev-env/system";
import pg from "pg";
import { request } from "undici";
import { readFiguresOfDescendants, readPeakMb, readProcessFigures, resetPeak } from "../process-figures.ts";
import { log, median, printTable } from "../table.ts";

const services = ["gateway", "payments"] as const;

/** Measures the lines per second of a long statement, and the memory of gateway and payments. */
export async function measureStatement({ rounds, lines }: { rounds: number; lines: number }) {
  const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const system = stack.use(
    await startSystem({
      dir,
      events: "direct",
      progress: createProgress(),
      durable: false,
      env: { gateway: { LOG_LEVEL: "warn", RATE_LIMIT_SEARCH_PER_SECOND: "0" }, payments: { LOG_LEVEL: "warn" } },
    }),
  );
  log(`inserting ${lines} payments`);
  await insertLines(system, lines);
  // Fills caches, plans and pools before the measurement.
  await read(system, "application/x-ndjson", 1);
  const pids = services.map((name) => system.services[name].pid() ?? 0);
  const before = pids.map((pid) => readProcessFigures([pid]).residentMb);

  const rows = [];
  for (const format of ["application/x-ndjson", "text/csv"]) {
    const perSecond: number[] = [];
    let bytes = 0;
    const cpuBefore = readFiguresOfDescendants(process.pid);
    for (const pid of pids) resetPeak(pid);
    for (let round = 1; round <= rounds; round++) {
      const result = await read(system, format, 30);
      if (result.lines !== lines) throw new Error(`the statement has ${result.lines} lines, expected ${lines}`);
      perSecond.push(lines / result.seconds);
      bytes = result.bytes;
      log(`round ${round} of ${rounds}: ${format} ${Math.round(lines / result.seconds)} lines/s`);
    }
    const cpuAfter = readFiguresOfDescendants(process.pid);
    rows.push({
      format,
      "lines/s (median)": Math.round(median(perSecond)),
      "bytes/line": Math.round(bytes / lines),
      ...Object.fromEntries(
        [...services, "postgres"].map((name) => [
          `${name} cpu µs/line`,
          Math.round((((cpuAfter[name]?.cpuSeconds ?? 0) - (cpuBefore[name]?.cpuSeconds ?? 0)) * 1e6) / lines / rounds),
        ]),
      ),
      ...Object.fromEntries(
        services.map((name, i) => [
          `${name} MB (before → peak)`,
          `${Math.round(before[i] ?? 0)} → ${Math.round(readPeakMb(pids[i] ?? 0))}`,
        ]),
      ),
    });
  }
  printTable(rows);
  return rows;
}

/** Inserts `lines` payments, each with its money movement, spread over the last 30 days. */
async function insertLines(system: System, lines: number): Promise<void> {
  const client = new pg.Client({ connectionString: system.ownerDatabaseUrls["payments"] });
  await client.connect();
  try {
    await client.query(
      `with inserted as (
         insert into payment (id, business_id, amount_minor, currency, status, language, success_url, fail_url, order_ref, return_token,
           processor_order_number, paid_at, created_at, updated_at)
         select uuidv7(at - now()), $1, 5000 + i % 100000, 'DZD', 'PAID', 'FR', 'https://shop.example/paid', 'https://shop.example/failed',
           'order-' || i, 'bench-' || i, lpad(i::text, 10, '0'), at, at, at
         from (select i, now() - interval '30 days' + i * (interval '30 days' / $2) as at from generate_series(1, $2::int) i) numbered
         returning id, business_id, paid_at, amount_minor
       ) insert into money_movement (business_id, at, payment_id, type, amount_minor)
         select business_id, paid_at, id, 'PAYMENT', amount_minor from inserted`,
      [system.business.id, lines],
    );
    await client.query("vacuum (analyze)");
  } finally {
    await client.end();
  }
}

/** Reads the statement of the last `days` days and counts its lines. */
async function read(system: System, accept: string, days: number) {
  const [from, to] = [Date.now() - (days + 1) * 86_400_000, Date.now()].map((ms) => new Date(ms).toISOString());
  const startedMs = performance.now();
  const response = await request(`${system.gatewayUrl}/api/v1/payments/statement?from=${from}&to=${to}`, {
    headers: { authorization: `Bearer ${system.business.api_key}`, accept },
  });
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${await response.body.text()}`);
  let lines = accept === "text/csv" ? -1 : 0;
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    for (let i = chunk.indexOf(10); i !== -1; i = chunk.indexOf(10, i + 1)) lines++;
  }
  return { lines, bytes, seconds: (performance.now() - startedMs) / 1000 };
}
