import { sleep } from "@amana/runtime";
import pg from "pg";
import { figuresBelow, forgetPeak, peakMb } from "../process-figures.ts";
import { say } from "../table.ts";
import { nowMs } from "./child.ts";
import type { Business, Stage } from "./stage.ts";

export interface FlowOptions {
  readonly name: string;
  readonly businesses: readonly Business[];
  /** Events in all. */
  readonly perSecond: number;
  readonly seconds: number;
  /** Endpoints that do not count: they hang, or will. */
  readonly leftOut?: readonly number[];
  /** Others have deliveries, too: what all costs is not the cost of these. */
  readonly shared?: boolean;
  /** What flows at the same time, by another producer, and is not looked at. */
  readonly beside?: { readonly businesses: readonly Business[]; readonly perSecond: number };
}

/** What became of events that were committed at a fixed rate. */
export interface Flow {
  readonly name: string;
  readonly shared: boolean;
  readonly perSecond: number;
  /** Deliveries that there should have been, in all and each second. */
  readonly offered: number;
  readonly offeredPerSecond: number;
  readonly delivered: number;
  readonly deliveredPerSecond: number;
  /** Milliseconds from asking for the commit to the arrival, sorted. */
  readonly delaysMs: Float64Array;
  /** How long the commits took, sorted. */
  readonly commitsMs: Float64Array;
  readonly lost: number;
  readonly duplicated: number;
  /** How long after the last commit was asked for the last delivery arrived. */
  readonly drainMs: number;
  /** For each 1000 deliveries, by process. */
  readonly cpuSeconds: Readonly<Record<CpuName, number>>;
  /** For each delivery, by database. */
  readonly commits: Readonly<Record<"payments" | "webhooks", number>>;
  /** The most memory that webhooks had. */
  readonly peakMb: number;
}

export const cpuNames = [
  "producer",
  "webhooks",
  "PostgreSQL for payments",
  "PostgreSQL for webhooks",
  "PostgreSQL itself",
  "Kafka",
  "receivers",
] as const;
export type CpuName = (typeof cpuNames)[number];

/** The receivers are the businesses' own. */
export const cpuInAll = ({ cpuSeconds }: Flow): number =>
  cpuNames.reduce((sum, name) => (name === "receivers" ? sum : sum + cpuSeconds[name]), 0);

export const percentile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

const drainSecondsMax = 60;
/** PostgreSQL tells the numbers of commits up to a second late. */
const statisticsLagMs = 1_100;
let runs = 0;

/** Commits the events and waits until all of them have arrived, a minute at most. */
export async function flow(stage: Stage, options: FlowOptions): Promise<Flow> {
  const { name, businesses, perSecond, seconds, leftOut = [], beside } = options;
  const run = ++runs;
  const besideRun = ++runs;
  const webhooksPid = stage.system.services.webhooks.pid() ?? 0;
  await sleep(statisticsLagMs);
  const commitsBefore = await countCommits(stage);
  const cpuBefore = readCpu();
  forgetPeak(webhooksPid);

  const businessIds = businesses.map(({ id }) => id);
  const [{ askedMs, committedMs }] = await Promise.all([
    stage.producer.ask({ run, businessIds, perSecond, seconds }),
    beside &&
      stage.beside.ask({
        run: besideRun,
        businessIds: beside.businesses.map(({ id }) => id),
        perSecond: beside.perSecond,
        seconds,
      }),
  ]);
  const countOf = ({ endpoints }: Business) => endpoints.filter((endpoint) => !leftOut.includes(endpoint)).length;
  const counts = businesses.map(countOf);
  const expected = askedMs.reduce((sum, _, index) => sum + (counts[index % counts.length] ?? 0), 0);
  const arrivals = createArrivals(askedMs, leftOut);
  const deadlineMs = nowMs() + drainSecondsMax * 1000;
  for (;;) {
    arrivals.add((await stage.receivers.ask({ arrivedOf: run })).arrivals);
    if (arrivals.delivered >= expected || nowMs() > deadlineMs) break;
    await sleep(50);
  }
  // What arrived is also recorded, and a second delivery of it would come now.
  await sleep(300);
  arrivals.add((await stage.receivers.ask({ arrivedOf: run })).arrivals);
  const cpuAfter = readCpu();
  const peak = peakMb(webhooksPid);
  await sleep(statisticsLagMs);
  const commitsAfter = await countCommits(stage);

  const { delivered, duplicated, lastMs } = arrivals;
  const startMs = askedMs[0] ?? 0;
  const ratio = (after: number, before: number) => (after - before) / delivered;
  const found: Flow = {
    name,
    shared: options.shared === true || beside !== undefined || leftOut.length > 0,
    perSecond,
    offered: expected,
    offeredPerSecond: expected / seconds,
    delivered,
    deliveredPerSecond: (delivered / (lastMs - startMs)) * 1000,
    delaysMs: arrivals.delaysMs(),
    commitsMs: committedMs.map((at, index) => at - (askedMs[index] ?? 0)).sort(),
    lost: expected - delivered,
    duplicated,
    drainMs: lastMs - (startMs + seconds * 1000),
    cpuSeconds: Object.fromEntries(
      cpuNames.map((each) => [each, 1000 * ratio(cpuAfter[each], cpuBefore[each])]),
    ) as Flow["cpuSeconds"],
    commits: {
      payments: ratio(commitsAfter.payments, commitsBefore.payments),
      webhooks: ratio(commitsAfter.webhooks, commitsBefore.webhooks),
    },
    peakMb: peak,
  };
  say(
    `${name}: ${Math.round(found.deliveredPerSecond)}/s of ${Math.round(found.offeredPerSecond)} offered, ` +
      `p50 ${percentile(found.delaysMs, 0.5).toFixed(1)} ms, p95 ${percentile(found.delaysMs, 0.95).toFixed(1)} ms, ` +
      `${found.shared ? "" : `${cpuInAll(found).toFixed(2)} CPU s per 1000, `}${found.lost} lost, ${duplicated} duplicated`,
  );
  return found;
}

/** Tells first arrivals from duplicates. */
function createArrivals(askedMs: Float64Array, leftOut: readonly number[]) {
  const seen = new Set<number>();
  const delays: number[] = [];
  let duplicated = 0;
  let lastMs = 0;
  return {
    get delivered() {
      return seen.size;
    },
    get duplicated() {
      return duplicated;
    },
    get lastMs() {
      return lastMs;
    },
    delaysMs: () => Float64Array.from(delays).sort(),
    add(arrived: Float64Array): void {
      for (let i = 0; i < arrived.length; i += 3) {
        const [index = 0, endpoint = 0, atMs = 0] = arrived.subarray(i, i + 3);
        if (leftOut.includes(endpoint)) continue;
        const delivery = endpoint * askedMs.length + index;
        if (seen.has(delivery)) {
          duplicated++;
          continue;
        }
        seen.add(delivery);
        delays.push(atMs - (askedMs[index] ?? 0));
        lastMs = Math.max(lastMs, atMs);
      }
    },
  };
}

function readCpu(): Record<CpuName, number> {
  const figures = figuresBelow(process.pid, nameOf);
  return Object.fromEntries(cpuNames.map((name) => [name, figures[name]?.cpuSeconds ?? 0])) as Record<CpuName, number>;
}

/** By the command line, in which a backend of PostgreSQL says which database it serves. */
function nameOf(command: string): string {
  const [, program] = /webhooks\/(producer|receivers)\.ts/.exec(command) ?? [];
  if (program) return program;
  if (command.includes("services/webhooks/")) return "webhooks";
  if (command.includes("kafka.Kafka")) return "Kafka";
  const [, database] = /^postgres: (?:\S+ )?amana_(\w+) /.exec(command) ?? [];
  if (database) return `PostgreSQL for ${database.replace("_owner", "")}`;
  return command.includes("postgres") ? "PostgreSQL itself" : "";
}

async function countCommits({ system }: Stage): Promise<Record<"payments" | "webhooks", number>> {
  const client = new pg.Client({ connectionString: system.databaseUrls["payments"] });
  await client.connect();
  const { rows } = await client.query<{ name: string; commits: string }>(
    "select replace(datname, 'amana_', '') as name, xact_commit as commits from pg_stat_database where datname like 'amana%'",
  );
  await client.end();
  const of = (database: string) => Number(rows.find(({ name }) => name === database)?.commits ?? 0);
  return { payments: of("payments"), webhooks: of("webhooks") };
}
