import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { apiCaller } from "@amana/dev-env/demo/api";
import { startReceiver } from "@amana/dev-env/demo/receiver";
import { createProgress } from "@amana/dev-env/progress";
import { type System, startSystem } from "@amana/dev-env/system";
import pg from "pg";
import { readFiguresOfDescendants } from "../process-figures.ts";
import { log, printTable } from "../table.ts";
import { createIds, operations, runAll } from "./operations.ts";

const operationsPerRound = 250;
/** When no webhook has arrived for this time, all events count as delivered and recorded. */
const idleMs = 5_000;

/**
 * Measures the cost of each operation: the CPU time of each process, the rows and bytes that are
 * added to each table, and the write-ahead log. Subtracts the CPU time of an idle system, which for
 * example polls.
 */
export async function measureGrowth({ rounds, events }: { rounds: number; events: "direct" | "kafka" }) {
  const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const names = ["", "_REFUND", "_KYC", "_CREATION", "_SEARCH", "_KEYLESS"];
  const gateway = Object.fromEntries(names.map((name) => [`RATE_LIMIT${name}_PER_SECOND`, "0"]));
  const system = stack.use(await startSystem({ dir, events, progress: createProgress(), env: { gateway } }));
  const receiver = stack.use(await startReceiver());
  const call = apiCaller(system.gatewayUrl, system.business.api_key);
  const endpoint = await call("POST", "/api/v1/webhook-endpoints", { url: receiver.url });
  receiver.useSecret(String(endpoint.body["secret"]));

  const count = rounds * operationsPerRound;
  const ids = createIds();
  const warmUpIds = createIds();
  const [costs, sizes]: Record<string, string | number>[][] = [[], []];
  // Fills caches, plans and pools before the measurement.
  for (const operation of operations) await runAll(operation, system, 10, warmUpIds, "first");
  const idle = await measureBetween(system, () => sleep(idleMs));
  for (const operation of operations) {
    const cost = await measureBetween(system, async () => {
      await runAll(operation, system, count, ids, "person");
      for (let receivedCount = -1; receivedCount < receiver.received.length; await sleep(idleMs))
        receivedCount = receiver.received.length;
    });
    log(`${operation.name}: ${count} in ${cost.seconds.toFixed(1)} s`);
    const perIdleSecond = (name: string) => (idle.cpu[name] ?? 0) / idle.seconds;
    const cpu = (name: string) => Math.max(0, (cost.cpu[name] ?? 0) - perIdleSecond(name) * cost.seconds) / count;
    const ms = Object.keys(cost.cpu)
      .filter((name) => name !== "")
      .map((name) => [name, Number((cpu(name) * 1000).toFixed(2))] as const);
    costs?.push({
      operation: operation.name,
      ...Object.fromEntries(ms.filter(([, value]) => value >= 0.03)),
    });
    for (const [table, { rows, bytes }] of Object.entries(cost.tables)) {
      if (rows < count / 10) continue;
      sizes?.push({
        operation: operation.name,
        table,
        rows: Number((rows / count).toFixed(1)),
        bytes: Math.round(bytes / count),
      });
    }
    sizes?.push({ operation: operation.name, table: "write-ahead log", rows: "", bytes: Math.round(cost.walBytes / count) });
  }
  const columns = [...new Set(costs?.flatMap((row) => Object.keys(row)))];
  printTable(costs?.map((row) => Object.fromEntries(columns.map((column) => [column, row[column] ?? 0]))) ?? []);
  printTable(sizes ?? []);
  return { costs, sizes };
}

type Sizes = Readonly<Record<string, { rows: number; bytes: number }>>;

async function measureBetween(system: System, work: () => Promise<unknown>) {
  const sizesBefore = await readSizes(system);
  const useBefore = await readUse(system);
  await work();
  const useAfter = await readUse(system);
  const sizes = await readSizes(system);
  const subtract = <K extends string>(a: Readonly<Record<K, number>>, b?: Readonly<Record<K, number>>) =>
    Object.fromEntries(Object.entries<number>(a).map(([key, value]) => [key, value - (b?.[key as K] ?? 0)])) as Record<K, number>;
  return {
    seconds: (useAfter.atMs - useBefore.atMs) / 1000,
    cpu: subtract(useAfter.cpu, useBefore.cpu),
    walBytes: useAfter.wal - useBefore.wal,
    tables: Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, subtract(size, sizesBefore[name])])),
  };
}

async function readUse(system: System) {
  const { rows } = await query(system, "payments", "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal");
  const cpu = Object.entries(readFiguresOfDescendants(process.pid, findProcessName)).map(
    ([name, { cpuSeconds }]) => [name, cpuSeconds] as const,
  );
  return { atMs: performance.now(), cpu: Object.fromEntries(cpu), wal: Number((rows[0] as { wal: string }).wal) };
}

/** Reads the size of each table. The size of a table includes the sizes of its partitions. */
const sizesSql = `
  select coalesce(i.inhparent, c.oid)::regclass::text as name, sum(pg_total_relation_size(c.oid))::int as bytes, sum(greatest(c.reltuples, 0))::int as rows
  from pg_class c left join pg_inherits i on i.inhrelid = c.oid
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' group by 1`;

/** Returns the size of each table. Vacuums all tables first, so that dead rows do not count. */
async function readSizes(system: System): Promise<Sizes> {
  const sizes: Record<string, { rows: number; bytes: number }> = {};
  for (const database of Object.keys(system.ownerDatabaseUrls)) {
    await query(system, database, "vacuum (analyze)");
    const { rows } = await query(system, database, sizesSql);
    for (const { name, ...size } of rows as { name: string; bytes: number; rows: number }[]) sizes[`${database}: ${name}`] = size;
  }
  return sizes;
}

async function query(system: System, database: string, sql: string): Promise<{ rows: unknown[] }> {
  const client = new pg.Client({ connectionString: system.ownerDatabaseUrls[database] });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

function findProcessName(command: string): string {
  const [, service] = /services\/(\w+)\/src\/main\.ts/.exec(command) ?? [];
  if (service) return service;
  if (command.includes("kafka.Kafka")) return "Kafka";
  const [, database] = /^postgres: (?:\S+ )?amana_(\w+) /.exec(command) ?? [];
  if (database) return `PostgreSQL for ${database.replace("_owner", "")}`;
  return command.includes("postgres") ? "PostgreSQL (shared)" : "";
}
