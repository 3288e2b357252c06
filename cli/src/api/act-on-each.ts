import { exitCodes } from "../command-error.ts";
import { type Columns, printRows } from "../print.ts";
import { rejectionText } from "./error-text.ts";

export interface ActionResult {
  readonly id: string;
  readonly outcome: string;
  readonly service?: string;
}

/**
 * Runs an action on each id in order and prints the outcomes. Continues with the next id if the API
 * rejects an action. If an action gets no response, prints the outcomes so far and stops.
 *
 * @param successOutcome Outcome of a successful action. With any other outcome the exit code is 1.
 */
export async function actOnEach(
  ids: readonly string[],
  act: (id: string) => Promise<Omit<ActionResult, "id">>,
  { successOutcome, ...format }: { successOutcome: string } & Parameters<typeof printOutcomes>[1],
): Promise<void> {
  const rows: ActionResult[] = [];
  try {
    for (const id of ids) rows.push({ id, ...(await act(id).catch((error) => ({ outcome: rejectionText(error) }))) });
  } catch (error) {
    if (rows.length > 0) printOutcomes(rows, format);
    throw error;
  }
  printOutcomes(rows, format);
  if (rows.some(({ outcome }) => outcome !== successOutcome)) process.exitCode = exitCodes.failed;
}

/** Prints the results. The table has the column SERVICE if any result has a service. */
export function printOutcomes(
  rows: readonly ActionResult[],
  format: { readonly emptyText?: string; readonly json?: boolean },
): void {
  const columns: Columns<ActionResult> = {
    ID: ({ id }) => id,
    ...(rows.some(({ service }) => service) && { SERVICE: ({ service }: ActionResult) => service }),
    OUTCOME: ({ outcome }) => outcome,
  };
  printRows(rows, columns, format);
}
