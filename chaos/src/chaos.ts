/** The command `chaos`: tries to break a promise for as long as the options say. */
import { createCommand, numberFrom, runCommandLine, stopSignal, wholeFrom } from "@amana/dev-env/command-line";
import { attempt } from "./attempt.ts";
import { type MatrixValues, readMatrixOptions, scheduleFrom } from "./matrix/read-options.ts";
import type { Program } from "./program.ts";
import { programs } from "./programs.ts";

/** For a run that ends with its events, or with its schedules. */
const minutesForEvents = 60;
const minutesForSchedules = 24 * 60;
const countMax = 1_000_000_000;

interface BreakOptions extends MatrixValues {
  readonly minutes?: number;
  readonly events?: number;
  readonly seed?: number;
}

const list = Object.entries(programs).map(([name, { attacks }]) => `  ${name.padEnd(12)} ${attacks}`);

const command = createCommand("chaos", "Run a program that tries to break one of the promises of docs/promises.md.");
command
  .usage("<program> [options]")
  .addArgument(command.createArgument("<program>", "one of the programs below").choices(Object.keys(programs)))
  .option(
    "--minutes <n>",
    "duration of the run (default: 1; 60 with --events, 1440 with --schedules)",
    numberFrom(0.001, 1_000_000),
  )
  .option("--events <n>", "events: end after this many events", wholeFrom(1, countMax))
  .option(
    "--seed <n>",
    "make the same choices as the run with this seed (default: random)",
    wholeFrom(0, Number.MAX_SAFE_INTEGER),
  )
  .option("--schedules <n>", "matrix: end after this many schedules", wholeFrom(1, countMax))
  .option("--lanes <n>", "matrix: number of systems that run in parallel (default: 1)", wholeFrom(1, 100))
  .option("--schedule <json>", "matrix: run only this schedule, JSON or the name of a file", scheduleFrom)
  .option("--results <file>", "matrix: append one line for each schedule to this file")
  .option("--nightly", "matrix: 1000 schedules on 2 lanes, with the date as seed and results in .amana/matrix")
  .addHelpText("after", `\nPrograms:\n${list.join("\n")}`)
  .action(run);
await runCommandLine(command);

async function run(name: string, values: BreakOptions): Promise<void> {
  const program = programs[name] as Program;
  const { events: eventsMax } = values;
  const { matrix, seed: seedOfNight } = readMatrixOptions(values);
  const minutesMax = eventsMax !== undefined ? minutesForEvents : matrix.schedules !== undefined ? minutesForSchedules : 1;
  const minutes = values.minutes ?? minutesMax;
  const seed = values.seed ?? seedOfNight ?? Date.now() % 1_000_000;
  process.stdout.write(
    `${name}: ${program.attacks}\nfor ${minutes} min${eventsMax ? ` or ${eventsMax} events` : ""}${matrix.schedules ? ` or ${matrix.schedules} schedules` : ""}, --seed ${seed}\n`,
  );
  const signal = stopSignal(() => {
    process.stdout.write("Stopping after the results so far are checked. Press Ctrl-C again to stop at once.\n");
  });
  const report = await attempt(program, {
    seed,
    seconds: minutes * 60,
    eventsMax,
    matrix,
    signal,
    say: (line) => process.stdout.write(`· ${line}\n`),
  });
  process.stdout.write(`\n${name} --seed ${seed}\n${report.table()}\n`);
  process.exit(report.violations.length === 0 ? 0 : 1);
}
