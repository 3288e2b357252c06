import { exitCodes } from "../command-error.ts";
import { type Columns, printRows } from "../print.ts";
import { rejectionText } from "./error-text.ts";

/** Result of an action on one id. */
interface ActionResult {
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
  { successOutcome, emptyText, json }: { successOutcome: string; emptyText: string; json?: boolean | undefined },
): Promise<void> {
  const rows: ActionResult[] = [];
  const printOutcomes = () => printRows(rows, columnsOf(rows), { json, emptyText });
  try {
    for (const id of ids) rows.push({ id, ...(await act(id).catch((error) => ({ outcome: rejectionText(error) }))) });
  } catch (error) {
    if (rows.length > 0) printOutcomes();
    throw error;
  }
  printOutcomes();
  if (rows.some(({ outcome }) => outcome !== successOutcome)) process.exitCode = exitCodes.failed;
}

const columnsOf = (rows: readonly ActionResult[]): Columns<ActionResult> => ({
  ID: ({ id }) => id,
  ...(rows.some(({ service }) => service) && { SERVICE: ({ service }: ActionResult) => service }),
  OUTCOME: ({ outcome }) => outcome,
});
