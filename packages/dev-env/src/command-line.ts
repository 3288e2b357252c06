import { StartupError } from "@amana/runtime";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { DevEnvError } from "./dev-env-error.ts";

export { InvalidArgumentError };

/** Exit codes of the commands. */
export const exitCodes = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** Creates a command of the project: `npx --yes pnpm@12 <name>`. */
export function createCommand(name: string, description: string): Command {
  const call = `npx --yes pnpm@12 ${name}`;
  return new Command(call)
    .description(description)
    .helpOption("-h, --help", "show this text")
    .showHelpAfterError(`See: ${call} --help`)
    .exitOverride();
}

/**
 * Runs the command with the arguments that follow the script's name. After wrong usage, sets exit
 * code 2. After a DevEnvError or StartupError, prints the message without a stack trace and sets
 * exit code 1. Throws any other error, because it is a defect.
 */
export async function runCommandLine(command: Command): Promise<void> {
  // A write to a closed terminal or pipe must not end the system or its graceful shutdown.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", ignoreClosedStream);
  try {
    // pnpm passes the "--" that npm users write before the options.
    await command.parseAsync(
      process.argv.slice(2).filter((arg) => arg !== "--"),
      { from: "user" },
    );
  } catch (error) {
    // Prints the help, because it lists the missing argument.
    if (error instanceof CommanderError && error.code === "commander.missingArgument") command.outputHelp({ error: true });
    process.exitCode = reportError(error);
  }
}

function reportError(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  if (!(error instanceof DevEnvError || error instanceof StartupError)) throw error;
  process.stderr.write(`\n✗ ${error.message}\n`);
  return exitCodes.failed;
}

function ignoreClosedStream(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
}

/**
 * Returns a signal that aborts when the user ends the program by Ctrl-C, `kill` or closing the
 * terminal. Calls `onFirst` before it aborts. Exits at once on a second Ctrl-C or `kill`.
 */
export function createStopSignal(onFirst: () => void): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (!stop.signal.aborted) {
        onFirst();
        stop.abort();
        // A closed terminal causes two SIGHUP signals, one from the kernel and one from the shell.
        // Therefore a second SIGHUP does not exit.
      } else if (name !== "SIGHUP") process.exit(exitCodes.interrupted);
    });
  }
  return stop.signal;
}

/** Returns a parser of numbers for a command-line option, which throws InvalidArgumentError. */
export const numberParser =
  (min: number, max: number) =>
  (text: string): number => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`);
    return value;
  };

/** Returns a parser of whole numbers for a command-line option. */
export const wholeNumberParser = (min: number, max: number) => (text: string) => {
  const value = numberParser(min, max)(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError("It must be a whole number.");
  return value;
};
