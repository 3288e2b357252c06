import { sleep } from "@amana/runtime";
import pg from "pg";
import { readFiguresOfDescendants, readPeakMb, resetPeak } from "../process-figures.ts";
import { log } from "../table.ts";
import { nowMs } from "./child.ts";
import type { Business, WebhooksSystem } from "./webhooks-system.ts";

export interface FlowOptions {
  readonly name: string;
  readonly businesses: readonly Business[];
  /** Number of events that all businesses together commit per second. */
  readonly perSecond: number;
  readonly seconds: number;
  /** Indexes of endpoints that hang during the run. The results exclude them. */
  readonly excludedEndpoints?: readonly number[];
  /** If true, other businesses have deliveries at the same time, so the flow's cost is unknown. */
  readonly shared?: boolean;
  /** Events that a second producer commits at the same time. Their deliveries are not measured. */
  readonly otherEvents?: { readonly businesses: readonly Business[]; readonly perSecond: number };
}

/** Delivery results for events committed at a fixed rate. */
export interface Flow {
  readonly name: string;
  readonly shared: boolean;
  readonly perSecond: number;
  /** Number of expected deliveries. */
  readonly offered: number;
  readonly offeredPerSecond: number;
  readonly delivered: number;
  readonly deliveredPerSecond: number;
  /** Milliseconds from the start of the commit to the arrival, sorted. */
  readonly delaysMs: Float64Array;
  /** Durations of the commits in milliseconds, sorted. */
  readonly commitsMs: Float64Array;
  readonly lost: number;
  readonly duplicated: number;
  /** Time from the last commit to the last arrival. */
  readonly drainMs: number;
  /** CPU seconds per 1000 deliveries, by process. */
  readonly cpuSeconds: Readonly<Record<CpuName, number>>;
  /** Transactions in all databases that changed or locked rows, per delivery. */
  readonly commits: number;
  /** Peak memory of webhooks during the flow. */
  readonly peakMb: number;
}

export const cpuNames = [
  "producer",
  "webhooks",
  "PostgreSQL for payments",
  "PostgreSQL for webhooks",
  "PostgreSQL (shared)",
  "Kafka",
  "receivers",
] as const;
export type CpuName = (typeof cpuNames)[number];

/**
 * Returns the CPU seconds of all processes except the receivers, because in production the
 * receivers belong to the businesses.
 */
export const cpuTotal = ({ cpuSeconds }: Flow): number =>
  cpuNames.reduce((sum, name) => (name === "receivers" ? sum : sum + cpuSeconds[name]), 0);

export const percentile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

const drainSecondsMax = 60;
let runs = 0;

/** Commits events, waits up to a minute for their webhooks, and returns the delivery results. */
export async function measureFlow(webhooksSystem: WebhooksSystem, options: FlowOptions): Promise<Flow> {
  const { name, businesses, perSecond, seconds, excludedEndpoints = [], otherEvents } = options;
  const run = ++runs;
  const otherRun = ++runs;
  const webhooksPid = webhooksSystem.system.services.webhooks.pid() ?? 0;
  const firstTransaction = await nextTransactionId(webhooksSystem);
  const cpuBefore = readCpu();
  resetPeak(webhooksPid);

  const businessIds = businesses.map(({ id }) => id);
  const [{ commitStartedMs, committedMs }] = await Promise.all([
    webhooksSystem.producer.request({ run, businessIds, perSecond, seconds }),
    otherEvents &&
      webhooksSystem.secondProducer.request({
        run: otherRun,
        businessIds: otherEvents.businesses.map(({ id }) => id),
        perSecond: otherEvents.perSecond,
        seconds,
      }),
  ]);
  const countEndpoints = ({ endpoints }: Business) =>
    endpoints.filter((endpoint) => !excludedEndpoints.includes(endpoint)).length;
  const counts = businesses.map(countEndpoints);
  const expected = commitStartedMs.reduce((sum, _, index) => sum + (counts[index % counts.length] ?? 0), 0);
  const arrivals = createArrivalLog(commitStartedMs, excludedEndpoints);
  const deadlineMs = nowMs() + drainSecondsMax * 1000;
  for (;;) {
    arrivals.add((await webhooksSystem.receivers.request({ arrivalsOfRun: run })).arrivals);
    if (arrivals.delivered >= expected || nowMs() > deadlineMs) break;
    await sleep(50);
  }
  // Waits, so that webhooks records the last attempts and possible duplicates arrive.
  await sleep(300);
  arrivals.add((await webhooksSystem.receivers.request({ arrivalsOfRun: run })).arrivals);
  const cpuAfter = readCpu();
  const peak = readPeakMb(webhooksPid);
  const endTransaction = await nextTransactionId(webhooksSystem);

  const { delivered, duplicated, lastMs } = arrivals;
  const startMs = commitStartedMs[0] ?? 0;
  const ratio = (after: number, before: number) => (after - before) / delivered;
  const result: Flow = {
    name,
    shared: options.shared === true || otherEvents !== undefined || excludedEndpoints.length > 0,
    perSecond,
    offered: expected,
    offeredPerSecond: expected / seconds,
    delivered,
    deliveredPerSecond: (delivered / (lastMs - startMs)) * 1000,
    delaysMs: arrivals.sortedDelaysMs(),
    commitsMs: committedMs.map((at, index) => at - (commitStartedMs[index] ?? 0)).sort(),
    lost: expected - delivered,
    duplicated,
    drainMs: lastMs - (startMs + seconds * 1000),
    cpuSeconds: Object.fromEntries(
      cpuNames.map((process) => [process, 1000 * ratio(cpuAfter[process], cpuBefore[process])]),
    ) as Flow["cpuSeconds"],
    commits: ratio(endTransaction, firstTransaction),
    peakMb: peak,
  };
  log(
    `${name}: ${Math.round(result.deliveredPerSecond)}/s of ${Math.round(result.offeredPerSecond)} offered, ` +
      `p50 ${percentile(result.delaysMs, 0.5).toFixed(1)} ms, p95 ${percentile(result.delaysMs, 0.95).toFixed(1)} ms, ` +
      `${result.shared ? "" : `${cpuTotal(result).toFixed(2)} CPU s per 1000, `}${result.lost} lost, ${duplicated} duplicated`,
  );
  return result;
}

/** Creates a log of arrivals, which counts duplicates and stores the delays of first arrivals. */
function createArrivalLog(commitStartedMs: Float64Array, excludedEndpoints: readonly number[]) {
  const deliveries = new Set<number>();
  const delays: number[] = [];
  let duplicated = 0;
  let lastMs = 0;
  return {
    get delivered() {
      return deliveries.size;
    },
    get duplicated() {
      return duplicated;
    },
    get lastMs() {
      return lastMs;
    },
    sortedDelaysMs: () => Float64Array.from(delays).sort(),
    add(numbers: Float64Array): void {
      for (let i = 0; i < numbers.length; i += 3) {
        const [index = 0, endpoint = 0, atMs = 0] = numbers.subarray(i, i + 3);
        if (excludedEndpoints.includes(endpoint)) continue;
        const delivery = endpoint * commitStartedMs.length + index;
        if (deliveries.has(delivery)) {
          duplicated++;
          continue;
        }
        deliveries.add(delivery);
        delays.push(atMs - (commitStartedMs[index] ?? 0));
        lastMs = Math.max(lastMs, atMs);
      }
    },
  };
}

function readCpu(): Record<CpuName, number> {
  const figures = readFiguresOfDescendants(process.pid, findProcessName);
  return Object.fromEntries(cpuNames.map((name) => [name, figures[name]?.cpuSeconds ?? 0])) as Record<CpuName, number>;
}

/** Returns the process name. The command line of a PostgreSQL backend contains its database. */
function findProcessName(command: string): string {
  const [, program] = /webhooks\/(producer|receivers)\.ts/.exec(command) ?? [];
  if (program) return program;
  if (command.includes("services/webhooks/")) return "webhooks";
  if (command.includes("kafka.Kafka")) return "Kafka";
  const [, database] = /^postgres: (?:\S+ )?amana_(\w+) /.exec(command) ?? [];
  if (database) return `PostgreSQL for ${database.replace("_owner", "")}`;
  return command.includes("postgres") ? "PostgreSQL (shared)" : "";
}

/**
 * Returns the first transaction id after all ended transactions. A transaction gets an id only if
 * it changes or locks rows.
 */
async function nextTransactionId({ system }: WebhooksSystem): Promise<number> {
  const client = new pg.Client({ connectionString: system.databaseUrls["payments"] });
  await client.connect();
  const { rows } = await client.query<{ id: string }>("select pg_snapshot_xmax(pg_current_snapshot()) as id");
  await client.end();
  return Number(rows[0]?.id);
}
