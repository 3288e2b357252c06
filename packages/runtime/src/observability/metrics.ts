import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { waitAtMost } from "../concurrency/time.ts";

/**
 * What a label can say: one of these words, or one of a kind that the code names and no caller can
 * add to. Nothing else may become a label: each value is a series that is kept for ever. No label
 * is called `job` or `service`, which Prometheus and what runs it have their own use for.
 */
export type LabelValues = readonly string[] | `the ${string}`;

interface MetricOptions<Label extends string> {
  /** amana_…, with its unit last and _total for a counter. */
  readonly name: string;
  /** What it means, for docs/metrics.md. */
  readonly help: string;
  readonly labels?: Readonly<Record<Label, LabelValues>>;
}

/** Seconds, from a read out of memory to a call that waits for the outside world. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Everything that this process shows; of its own, so that no library can add to it. */
export const registry = new Registry();
/** What the labels of our metrics can say. */
export const labelsOf = new Map<string, Readonly<Record<string, LabelValues>>>();

const configurationOf = <Label extends string>({ name, help, labels }: MetricOptions<Label>) => {
  labelsOf.set(name, labels ?? {});
  return { name, help, labelNames: Object.keys(labels ?? {}) as Label[], registers: [registry] };
};

/** Series whose labels are words begin at 0, so that their first increase is seen as one. */
export function counter<Label extends string = never>(options: MetricOptions<Label>): Counter<Label> {
  const made = new Counter<Label>(configurationOf(options));
  for (const labels of combinations(options.labels ?? {})) made.inc(labels as Record<Label, string>, 0);
  return made;
}

export function gauge<Label extends string = never>(options: MetricOptions<Label>): Gauge<Label> {
  const made = new Gauge<Label>(configurationOf(options));
  // What was not read is not 0.
  made.remove({});
  return made;
}

/** Of durations unless other buckets are given. */
export function histogram<Label extends string = never>({
  buckets = durationBuckets,
  ...options
}: MetricOptions<Label> & { readonly buckets?: readonly number[] }): Histogram<Label> {
  return new Histogram<Label>({ ...configurationOf(options), buckets: [...buckets] });
}

export const secondsSince = (startedMs: number): number => (performance.now() - startedMs) / 1000;

const readers = new Set<() => unknown>();
/** A reading that takes longer is left out of a scrape: it goes on, and counts for the next. */
const readingMsMax = 2_000;

/** Calls `read`, which sets gauges, before each scrape, until disposed. */
export function onScrape(read: () => unknown): Disposable {
  readers.add(read);
  return { [Symbol.dispose]: () => void readers.delete(read) };
}

let rendering: Promise<string> | undefined;

/** All metrics as Prometheus reads them. Whoever asks meanwhile gets the same text. */
export function renderMetrics(): Promise<string> {
  rendering ??= render().finally(() => {
    rendering = undefined;
  });
  return rendering;
}

async function render(): Promise<string> {
  const reading = [...readers].map((read) => waitAtMost(readingMsMax, Promise.resolve().then(read)).catch(() => {}));
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
