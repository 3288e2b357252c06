import { styleText } from "node:util";

type Cell = string | number | null | undefined;

/** One column of a table. A function alone is one whose texts are shown whole. */
export interface Column<Row> {
  readonly of: (row: Row) => Cell;
  /** Numbers and amounts. */
  readonly right?: boolean;
  /** Where the terminal is too narrow its texts are cut, to so many characters at least. */
  readonly min?: number;
  /** Where that is not enough it is left out; of several, first the one with the highest number. */
  readonly spare?: number;
}

export type Columns<Row> = Readonly<Record<string, Column<Row> | ((row: Row) => Cell)>>;

/** Rows for people, or with `json` for programs: then all of every row. */
export function printRows<Row extends object>(
  rows: readonly Row[],
  columns: Columns<Row>,
  { json, none }: { json?: boolean | undefined; none: string },
): void {
  if (json) print(jsonText(rows));
  else if (rows.length === 0) print(none);
  else {
    const table = tableOf(rows, columns);
    print(table.header);
    for (const row of rows) print(table.line(row));
  }
}

/** One line, or several, for people and programs that read standard output. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/**
 * A table as wide as the terminal, by what the first rows need: lines of later ones look alike.
 * Where output goes elsewhere nothing is cut and no colour is used.
 */
export function tableOf<Row>(rows: readonly Row[], columns: Columns<Row>): { header: string; line(row: Row): string } {
  const all = Object.entries(columns).map(([name, column]) => {
    const { of, ...rest } = typeof column === "function" ? { of: column } : column;
    const text = (row: Row) => printable(of(row));
    return { name, text, ...rest, width: Math.max(widthOf(name), ...rows.map((row) => widthOf(text(row)))) };
  });
  const room = terminalWidth();
  const shown = fitted(all, room);
  const lineOf = (cells: readonly string[]) =>
    cells
      .map((cell, i) => padded(cell, shown[i]?.width ?? 0, shown[i]?.right))
      .join("  ")
      .trimEnd();
  return {
    header: styled("bold", lineOf(shown.map(({ name }) => name))),
    line: (row) =>
      lineOf(
        shown.map(({ text, width, min }) =>
          min === undefined || room === Number.POSITIVE_INFINITY ? text(row) : cut(text(row), width),
        ),
      ),
  };
}

interface Fitting {
  width: number;
  readonly min?: number;
  readonly spare?: number;
}

function fitted<C extends Fitting>(columns: readonly C[], room: number): C[] {
  const least = ({ min, width }: C) => Math.min(width, min ?? width);
  const sum = (widths: readonly number[]) => widths.reduce((all, width) => all + width + 2, -2);
  const kept = [...columns];
  while (sum(kept.map(least)) > room) {
    const spare = kept.reduce((most, column) => ((column.spare ?? 0) > (most.spare ?? 0) ? column : most));
    if (!spare.spare) break;
    kept.splice(kept.indexOf(spare), 1);
  }
  for (;;) {
    const widest = kept.filter((column) => column.width > least(column)).sort((a, b) => b.width - a.width)[0];
    if (!widest || sum(kept.map(({ width }) => width)) <= room) return kept;
    widest.width -= 1;
  }
}

/** COLUMNS where there is no terminal to ask: for those who pipe into one. */
function terminalWidth(): number {
  const told = process.stdout.isTTY ? process.stdout.columns : Number(process.env["COLUMNS"]);
  return Number.isInteger(told) && told > 0 ? told : Number.POSITIVE_INFINITY;
}

/** Only on a terminal, and not where NO_COLOR asks for none. */
export const styled = (style: Parameters<typeof styleText>[0], text: string): string =>
  process.stdout.isTTY ? styleText(style, text, { stream: process.stdout }) : text;

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18dff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** In places of a terminal: marks take none, Chinese and the like two. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) if (!/\p{M}/u.test(character)) width += wide.test(character) ? 2 : 1;
  return width;
}

function padded(text: string, width: number, right = false): string {
  const room = " ".repeat(Math.max(0, width - widthOf(text)));
  return right ? room + text : text + room;
}

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  for (const character of text) {
    if (widthOf(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Names and values below each other; times as people read them, what is nested as JSON. */
export function printFields(fields: object): void {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  for (const [name, value] of entries) print(`${printable(name).padEnd(width)}  ${shownValue(name, value)}`);
}

function shownValue(name: string, value: unknown): string {
  if (typeof value === "string") return printable(/_at$|^at$|_until$/.test(name) ? localTime(value) : value);
  return typeof value === "object" ? jsonLine(value) : printable(String(value));
}

/** "2026-11-20 09:00:00 +01:00", by this machine's zone. */
export function localTime(iso: string | null | undefined, { ms = false } = {}): string {
  const time = new Date(iso ?? "");
  if (Number.isNaN(time.getTime())) return iso ?? "";
  const offset = -time.getTimezoneOffset();
  const local = new Date(time.getTime() + offset * 60_000).toISOString();
  const two = (value: number) => String(Math.trunc(Math.abs(value))).padStart(2, "0");
  const zone = `${offset < 0 ? "-" : "+"}${two(offset / 60)}:${two(offset % 60)}`;
  return `${local.slice(0, 10)} ${local.slice(11, ms ? 23 : 19)} ${zone}`;
}

/** Controls, and what turns the direction of a line or breaks it. */
const driving = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** More than any script writes on one letter: they would paint over the lines around. */
const heaped = /(\p{M}{4})\p{M}+/gu;

/** What others wrote must not drive the terminal. */
export const printable = (cell: Cell): string =>
  String(cell ?? "")
    .replaceAll(driving, "?")
    .replaceAll(heaped, "$1");

/** JSON that may be looked at in a terminal, too. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(driving, (text) => (text === "\n" ? text : escaped(text)));

/** The same in one line. */
export const jsonLine = (value: unknown): string => JSON.stringify(value).replaceAll(driving, escaped);

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
