/** The program `amana`. Each command group has a file in a folder `commands/`. */
import { CommanderError } from "commander";
import { CommandError, exitCodes } from "./command-error.ts";
import { printable } from "./print.ts";
import { createProgram } from "./program.ts";

// A program that reads the output, such as `head`, may close the pipe early (EPIPE). The command
// then exits without an error.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });

// Removes the "--" that script runners such as pnpm may pass as the first argument. Keeps any later
// "--", which ends the options.
const args = process.argv.filter((arg, i) => i !== 2 || arg !== "--");
try {
  await (await createProgram(args[2])).parseAsync(args);
} catch (error) {
  process.exitCode = await reportError(error);
}

/** Returns the exit code of an error. Prints the error if commander has not printed it. */
async function reportError(error: unknown): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  if (error instanceof CommandError) return printError(error, error.exitCode);
  const [{ DomainError }, { StartupError }] = await Promise.all([import("@amana/rpc"), import("@amana/runtime")]);
  if (error instanceof DomainError || error instanceof StartupError) return printError(error, exitCodes.failed);
  throw error;
}

function printError({ message }: Error, exitCode: number): number {
  // The message may contain text from the API or a database, with control characters.
  process.stderr.write(`${message.split("\n").map(printable).join("\n")}\n`);
  return exitCode;
}
