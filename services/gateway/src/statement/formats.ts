import type { StatementLine } from "@amana/contracts/payments/v1/statement_service_pb";
import { formatMoney, renderStatementLine, StatementLineJson } from "@amana/public-api";
import { prefersType } from "../prefers-type.ts";

/** Output format of a statement. */
export interface StatementFormat {
  readonly contentType: string;
  /** Text before the first line. */
  readonly header: string;
  /** Returns the text of a line with its running total. */
  readonly renderLine: (line: StatementLine, runningTotalMinor: bigint) => string;
}

const render = (line: StatementLine, runningTotalMinor: bigint) =>
  Object.assign(renderStatementLine(line), { running_total: formatMoney(runningTotalMinor, line.currency) });

/** JSON lines: a JSON object in each line. */
export const jsonLines: StatementFormat = {
  contentType: "application/x-ndjson",
  header: "",
  renderLine: (line, runningTotalMinor) => `${JSON.stringify(render(line, runningTotalMinor))}\n`,
};

const columns = Object.keys(StatementLineJson.properties);
const numericColumns = ["amount", "running_total"];

/** CSV (RFC 4180) with a header. An absent value is an empty cell. */
export const csv: StatementFormat = {
  contentType: "text/csv; charset=utf-8; header=present",
  header: `${columns.join()}\r\n`,
  renderLine(line, runningTotalMinor) {
    const values: Readonly<Record<string, string | undefined>> = render(line, runningTotalMinor);
    const cells = columns.map((column) => {
      const value = values[column] ?? "";
      return quote(numericColumns.includes(column) ? value : escapeFormula(value));
    });
    return `${cells.join()}\r\n`;
  },
};

/** Adds an apostrophe before a text that a spreadsheet would execute as a formula. */
const escapeFormula = (text: string) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

const quote = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Returns CSV if the Accept header prefers CSV. Otherwise returns JSON lines. */
export const statementFormatOf = (accept: string | undefined): StatementFormat =>
  prefersType(accept, "text/csv", "application/x-ndjson") ? csv : jsonLines;
