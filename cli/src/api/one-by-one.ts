import { type Columns, printRows } from "../print.ts";
import { exitCodes } from "../refused.ts";
import { refusalOf } from "./in-words.ts";

/** What came of one of several. */
export interface ActionResult {
  readonly id: string;
  readonly outcome: string;
  readonly service?: string;
}

/**
 * Does the same with each id, one after the other, and shows what came of each. A refusal stops
 * none of the others; a call without an answer does, and what came before it is shown all the same.
 *
 * @param done The outcome without which the command ends as refused.
 */
export async function oneByOne(
  ids: readonly string[],
  act: (id: string) => Promise<Omit<ActionResult, "id">>,
  { done, none, json }: { done: string; none: string; json?: boolean | undefined },
): Promise<void> {
  const rows: ActionResult[] = [];
  const show = () => printRows(rows, columnsOf(rows), { json, none });
  try {
    for (const id of ids) rows.push({ id, ...(await act(id).catch((error) => ({ outcome: refusalOf(error) }))) });
  } catch (error) {
    if (rows.length > 0) show();
    throw error;
  }
  show();
  if (rows.some(({ outcome }) => outcome !== done)) process.exitCode = exitCodes.refused;
}

const columnsOf = (rows: readonly ActionResult[]): Columns<ActionResult> => ({
  ID: ({ id }) => id,
  ...(rows.some(({ service }) => service) && { SERVICE: ({ service }: ActionResult) => service }),
  OUTCOME: ({ outcome }) => outcome,
});
