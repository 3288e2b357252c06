import { allTenants, atMostEvery, forTenant, gauge, onScrape, withTimeout } from "@amana/runtime";
import { namedQuery } from "./named-query.ts";
import type { Orm } from "./orm.ts";

type Labels = Record<string, string>;

/** A gauge of prom-client, of any labels. */
interface Shown {
  set(labels: Labels, value: number): void;
  remove(labels: Labels): void;
}

/**
 * What a statement tells of rows. Its columns are the gauges', each by the name it has here, and
 * all others are labels. It walks an index and looks at no more rows than `rowsCountedMax`.
 */
export interface RowGauges {
  /** Unique in the database's connections: it is prepared under this name. */
  readonly name: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Null in a column: the gauge has no value with these labels. */
  readonly gauges: Readonly<Record<string, Shown>>;
}

/** Counts of rows stop here. */
export const rowsCountedMax = 10_000;

/** However often somebody scrapes, and however many do. */
const readEveryMs = 5_000;
const statementMsMax = 1_500;

const up = gauge({
  name: "amana_row_gauges_up",
  help: "1 when the gauges that are read from the database were read for this scrape, else 0, and they are absent",
});

interface Shelf {
  readonly readings: Set<RowGauges>;
  close(): void;
}
const shelves = new WeakMap<Orm, Shelf>();

/** Reads these for scrapes, one statement after the other, until disposed. */
export function showRows(orm: Orm, ...shown: readonly RowGauges[]): Disposable {
  const shelf = shelves.get(orm) ?? createShelf(orm);
  shelves.set(orm, shelf);
  for (const reading of shown) shelf.readings.add(reading);
  return {
    [Symbol.dispose]() {
      for (const reading of shown) shelf.readings.delete(reading);
      if (shelf.readings.size > 0) return;
      shelf.close();
      shelves.delete(orm);
    },
  };
}

function createShelf(orm: Orm): Shelf {
  const readings = new Set<RowGauges>();
  const shown = new Map<Shown, Labels[]>();
  const hide = () => {
    for (const [one, rows] of shown) for (const labels of rows) one.remove(labels);
    shown.clear();
  };
  const readAll = atMostEvery(readEveryMs, async () => {
    const read: [RowGauges, Record<string, unknown>[]][] = [];
    for (const reading of readings) read.push([reading, await readRows(orm, reading)]);
    hide();
    for (const [{ gauges }, rows] of read) for (const row of rows) show(gauges, row, shown);
  });
  const scrape = onScrape(async () => {
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
      scrape[Symbol.dispose]();
      hide();
      up.remove({});
    },
  };
}

const readRows = ({ em }: Orm, { name, text, values = [] }: RowGauges) =>
  forTenant(allTenants, () => namedQuery<Record<string, unknown>>(em, name, text, [...values], { answerMsMax: statementMsMax }));

function show(gauges: RowGauges["gauges"], row: Record<string, unknown>, shown: Map<Shown, Labels[]>): void {
  const labels = Object.fromEntries(Object.entries(row).filter(([name]) => !(name in gauges))) as Labels;
  for (const [name, gauge] of Object.entries(gauges)) {
    if (row[name] == null) continue;
    gauge.set(labels, Number(row[name]));
    shown.set(gauge, [...(shown.get(gauge) ?? []), labels]);
  }
}
