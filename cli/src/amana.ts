/** The command `amana`. What it can do is one file for each noun in `commands/`. */
import { CommanderError } from "commander";
import { printable } from "./print.ts";
import { createProgram } from "./program.ts";
import { exitCodes, Refused } from "./refused.ts";

// Who reads no further, such as head, has seen enough.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });

// What runs scripts may put one before the words. A later one ends the options, as everywhere.
const words = process.argv.filter((word, i) => i !== 2 || word !== "--");
try {
  await (await createProgram(words[2])).parseAsync(words);
} catch (error) {
  process.exitCode = await codeOf(error);
}

/** Says why, unless commander has. */
async function codeOf(error: unknown): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  if (error instanceof Refused) return told(error, error.exitCode);
  const [{ DomainError }, { StartRefused }] = await Promise.all([import("@amana/rpc"), import("@amana/runtime")]);
  if (error instanceof DomainError || error instanceof StartRefused) return told(error, exitCodes.refused);
  throw error;
}

function told({ message }: Error, exitCode: number): number {
  // It may say what others have said.
  process.stderr.write(`${message.split("\n").map(printable).join("\n")}\n`);
  return exitCode;
}
