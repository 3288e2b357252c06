import type { Program } from "./program.ts";
import { Report } from "./report.ts";

/** Runs a program for that long, from that seed. */
export async function attempt(
  program: Program,
  options: { seed: number; seconds: number; say?: (line: string) => void },
): Promise<Report> {
  const report = new Report();
  await program.run({
    seed: options.seed,
    signal: AbortSignal.timeout(options.seconds * 1000),
    report,
    say: options.say ?? (() => {}),
  });
  return report;
}
