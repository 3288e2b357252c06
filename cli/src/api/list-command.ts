import type { List } from "@amana/client";
import type { Command } from "commander";
import { wholeNumberParser } from "../parsers.ts";
import { type Columns, jsonLine, print, printRows, tableOf } from "../print.ts";
import { apiCommand, type CommandInfo } from "./api-command.ts";
import type { Api, ApiOptions } from "./connect.ts";

export interface ListOptions extends ApiOptions {
  readonly limit: number;
  readonly all?: boolean;
}

const pageMax = 100;

export const withListOptions = (command: Command): Command =>
  command
    .option("--limit <count>", "maximum number of rows", wholeNumberParser(1, 10_000), 50)
    .option("--all", "print all rows; with --json one JSON document on each line");

interface ListFormat<Row> {
  readonly columns: Columns<Row>;
  /** Text that is printed when the list is empty. */
  readonly emptyText: string;
}

interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Adds a command that prints a list of the API. `openList` requests the list from `page` on. */
export function listCommand<Row extends { readonly id: string }, Filters extends object = object>(
  group: Command,
  usage: string,
  { columns, emptyText, ...info }: CommandInfo<ListOptions & Filters> & ListFormat<Row>,
  openList: (api: Api, page: Page, filters: Filters) => List<Row>,
): Command {
  return withListOptions(
    apiCommand<ListOptions & Filters>(group, usage, info, (api, options) =>
      showList(api, options, { columns, emptyText }, (page) => openList(api, page, options)),
    ),
  );
}

/**
 * Prints a list page by page. Rows that are created between two page requests shift the later
 * pages. Therefore the function skips rows that were on the previous page.
 */
export async function showList<Row extends { readonly id: string }>(
  api: Api,
  { json, limit, all }: ListOptions,
  { columns, emptyText }: ListFormat<Row>,
  openList: (page: Page) => List<Row>,
): Promise<void> {
  const collected: Row[] = [];
  let previousIds = new Set<string>();
  let table: ReturnType<typeof tableOf<Row>> | undefined;
  let total = 0;
  let isLast = false;
  for (let offset = 0; ; ) {
    const size = all ? pageMax : Math.min(pageMax, limit - collected.length);
    const page = await openList({ limit: size, offset }).page();
    const rows = page.items.filter(({ id }) => !previousIds.has(id));
    previousIds = new Set(page.items.map(({ id }) => id));
    offset += page.items.length;
    ({ total, isLast } = page);
    if (!all) collected.push(...rows);
    else if (json) for (const row of rows) print(jsonLine(row));
    else if (rows.length > 0) {
      if (!table) {
        table = tableOf(rows, columns);
        print(table.header);
      }
      for (const row of rows) print(table.line(row));
    }
    if (process.stdout.writableNeedDrain) await new Promise((resolve) => process.stdout.once("drain", resolve));
    if (isLast || page.items.length === 0 || (!all && collected.length >= limit) || api.stopSignal.aborted) break;
  }
  if (all && (table || json)) return;
  printRows(collected, columns, { json, emptyText });
  if (json || isLast || collected.length === 0) return;
  // The API counts no further than 1 000 rows.
  const count = total < 1_000 ? total : `at least ${total}`;
  process.stderr.write(`${collected.length} of ${count} rows. Use --limit or --all for more.\n`);
}
