/** The command `chaos`: runs one attack program and prints its report. */
import { createCommand, createStopSignal, numberParser, runCommandLine, wholeNumberParser } from "@amana/dev-env/command-line";
import { type KycProvider, kycProviders } from "@amana/dev-env/services";
import { type MatrixValues, readMatrixOptions, scheduleFrom } from "./matrix/read-options.ts";
import type { Program } from "./program.ts";
import { programs } from "./programs.ts";
import { runProgram } from "./run-program.ts";

/** Default of --minutes for a run with --events. */
const minutesForEvents = 60;
/** Default of --minutes for a run with --schedules. */
const minutesForSchedules = 24 * 60;
const countMax = 1_000_000_000;

interface ChaosOptions extends MatrixValues {
  readonly minutes?: number;
  readonly events?: number;
  readonly seed?: number;
  readonly kycProvider?: KycProvider;
}

const programList = Object.entries(programs).map(([name, { summary }]) => `  ${name.padEnd(12)} ${summary}`);

const command = createCommand("chaos", "Run an attack program, which tries to break promises of docs/promises.md.");
command
  .usage("<program> [options]")
  .addArgument(command.createArgument("<program>", "one of the programs below").choices(Object.keys(programs)))
  .option(
    "--minutes <n>",
    "duration of the run in minutes (default: 1; 60 with --events, 1440 with --schedules)",
    numberParser(0.001, 1_000_000),
  )
  .option("--events <n>", "events: end after this many events (default: no limit)", wholeNumberParser(1, countMax))
  .option(
    "--seed <n>",
    "seed of the program's choices; the same seed repeats them (default: derived from the current time)",
    wholeNumberParser(0, Number.MAX_SAFE_INTEGER),
  )
  .addOption(
    command
      .createOption(
        "--kyc-provider <name>",
        "matrix, secrets, verdicts: verification provider of the system, simulated by the sandbox (default: the provider in --schedule, otherwise port, Amana's own protocol)",
      )
      .choices(kycProviders),
  )
  .option("--schedules <n>", "matrix: end after this many schedules (default: no limit)", wholeNumberParser(1, countMax))
  .option("--workers <n>", "matrix: number of systems that run in parallel (default: 1)", wholeNumberParser(1, 100))
  .option(
    "--schedule <json>",
    "matrix: repeat only this schedule, given as JSON or as a file name (default: generated schedules)",
    scheduleFrom,
  )
  .option("--results <file>", "matrix: append one JSON line for each schedule to this file (default: no file)")
  .option("--nightly", "matrix: 1000 schedules on 2 workers, with the date as seed and results in .amana/matrix")
  .addHelpText("after", `\nPrograms:\n${programList.join("\n")}`)
  .action(run);
await runCommandLine(command);

async function run(name: string, values: ChaosOptions): Promise<void> {
  const program = programs[name] as Program;
  const { events: eventsMax } = values;
  const { matrix, seed: nightlySeed } = readMatrixOptions(values);
  const minutesMax = eventsMax !== undefined ? minutesForEvents : matrix.schedules !== undefined ? minutesForSchedules : 1;
  const minutes = values.minutes ?? minutesMax;
  const seed = values.seed ?? nightlySeed ?? Date.now() % 1_000_000;
  process.stdout.write(
    `${name}: ${program.summary}\nRuns for ${minutes} min${eventsMax ? ` or ${eventsMax} events` : ""}${matrix.schedules ? ` or ${matrix.schedules} schedules` : ""} with --seed ${seed}\n`,
  );
  const signal = createStopSignal(() => {
    process.stdout.write("Stopping: checking the results so far. Press Ctrl-C again to stop at once.\n");
  });
  const report = await runProgram(program, {
    seed,
    seconds: minutes * 60,
    eventsMax,
    kycProvider: values.kycProvider,
    matrix,
    signal,
    log: (line) => process.stdout.write(`· ${line}\n`),
  });
  process.stdout.write(
    `\n${name} --seed ${seed}${values.kycProvider ? ` --kyc-provider ${values.kycProvider}` : ""}\n${report.table()}\n`,
  );
  process.exit(report.violations.length === 0 ? 0 : 1);
}
