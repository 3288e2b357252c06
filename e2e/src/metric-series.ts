/**
 * A series in the metrics text. A histogram has several series, whose names end in _bucket, _sum
 * and _count.
 */
export interface MetricSeries {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Parses the Prometheus text format. Returns only the series with these names (default: all). */
export const parseSeries = (text: string, names?: ReadonlySet<string>): MetricSeries[] =>
  text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#") && (names?.has(line.split(/[{ ]/, 1)[0] ?? "") ?? true))
    .map((line) => {
      const [, name = "", inner = "", value = ""] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const labels = [...inner.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = "", labelValue = ""]) => [label, labelValue]);
      return { name, labels: Object.fromEntries(labels), value: Number(value) };
    });
