import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Postgres, startPostgres } from "@amana/dev-env/postgres";
import { serviceNames } from "@amana/dev-env/services";
import { sleep } from "@amana/runtime";
import { Client } from "pg";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operationIds, prepareOperation } from "../../src/api-operations.ts";
import { parseSeries } from "../../src/metric-series.ts";
import { aBusiness, copyPostgresData, startTestSystem, type TestSystem } from "../../src/test-system.ts";

const file = join(import.meta.dirname, "..", "..", "..", "docs", "costs.md");
const columns = [
  "Statements",
  "Round trips",
  "Statements for events",
  "Calls between services",
  "Upstream calls",
  "WAL bytes",
] as const;
type Column = (typeof columns)[number];
/** Counts of one operation in one column. The keys are services, or methods for calls. */
type Counts = Readonly<Record<string, number>>;
type Costs = Readonly<Record<Column, Counts>>;

/** RPC that each gateway calls twice a second. It is not counted as work of an operation. */
const resolveKeysMethod = "KeyLeaseService/ResolveKeys";
/**
 * Operations during which a provider callback or the refund job also runs. Their counts depend on
 * whether the request or the other work comes first.
 */
const concurrentOperations = ["cancelKycApplication", "reviewKycApplication", "resolveRefund"];
/** Columns that count only work of the request. The other columns can include background work. */
const comparedColumns = ["Statements", "Round trips", "Calls between services"] as const;

/** Period in which the test counts the statements of an idle system. */
const idleSeconds = 10;

const upstreamCalls = new Set([
  "amana_card_processor_duration_seconds_count",
  "amana_verification_provider_duration_seconds_count",
]);
const countedSeries = new Set([
  "amana_database_statements_total",
  "amana_database_round_trips_total",
  "amana_rpc_client_duration_seconds_count",
  ...upstreamCalls,
]);

let dir: string;
let postgres: Postgres;
let running: TestSystem;
let statistics: Client;
/**
 * Webhook receivers of all operations. They stay open until the end, because a failed delivery
 * would be retried while another operation is measured.
 */
const receivers = new AsyncDisposableStack();

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "amana-costs-"));
  await copyPostgresData(dir);
  postgres = await startPostgres({
    dataDir: join(dir, "postgres"),
    durable: false,
    settings: ["shared_preload_libraries=pg_stat_statements", "pg_stat_statements.max=10000"],
    log: () => {},
  });
  statistics = new Client({ connectionString: postgres.superuserUrl });
  await statistics.connect();
  await statistics.query("create extension pg_stat_statements");
  // Disables background reads of applications, of the provider's events and of payments.
  const kyc = { KYC_CHECK_SECONDS: "3600", KYC_CATCH_UP_SECONDS: "3600" };
  const payments = { PAYMENT_CHECK_SECONDS: "3600" };
  running = await startTestSystem("direct", { kyc, payments }, { databaseUrl: postgres.superuserUrl });
});
afterAll(async () => {
  await receivers.disposeAsync();
  await running?.[Symbol.asyncDispose]();
  await statistics?.end();
  await postgres?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Returns counters of the work that requests and events cause. Excludes background tasks. */
async function readCounters(): Promise<Map<string, number>> {
  const counters = new Map<string, number>();
  const add = (column: Column, name: string, value: number) => {
    const key = `${column}|${name}`;
    counters.set(key, (counters.get(key) ?? 0) + value);
  };
  const pages = serviceNames.map(async (service) => [
    service,
    await (await request(running.system.metricsUrls[service])).body.text(),
  ]);
  for (const [service = "", text = ""] of await Promise.all(pages)) {
    for (const { name, labels, value } of parseSeries(text, countedSeries)) {
      const { operation = "", method = "", to } = labels;
      const isEvent = operation === "deliver" || operation.startsWith("consume ");
      const isRpc = operation.includes("/") && operation !== resolveKeysMethod;
      if (name === "amana_database_statements_total" && isEvent) add("Statements for events", service, value);
      if (name === "amana_database_statements_total" && isRpc) add("Statements", service, value);
      if (name === "amana_database_round_trips_total" && isRpc) add("Round trips", service, value);
      if (name === "amana_rpc_client_duration_seconds_count" && to !== "events" && method !== resolveKeysMethod) {
        add("Calls between services", method, value);
      }
      if (upstreamCalls.has(name)) add("Upstream calls", operation, value);
    }
  }
  return counters;
}

/** Waits until no counter has changed for a quarter of a second. */
async function waitForStableCounters(): Promise<Map<string, number>> {
  for (let last = await readCounters(); ; ) {
    await sleep(250);
    const next = await readCounters();
    if ([...next].every(([key, value]) => last.get(key) === value)) return next;
    last = next;
  }
}

interface Measurement {
  readonly costs: Costs;
  /** Statements of the operation and of background tasks during it, most frequent first. */
  readonly statements: readonly string[];
}

async function measure(id: string): Promise<Measurement> {
  // Creates a new business, because data of other operations, such as endpoints, would change the
  // costs of this operation.
  const business = await aBusiness(running.system);
  receivers.use(business.receiver);
  const send = await prepareOperation(running, business, id);
  const before = await waitForStableCounters();
  await statistics.query("select pg_stat_statements_reset()");
  const { status, text } = await send();
  if (status >= 400 && id !== "retryDeadLetter") throw new Error(`${id} returned ${status}: ${text}`);
  const after = await waitForStableCounters();
  const { rows } = await statistics.query<{ calls: string; wal: string; query: string; service: string }>(
    `select s.calls, s.wal_bytes::bigint as wal, d.datname as service, s.query from pg_stat_statements s join pg_database d on d.oid = s.dbid
     where d.datname <> 'postgres' order by s.calls desc`,
  );
  const countsOf = (column: Column): Counts => {
    const names = [...after.keys()].filter((key) => key.startsWith(`${column}|`));
    const grown = names.map((key) => [key.slice(column.length + 1), (after.get(key) ?? 0) - (before.get(key) ?? 0)] as const);
    return Object.fromEntries(grown.filter(([, count]) => count > 0).toSorted(([a], [b]) => a.localeCompare(b)));
  };
  const wal: Record<string, number> = {};
  const services = new Set([...Object.keys(countsOf("Statements")), ...Object.keys(countsOf("Statements for events"))]);
  for (const row of rows) {
    const service = row.service.replace("amana_", "");
    if (services.has(service) && Number(row.wal) > 0) wal[service] = (wal[service] ?? 0) + Number(row.wal);
  }
  const costs = Object.fromEntries(columns.map((column) => [column, column === "WAL bytes" ? wal : countsOf(column)])) as Costs;
  return {
    costs,
    statements: rows.map(({ calls, service, query }) => `${calls} × ${service}: ${query.replaceAll(/\s+/g, " ")}`),
  };
}

const cellOf = (counts: Counts): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
const rowOf = (id: string, costs: Costs) => `| ${id} | ${columns.map((column) => cellOf(costs[column])).join(" | ")} |`;

function parseRow(line: string): [id: string, costs: Costs] {
  const [, id = "", ...cells] = line.split("|").map((cell) => cell.trim());
  const parsed = columns.map((column, at) => {
    const pairs = (cells[at] ?? "").split(", ").filter(Boolean);
    return [column, Object.fromEntries(pairs.map((pair) => [pair.split(" ")[0], Number(pair.split(" ")[1])]))];
  });
  return [id, Object.fromEntries(parsed) as Costs];
}

/** Returns a text such as "Statements of payments: 23, recorded 22" for each increased count. */
function growthOf(id: string, measured: Costs, recorded: Costs): string[] {
  const isConcurrent = concurrentOperations.includes(id);
  return comparedColumns.flatMap((column) =>
    Object.entries(measured[column]).flatMap(([name, count]) => {
      const known = recorded[column][name] ?? 0;
      const allowed = isConcurrent ? 2 * known + 5 : known;
      return count > allowed ? [`${column} of ${name}: ${count}, recorded ${known}`] : [];
    }),
  );
}

const updated: string[] = [];
const isUpdate = process.env["UPDATE_COSTS"] === "1";

describe("costs of the operations", async () => {
  const text = await readFile(file, "utf8");
  const [, table = ""] = text.split("| Operation |");
  const recorded = new Map(
    table
      .split("\n")
      .filter((line) => /^\| \w+ \| /.test(line))
      .map(parseRow),
  );

  test("docs/costs.md has one row for each operation of the API", () => {
    if (!isUpdate) expect([...recorded.keys()]).toEqual(operationIds);
  });

  test("an idle system executes at most five SQL statements per second", async () => {
    // Repeats the count, because the first counts may include work that follows the start.
    let count = Number.POSITIVE_INFINITY;
    let texts = "";
    for (let windows = 0; count > 5 * idleSeconds && windows < 6; windows++) {
      await statistics.query("select pg_stat_statements_reset()");
      await sleep(idleSeconds * 1000);
      const { rows } = await statistics.query<{ count: string; texts: string }>(
        `select coalesce(sum(calls), 0) as count, string_agg(calls || ' × ' || query, e'\n' order by calls desc) as texts
         from pg_stat_statements s join pg_database d on d.oid = s.dbid where d.datname <> 'postgres'`,
      );
      count = Number(rows[0]?.count);
      texts = rows[0]?.texts ?? "";
    }
    expect(count, texts).toBeLessThanOrEqual(5 * idleSeconds);
  });

  for (const id of operationIds) {
    test(`${id} needs at most as many SQL statements and calls as docs/costs.md records`, async () => {
      const known = recorded.get(id);
      let measured = await measure(id);
      let growth = known && !isUpdate ? growthOf(id, measured.costs, known) : [];
      // On a busy machine, an event of the previous operation can be delivered during this
      // operation. Therefore an increased count is measured again.
      for (let repetition = 0; known && growth.length > 0 && repetition < 2; repetition++) {
        measured = await measure(id);
        growth = growthOf(id, measured.costs, known);
      }
      updated.push(rowOf(id, measured.costs));
      expect(growth, measured.statements.join("\n")).toEqual([]);
    });
  }

  test("docs/costs.md has the columns that this test measures (with UPDATE_COSTS=1, the test rewrites docs/costs.md)", async () => {
    const [introduction = ""] = text.split("| Operation |");
    const head = `| Operation | ${columns.join(" | ")} |\n| --- | ${columns.map(() => "---").join(" | ")} |`;
    if (isUpdate) await writeFile(file, `${introduction}${head}\n${updated.join("\n")}\n`);
    else expect(text).toContain(head);
  });
});
