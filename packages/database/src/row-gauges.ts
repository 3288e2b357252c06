import { allTenants, atMostEvery, forTenant, gauge, onScrape, withTimeout } from "@amana/runtime";
import type { Orm } from "./orm.ts";
import { preparedQuery } from "./prepared-query.ts";

type Labels = Record<string, string>;

/** A gauge of prom-client with any labels. */
interface AnyGauge {
  set(labels: Labels, value: number): void;
  remove(labels: Labels): void;
}

/**
 * Gauges that a statement reads from rows. A column that has the name of a gauge contains the
 * gauge's value. All other columns are labels. The statement must use an index and count at most
 * `rowsCountedMax` rows.
 */
interface RowGauges {
  readonly text: string;
  readonly values?: readonly unknown[];
  /**
   * Gauges by column. If the column of a row is null, no sample is exported for the labels of that
   * row.
   */
  readonly gauges: Readonly<Record<string, AnyGauge>>;
}

/** Maximum number of rows that a statement counts. */
export const rowsCountedMax = 10_000;

/** Minimum interval between reads, independent of the number of scrapes. */
const readEveryMs = 5_000;
const statementMsMax = 1_500;

const up = gauge({
  name: "amana_row_gauges_up",
  help: "1 when the gauges from the database were read for this scrape; 0 when the read failed, so that the gauges are absent",
});

/** All row gauges of a database. */
interface Collector {
  readonly readings: Set<RowGauges>;
  close(): void;
}
const collectors = new WeakMap<Orm, Collector>();

/**
 * Exports the gauges at each scrape, until disposed. The statements run one after another, at most
 * every five seconds.
 */
export function showRows(orm: Orm, ...rowGauges: readonly RowGauges[]): Disposable {
  const collector = collectors.get(orm) ?? createCollector(orm);
  collectors.set(orm, collector);
  for (const reading of rowGauges) collector.readings.add(reading);
  return {
    [Symbol.dispose]() {
      for (const reading of rowGauges) collector.readings.delete(reading);
      if (collector.readings.size > 0) return;
      collector.close();
      collectors.delete(orm);
    },
  };
}

function createCollector(orm: Orm): Collector {
  const readings = new Set<RowGauges>();
  const shownLabels = new Map<AnyGauge, Labels[]>();
  const hide = () => {
    for (const [gauge, rows] of shownLabels) for (const labels of rows) gauge.remove(labels);
    shownLabels.clear();
  };
  const readAll = atMostEvery(readEveryMs, async () => {
    const read: [RowGauges, Record<string, unknown>[]][] = [];
    for (const reading of readings) read.push([reading, await readRows(orm, reading)]);
    hide();
    for (const [{ gauges }, rows] of read) for (const row of rows) show(gauges, row, shownLabels);
  });
  const scrapeHook = onScrape(async () => {
    try {
      await withTimeout(statementMsMax, readAll());
      up.set(1);
    } catch {
      hide();
      up.set(0);
    }
  });
  return {
    readings,
    close() {
      scrapeHook[Symbol.dispose]();
      hide();
      up.remove({});
    },
  };
}

const readRows = ({ em }: Orm, { text, values = [] }: RowGauges) =>
  forTenant(allTenants, () => preparedQuery<Record<string, unknown>>(em, text, [...values], { timeoutMs: statementMsMax }));

function show(gauges: RowGauges["gauges"], row: Record<string, unknown>, shownLabels: Map<AnyGauge, Labels[]>): void {
  const labels = Object.fromEntries(Object.entries(row).filter(([name]) => !(name in gauges))) as Labels;
  for (const [name, gauge] of Object.entries(gauges)) {
    if (row[name] == null) continue;
    gauge.set(labels, Number(row[name]));
    shownLabels.set(gauge, [...(shownLabels.get(gauge) ?? []), labels]);
  }
}
