import { createInterface } from "node:readline/promises";
import { CommandError, exitCodes } from "./command-error.ts";
import { printable } from "./print.ts";

/**
 * Requests a confirmation on the terminal. Throws CommandError if no terminal exists, or if the
 * user types anything except "y" or "yes".
 */
export async function confirm(question: string, { yes }: { readonly yes?: boolean }): Promise<void> {
  if (yes) return;
  // The question may contain names from the API, with control characters.
  const text = printable(question);
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new CommandError(
      `${text}\nNothing was changed, because there is no terminal for the confirmation. Use --yes to confirm.`,
      exitCodes.usage,
    );
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const terminalClosed = new AbortController();
  reader.once("SIGINT", () => terminalClosed.abort());
  reader.once("close", () => terminalClosed.abort());
  const response = await reader.question(`${text} [y/N] `, { signal: terminalClosed.signal }).catch(() => "");
  reader.close();
  if (!/^y(es)?$/i.test(response.trim())) throw new CommandError("Nothing was done.");
}
