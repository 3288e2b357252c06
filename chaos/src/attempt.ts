import type { Attempt, Program } from "./program.ts";
import { Report } from "./report.ts";

/** Runs a program for that long, from that seed, or until the signal. */
export async function attempt(
  program: Program,
  options: Pick<Attempt, "seed" | "seconds" | "eventsMax" | "matrix"> & Partial<Pick<Attempt, "say" | "signal">>,
): Promise<Report> {
  const report = new Report();
  await program.run({
    ...options,
    signal: AbortSignal.any([
      AbortSignal.timeout(Math.round(options.seconds * 1000)),
      ...(options.signal ? [options.signal] : []),
    ]),
    report,
    say: options.say ?? (() => {}),
  });
  return report;
}
