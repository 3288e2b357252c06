import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { waitAtMost } from "../concurrency/time.ts";

/**
 * Values of a label: a list of words, or a description of a set that the code defines and callers
 * cannot extend. Other values must not become labels, because Prometheus keeps a time series for
 * each value. The label names `job` and `service` are reserved by Prometheus and its deployment.
 */
type LabelValues = readonly string[] | `the ${string}`;

interface MetricOptions<Label extends string> {
  /** Name in the form amana_…, with the unit at its end, or _total for a counter. */
  readonly name: string;
  /** Description, also for docs/metrics.md. */
  readonly help: string;
  readonly labels?: Readonly<Record<Label, LabelValues>>;
}

/** Bucket limits in seconds, for reads from memory up to calls of external systems. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * All metrics of this process. Libraries add metrics only to prom-client's default registry, not to
 * this registry.
 */
export const registry = new Registry();
/** Label values of each metric, by metric name. */
export const labelsOf = new Map<string, Readonly<Record<string, LabelValues>>>();

const configurationOf = <Label extends string>({ name, help, labels }: MetricOptions<Label>) => {
  labelsOf.set(name, labels ?? {});
  return { name, help, labelNames: Object.keys(labels ?? {}) as Label[], registers: [registry] };
};

/**
 * Creates a counter. A counter whose labels are lists of words has all series from the start, with
 * the value 0, so that Prometheus can compute the first increase.
 */
export function counter<Label extends string = never>(options: MetricOptions<Label>): Counter<Label> {
  const metric = new Counter<Label>(configurationOf(options));
  for (const labels of combinations(options.labels ?? {})) metric.inc(labels as Record<Label, string>, 0);
  return metric;
}

/** Creates a gauge, which is absent until it is set. */
export function gauge<Label extends string = never>(options: MetricOptions<Label>): Gauge<Label> {
  const metric = new Gauge<Label>(configurationOf(options));
  // prom-client starts a gauge without labels at 0.
  metric.remove({});
  return metric;
}

/** Creates a histogram. Default buckets: durations in seconds. */
export function histogram<Label extends string = never>({
  buckets = durationBuckets,
  ...options
}: MetricOptions<Label> & { readonly buckets?: readonly number[] }): Histogram<Label> {
  return new Histogram<Label>({ ...configurationOf(options), buckets: [...buckets] });
}

export const secondsSince = (startedMs: number): number => (performance.now() - startedMs) / 1000;

const readers = new Set<() => unknown>();
/**
 * Maximum time for which a scrape waits for a read. A slower read sets its gauges for the next
 * scrape.
 */
const readTimeoutMs = 2_000;

/** Calls `read`, which sets gauges, before each scrape, until disposed. */
export function onScrape(read: () => unknown): Disposable {
  readers.add(read);
  return { [Symbol.dispose]: () => void readers.delete(read) };
}

let rendering: Promise<string> | undefined;

/** Returns all metrics in the text format of Prometheus. Concurrent calls share the result. */
export function renderMetrics(): Promise<string> {
  rendering ??= render().finally(() => {
    rendering = undefined;
  });
  return rendering;
}

async function render(): Promise<string> {
  const reading = [...readers].map((read) => waitAtMost(readTimeoutMs, Promise.resolve().then(read)).catch(() => {}));
  await Promise.all(reading);
  return await registry.metrics();
}

function combinations(labels: Readonly<Record<string, LabelValues>>): Record<string, string>[] {
  let rows: Record<string, string>[] = [{}];
  for (const [name, values] of Object.entries(labels)) {
    if (typeof values === "string") return [];
    rows = rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value })));
  }
  return rows;
}
