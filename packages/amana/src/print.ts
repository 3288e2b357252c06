type Cell = string | number | null | undefined;

/** Rows for people, or with `json` for programs: then all of every row. */
export function printRows<Row extends object>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => Cell>>,
  { json, none }: { json?: boolean | undefined; none: string },
): void {
  if (json) {
    process.stdout.write(`${jsonText(rows)}\n`);
    return;
  }
  if (rows.length === 0) {
    process.stdout.write(`${none}\n`);
    return;
  }
  const names = Object.keys(columns);
  const lines = [names, ...rows.map((row) => names.map((name) => printable(columns[name]?.(row))))];
  const widths = names.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  for (const line of lines) {
    process.stdout.write(
      `${line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd()}\n`,
    );
  }
}

/** Controls, and what turns the direction of a line or breaks it. */
const driving = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** What others wrote must not drive the terminal. */
export const printable = (cell: Cell): string => String(cell ?? "").replaceAll(driving, "?");

/** JSON that may be looked at in a terminal, too. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(driving, (text) => (text === "\n" ? text : escaped(text)));

const escaped = (text: string): string =>
  Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");

/** "3 d", "2 h", "5 min", "40 s" */
export function ageOf(since: string, nowMs = Date.now()): string {
  const seconds = Math.max(0, Math.round((nowMs - new Date(since).getTime()) / 1000));
  for (const [unit, length] of [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
  ] as const) {
    if (seconds >= 2 * length) return `${Math.floor(seconds / length)} ${unit}`;
  }
  return `${seconds} s`;
}
