/** Prints rows with equal keys as a Markdown table. Numbers are right-aligned. */
export function printTable(rows: readonly Readonly<Record<string, string | number>>[]): void {
  const [firstRow] = rows;
  if (!firstRow) return;
  const names = Object.keys(firstRow);
  const format = (value: string | number | undefined) => String(value ?? "");
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => format(row[name]).length)));
  const formatRow = (cells: readonly (string | number | undefined)[]) =>
    `| ${cells
      .map((cell, i) => (typeof cell === "number" ? format(cell).padStart(widths[i] ?? 0) : format(cell).padEnd(widths[i] ?? 0)))
      .join(" | ")} |`;
  const lines = [
    formatRow(names),
    formatRow(widths.map((width) => "-".repeat(width))),
    ...rows.map((row) => formatRow(names.map((name) => row[name]))),
  ];
  process.stdout.write(`\n${lines.join("\n")}\n`);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** Writes a line of progress to stderr, so that stdout contains only the tables. */
export function log(text: string): void {
  process.stderr.write(`${text}\n`);
}
