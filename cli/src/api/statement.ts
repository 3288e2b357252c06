import { once } from "node:events";
import { ConnectionError, ProblemError, problemOf } from "@amana/client";
import { CommandError, exitCodes } from "../command-error.ts";
import { type Columns, localTime, print, tableOf } from "../print.ts";
import type { Api, ApiOptions } from "./connect.ts";

interface Line {
  readonly at: string;
  readonly type: string;
  readonly payment_id: string;
  readonly order_ref?: string;
  readonly amount: string;
  readonly running_total: string;
  readonly currency: string;
  readonly origin?: string;
}

const columns: Columns<Line> = {
  AT: ({ at }) => localTime(at),
  TYPE: { cellOf: ({ type }) => type, minWidth: 8 },
  AMOUNT: { cellOf: ({ amount }) => amount.padStart(12), alignRight: true },
  TOTAL: { cellOf: ({ running_total }) => running_total.padStart(15), alignRight: true, omitOrder: 1 },
  CURRENCY: { cellOf: ({ currency }) => currency, omitOrder: 2 },
  ORDER: { cellOf: ({ order_ref }) => order_ref?.padEnd(20), omitOrder: 3 },
  ORIGIN: { cellOf: ({ origin }) => origin, omitOrder: 4 },
  PAYMENT: ({ payment_id }) => payment_id,
};

export interface StatementOptions extends ApiOptions {
  readonly from: string;
  readonly to?: string;
  readonly csv?: boolean;
}

/**
 * Prints a statement while the response arrives. Prints a table, or the unchanged response if
 * `json` or `csv` is set.
 * Throws CommandError if the connection closes before the end of the statement.
 */
export async function printStatement(api: Api, { from, to, csv, json, timeout }: StatementOptions): Promise<void> {
  if (csv && json) throw new CommandError("Use --csv or --json, not both.", exitCodes.usage);
  const query = new URLSearchParams({ from, to: to ?? new Date().toISOString() });
  const response = await open(api, `/api/v1/payments/statement?${query}`, { csv, timeout });
  try {
    if (csv || json) await copy(response);
    else await printTable(response);
  } catch (error) {
    if (api.stopSignal.aborted) throw error;
    throw new CommandError(
      "The connection closed before the end of the statement, so the output is incomplete. Run the command again.",
      exitCodes.unreachable,
    );
  }
  const until = response.headers.get("x-statement-until");
  process.stderr.write(`The statement ends at ${until}. Use this time as --from of the next statement.\n`);
}

/** Sends the request. The timeout applies only until the response headers arrive. */
async function open(
  { url, authorization, stopSignal }: Api,
  path: string,
  { csv, timeout }: { csv: boolean | undefined; timeout: number },
): Promise<Response> {
  const noChange = { outcomeUnknown: false, idempotencyKey: undefined };
  const timeLimit = new AbortController();
  const timer = setTimeout(() => timeLimit.abort(), timeout * 1000);
  try {
    const response = await fetch(url + path, {
      headers: { authorization, accept: csv ? "text/csv" : "application/x-ndjson" },
      signal: AbortSignal.any([stopSignal, timeLimit.signal]),
      redirect: "manual",
    });
    if (response.status === 200) return response;
    throw new ProblemError(problemOf(response.status, response.headers, await response.text()), noChange);
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    const reason = timeLimit.signal.aborted ? "the time limit has passed" : (error as Error).message;
    throw new ConnectionError(`No response: ${reason}`, noChange, error);
  } finally {
    clearTimeout(timer);
  }
}

async function copy({ body }: Response): Promise<void> {
  for await (const chunk of body ?? []) {
    if (!process.stdout.write(chunk)) await once(process.stdout, "drain");
  }
}

async function printTable({ body }: Response): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  let table: ReturnType<typeof tableOf<Line>> | undefined;
  for await (const chunk of body ?? []) {
    const texts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = texts.pop() ?? "";
    const lines = texts.map((text) => JSON.parse(text) as Line);
    if (!table && lines.length > 0) {
      table = tableOf(lines, columns);
      print(table.header);
    }
    for (const line of lines) print(table?.line(line) ?? "");
    if (process.stdout.writableNeedDrain) await once(process.stdout, "drain");
  }
  if (!table) print("No payments, refunds or reversals found.");
}
