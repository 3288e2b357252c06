import type { Program } from "./program.ts";
import { Report } from "./report.ts";

/** Runs a program for that long, from that seed, or until the signal. */
export async function attempt(
  program: Program,
  options: { seed: number; seconds: number; eventsMax?: number | undefined; say?: (line: string) => void; signal?: AbortSignal },
): Promise<Report> {
  const report = new Report();
  await program.run({
    seed: options.seed,
    seconds: options.seconds,
    eventsMax: options.eventsMax,
    signal: AbortSignal.any([
      AbortSignal.timeout(Math.round(options.seconds * 1000)),
      ...(options.signal ? [options.signal] : []),
    ]),
    report,
    say: options.say ?? (() => {}),
  });
  return report;
}
