import { styleText } from "node:util";

type Cell = string | number | null | undefined;

/** A column of a table. In `Columns`, a plain function defines a column that is never shortened. */
export interface Column<Row> {
  readonly cellOf: (row: Row) => Cell;
  /** Aligns numbers and amounts to the right. */
  readonly alignRight?: boolean;
  /** Smallest width, in characters, to which the column is shortened on a narrow terminal. */
  readonly minWidth?: number;
  /** On a narrow terminal, the column with the highest number is omitted first. */
  readonly omitOrder?: number;
}

export type Columns<Row> = Readonly<Record<string, Column<Row> | ((row: Row) => Cell)>>;

/** Prints rows as a table. With `json`, prints one JSON document with all fields of each row. */
export function printRows<Row extends object>(
  rows: readonly Row[],
  columns: Columns<Row>,
  { json, emptyText = "" }: { json?: boolean; emptyText?: string },
): void {
  if (json) print(jsonText(rows));
  else if (rows.length === 0) print(emptyText);
  else {
    const table = tableOf(rows, columns);
    print(table.header);
    for (const row of rows) print(table.line(row));
  }
}

/** Writes a text and a line feed to standard output. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/**
 * Returns a table that fits the terminal. `rows` determine the column widths, also for lines that
 * are created from other rows later. Without a terminal, texts are complete and have no colors.
 */
export function tableOf<Row>(rows: readonly Row[], columns: Columns<Row>): { header: string; line(row: Row): string } {
  const allColumns = Object.entries(columns).map(([name, column]) => {
    const { cellOf, ...rest } = typeof column === "function" ? { cellOf: column } : column;
    const text = (row: Row) => printable(cellOf(row));
    return { name, text, ...rest, width: Math.max(widthOf(name), ...rows.map((row) => widthOf(text(row)))) };
  });
  const maxWidth = terminalWidth();
  const shownColumns = fitColumns(allColumns, maxWidth);
  const lineOf = (cells: readonly string[]) =>
    cells
      .map((cell, i) => pad(cell, shownColumns[i]?.width ?? 0, shownColumns[i]?.alignRight))
      .join("  ")
      .trimEnd();
  return {
    header: styled("bold", lineOf(shownColumns.map(({ name }) => name))),
    line: (row) =>
      lineOf(
        shownColumns.map(({ text, width, minWidth }) =>
          minWidth === undefined || maxWidth === Number.POSITIVE_INFINITY ? text(row) : shorten(text(row), width),
        ),
      ),
  };
}

interface Fitting {
  width: number;
  readonly minWidth?: number;
  readonly omitOrder?: number;
}

function fitColumns<C extends Fitting>(columns: readonly C[], maxWidth: number): C[] {
  const minWidthOf = ({ minWidth, width }: C) => Math.min(width, minWidth ?? width);
  const sum = (widths: readonly number[]) => widths.reduce((total, width) => total + width + 2, -2);
  const fitting = [...columns];
  while (sum(fitting.map(minWidthOf)) > maxWidth) {
    const omitted = fitting.reduce((first, column) => ((column.omitOrder ?? 0) > (first.omitOrder ?? 0) ? column : first));
    if (!omitted.omitOrder) break;
    fitting.splice(fitting.indexOf(omitted), 1);
  }
  for (;;) {
    const widest = fitting.filter((column) => column.width > minWidthOf(column)).sort((a, b) => b.width - a.width)[0];
    if (!widest || sum(fitting.map(({ width }) => width)) <= maxWidth) return fitting;
    widest.width -= 1;
  }
}

/** Returns the terminal's width. If the output is no terminal, returns the variable COLUMNS. */
function terminalWidth(): number {
  const width = process.stdout.isTTY ? process.stdout.columns : Number(process.env["COLUMNS"]);
  return Number.isInteger(width) && width > 0 ? width : Number.POSITIVE_INFINITY;
}

/** Applies a style on a terminal, unless NO_COLOR is set. */
export const styled = (style: Parameters<typeof styleText>[0], text: string): string =>
  process.stdout.isTTY ? styleText(style, text, { stream: process.stdout }) : text;

const wideCharacter =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18dff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/**
 * Returns the width in terminal cells. Combining marks have the width 0, East Asian wide characters
 * the width 2.
 */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) if (!/\p{M}/u.test(character)) width += wideCharacter.test(character) ? 2 : 1;
  return width;
}

function pad(text: string, width: number, alignRight = false): string {
  const spaces = " ".repeat(Math.max(0, width - widthOf(text)));
  return alignRight ? spaces + text : text + spaces;
}

function shorten(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let keptText = "";
  for (const character of text) {
    if (widthOf(keptText + character) > width - 1) break;
    keptText += character;
  }
  return `${keptText}…`;
}

/** Prints a line for each field, with local times, and nested values as JSON. */
export function printFields(fields: object): void {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  for (const [name, value] of entries) print(`${printable(name).padEnd(width)}  ${formatValue(name, value)}`);
}

function formatValue(name: string, value: unknown): string {
  if (typeof value === "string") return printable(/_at$|^at$|_until$/.test(name) ? localTime(value) : value);
  return typeof value === "object" ? jsonLine(value) : printable(String(value));
}

/** Formats a time in the time zone of this machine: "2026-11-20 09:00:00 +01:00". */
export function localTime(iso: string | null | undefined, { ms = false } = {}): string {
  const time = new Date(iso ?? "");
  if (Number.isNaN(time.getTime())) return iso ?? "";
  const offset = -time.getTimezoneOffset();
  const local = new Date(time.getTime() + offset * 60_000).toISOString();
  const twoDigits = (value: number) => String(Math.trunc(Math.abs(value))).padStart(2, "0");
  const zone = `${offset < 0 ? "-" : "+"}${twoDigits(offset / 60)}:${twoDigits(offset % 60)}`;
  return `${local.slice(0, 10)} ${local.slice(11, ms ? 23 : 19)} ${zone}`;
}

/** Control characters, bidirectional overrides and line separators. */
const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Matches more than four combining marks on a letter, which would overwrite neighbouring lines. */
const excessMarks = /(\p{M}{4})\p{M}+/gu;

/** Replaces characters that could control the terminal. Must be applied to all external texts. */
export const printable = (cell: Cell): string =>
  String(cell ?? "")
    .replaceAll(controls, "?")
    .replaceAll(excessMarks, "$1");

/** Returns indented JSON that is safe to print on a terminal. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(controls, (text) => (text === "\n" ? text : escapeCharacters(text)));

/** Returns JSON in one line that is safe to print on a terminal. */
export const jsonLine = (value: unknown): string => JSON.stringify(value).replaceAll(controls, escapeCharacters);

const escapeCharacters = (text: string): string =>
  Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");

/** Formats the time since `since` as "3 d", "2 h", "5 min" or "40 s". */
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
