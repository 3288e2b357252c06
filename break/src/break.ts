/** The command `break`: tries to break a promise for as long as one likes. */
import { parseArgs } from "node:util";
import { ownArguments } from "@amana/dev-env/own-arguments";
import { attempt } from "./attempt.ts";
import { readMatrixOptions } from "./matrix/read-options.ts";
import { programs } from "./programs.ts";

/** For a run that ends with its events, or with its schedules. */
const minutesForEvents = 60;
const minutesForSchedules = 24 * 60;

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;
const options = {
  ...{ minutes: text, events: text, seed: text },
  ...{ schedules: text, lanes: text, schedule: text },
  ...{ nightly: flag, results: text },
};

function given() {
  try {
    return parseArgs({ args: ownArguments(), options, allowPositionals: true });
  } catch (error) {
    process.stderr.write(
      `${(error as Error).message}\nIts options: ${Object.keys(options)
        .map((option) => `--${option}`)
        .join(", ")}\n`,
    );
    return process.exit(1);
  }
}

const { values, positionals } = given();
const [name = ""] = positionals;
const program = Object.hasOwn(programs, name) ? programs[name] : undefined;
const eventsMax = values.events === undefined ? undefined : Number(values.events);
const { matrix, seed: seedOfNight } = readMatrixOptions(values);
const minutesMax = eventsMax !== undefined ? minutesForEvents : matrix.schedules !== undefined ? minutesForSchedules : 1;
const minutes = Number(values.minutes ?? minutesMax);
const seed = Number(values.seed ?? seedOfNight ?? Date.now() % 1_000_000);

if (!program || !(minutes > 0) || !Number.isSafeInteger(seed) || !((eventsMax ?? 1) > 0)) {
  const list = Object.entries(programs).map(([known, { attacks }]) => `  ${known.padEnd(10)} ${attacks}\n`);
  process.stderr.write(
    `What shall be tried? npx --yes pnpm@12 break <name> [--minutes N] [--events N] [--seed S], a number each, and for matrix [--schedules N] [--lanes N] [--schedule JSON or file] [--results file] [--nightly]; the names:\n${list.join("")}`,
  );
  process.exit(1);
}
process.stdout.write(
  `${name}: ${program.attacks}\nfor ${minutes} min${eventsMax ? ` or ${eventsMax} events` : ""}${matrix.schedules ? ` or ${matrix.schedules} schedules` : ""}, --seed ${seed}\n`,
);
// Ended early, it checks what it has tried and stops what it started; asked again, it leaves that
// to the next start.
const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) {
  process.on(name, () => {
    if (stop.signal.aborted) process.exit(130);
    process.stdout.write("stopping: what is under way is checked first; once more ends it at once\n");
    stop.abort();
  });
}
const report = await attempt(program, {
  seed,
  seconds: minutes * 60,
  eventsMax,
  matrix,
  signal: stop.signal,
  say: (line) => process.stdout.write(`· ${line}\n`),
});
process.stdout.write(`\n${name} --seed ${seed}\n${report.table()}\n`);
process.exit(report.violations.length === 0 ? 0 : 1);
