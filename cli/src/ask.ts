import { createInterface } from "node:readline/promises";
import { printable } from "./print.ts";
import { exitCodes, Refused } from "./refused.ts";

/** Says what will happen and waits for a yes. Throws Refused without one: nothing is done. */
export async function confirm(question: string, { yes }: { readonly yes?: boolean }): Promise<void> {
  if (yes) return;
  // It may name what others have named.
  const what = printable(question);
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new Refused(`${what}\nNothing was done: nobody is here to be asked. Say --yes to have it done.`, exitCodes.usage);
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const given = new AbortController();
  reader.once("SIGINT", () => given.abort());
  reader.once("close", () => given.abort());
  const answer = await reader.question(`${what} [y/N] `, { signal: given.signal }).catch(() => "");
  reader.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Refused("Nothing was done.");
}
