import type { Program, ProgramRun } from "./program.ts";
import { Report } from "./report.ts";

/** Runs a program for `seconds`, or until `signal` is aborted. Returns the program's report. */
export async function runProgram(
  program: Program,
  options: Pick<ProgramRun, "seed" | "seconds" | "eventsMax" | "kycProvider" | "matrix"> &
    Partial<Pick<ProgramRun, "log" | "signal">>,
): Promise<Report> {
  const report = new Report();
  await program.run({
    ...options,
    signal: AbortSignal.any([
      AbortSignal.timeout(Math.round(options.seconds * 1000)),
      ...(options.signal ? [options.signal] : []),
    ]),
    report,
    log: options.log ?? (() => {}),
  });
  return report;
}
