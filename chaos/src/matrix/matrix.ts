import type { KycProvider } from "@amana/dev-env/services";
import type { Program, ProgramRun } from "../program.ts";
import { cellsOf } from "./cells.ts";
import { Coverage } from "./coverage.ts";
import { drawSchedule } from "./draw.ts";
import { type MatrixSystem, startMatrixSystem } from "./matrix-system.ts";
import { type Play, type PlayResult, play } from "./play.ts";
import { addRegression, readRegressions, writeResult } from "./results.ts";
import type { Schedule } from "./schedule.ts";
import { shrink } from "./shrink.ts";

/** Number of rounds after which every cell must be met. A round has one schedule for each cell. */
const roundsForFullCoverage = 3;
const progressMs = 30_000;
/**
 * Maximum number of runs of each candidate, which is a shortened failing schedule. Several runs are
 * needed, because a failure may depend on timing.
 */
const playsPerCandidate = 3;
/** Time within which the promises must hold again. A failing candidate needs all of this time. */
const shrinkCheckMsMax = 20_000;
/**
 * Maximum number of candidates. Without this limit, the search for the shortest schedule of a rare
 * failure would take very long.
 */
const candidatesMax = 40;

export const matrixProgram: Program = {
  summary:
    "P1, P3, P4: play schedules of work and up to three faults, with each kind of fault at each place; failing schedules are shrunk",
  run: (options) =>
    run(options, async (kycProvider, playAll) => {
      await using matrixSystem = await startMatrixSystem(kycProvider);
      await playAll(matrixSystem);
    }),
};

/** Returns the program `matrix` for a running system. */
export const matrixOn = (matrixSystem: MatrixSystem): Program => ({
  ...matrixProgram,
  run: (options) =>
    run(options, async (kycProvider, playAll) => {
      await matrixSystem.useKycProvider(kycProvider);
      await playAll(matrixSystem);
    }),
});

/** Calls `playAll` with a system that uses this verification provider. */
type WithSystem = (kycProvider: KycProvider, playAll: (matrixSystem: MatrixSystem) => Promise<void>) => Promise<void>;

async function run(options: ProgramRun, withSystem: WithSystem): Promise<void> {
  const { seed, signal, report, log } = options;
  const { schedules = Number.POSITIVE_INFINITY, workers = 1, schedule, results, shrinks = true } = options.matrix ?? {};
  const kycProvider = options.kycProvider ?? schedule?.kycProvider ?? "port";
  const cells = cellsOf(kycProvider);
  const regressions = schedule ? [] : readRegressions(kycProvider);
  const coverage = new Coverage(cells);
  let [nextNumber, playedCount, startedMs, progressAtMs] = [0, 0, Number.POSITIVE_INFINITY, performance.now()];
  const isOver = () => nextNumber >= schedules + regressions.length || (signal.aborted && nextNumber > 0);

  const logProgress = () => {
    const perMinute = playedCount / ((performance.now() - startedMs) / 60_000);
    const timeLeft = Number.isFinite(schedules)
      ? `, ${Math.ceil((schedules + regressions.length - playedCount) / perMinute)} min left`
      : "";
    log(`${playedCount} schedules, ${report.violations.length} failed, ${perMinute.toFixed(1)} a minute${timeLeft}`);
  };
  const playAndRecord = async (matrixSystem: MatrixSystem, name: string, current: Schedule): Promise<Play> => {
    const playback = await play(matrixSystem, current);
    const { result: played } = playback;
    coverage.add(played);
    playedCount++;
    report.count("schedules played");
    report.count("faults met", played.met.length);
    report.count("faults that no process met", played.missed.length);
    if (results) writeResult(results, { name, seed, ...played, ...(played.problems.length > 0 && { schedule: current }) });
    report.check("all promises hold after a schedule", played.problems.length === 0, () =>
      describeFailure(name, played, { ...current, kycProvider }),
    );
    // Schedules of the command line and regressions are already short, so they are not shrunk.
    const mayShrink = shrinks && !schedule && !regressions.includes(current) && !signal.aborted;
    if (played.problems.length > 0 && mayShrink) await shrinkAndStore(matrixSystem, name, current, options);
    if (performance.now() - progressAtMs >= progressMs) {
      progressAtMs = performance.now();
      logProgress();
    }
    return playback;
  };
  /** Plays schedules on one system until the run is over or the system has become unusable. */
  const playOnOneSystem = async (matrixSystem: MatrixSystem) => {
    startedMs = Math.min(startedMs, performance.now());
    await using playbacks = new AsyncDisposableStack();
    const passed = new Map<string, Play>();
    while (!isOver()) {
      const number = nextNumber++;
      const regression = regressions[number];
      const name = schedule ? `play ${number}` : regression ? `regression ${number}` : `${seed}/${number - regressions.length}`;
      const current = schedule ?? regression ?? drawSchedule(seed, number - regressions.length, kycProvider);
      try {
        const playback = playbacks.use(await playAndRecord(matrixSystem, name, current));
        if (playback.result.problems.length === 0) passed.set(name, playback);
      } catch (error) {
        log(`${name} could not be played: ${(error as Error).message}`);
        report.violation(
          `${name} could not be played: ${(error as Error).stack}\n      ${commandFor({ ...current, kycProvider })}`,
        );
        return;
      }
    }
    // Checks the passed schedules again, because later schedules may have damaged their results.
    // New events may exist, because unpaid payments have expired in the meantime.
    for (const [name, playback] of passed) {
      const problems = await playback.checkAgain();
      report.check(
        "all promises of a schedule still hold at the end of the run",
        problems.length === 0,
        () => `${name}: ${problems.join("\n      ")}`,
      );
    }
  };
  const runWorker = async () => {
    while (!isOver()) await withSystem(kycProvider, playOnOneSystem);
  };
  await Promise.all(Array.from({ length: workers }, runWorker));
  logProgress();
  log(coverage.table());
  const unmet = coverage.findUnmet();
  report.count("cells (kind of fault and place)", cells.length);
  report.count("cells met", cells.length - unmet.length);
  if (playedCount >= roundsForFullCoverage * cells.length && !schedule)
    report.check("every cell is met", unmet.length === 0, () => unmet.join(", "));
}

const describeFailure = (name: string, { problems }: PlayResult, schedule: Schedule) =>
  [`${name}: ${problems.join("\n      ")}`, commandFor(schedule)].join("\n      ");

const commandFor = (schedule: Schedule) => `npx --yes pnpm@12 chaos matrix --schedule '${JSON.stringify(schedule)}'`;

/** Finds the shortest schedule that still fails, prints it and adds it to the regressions. */
async function shrinkAndStore(
  matrixSystem: MatrixSystem,
  name: string,
  failed: Schedule,
  { log, signal }: ProgramRun,
): Promise<void> {
  let [candidates, plays, lastProblems] = [0, 0, ""];
  const fails = async (candidate: Schedule) => {
    if (candidates++ >= candidatesMax || signal.aborted) return false;
    for (let i = 0; i < playsPerCandidate; i++) {
      plays++;
      await using playback = await play(matrixSystem, candidate, shrinkCheckMsMax);
      const { result: played } = playback;
      if (played.problems.length === 0) continue;
      lastProblems = played.problems.join("\n      ");
      return true;
    }
    return false;
  };
  log(`${name} failed, shrinking it`);
  const shortest = await shrink(failed, fails);
  let [failures, repetitions] = [0, 0];
  for (; repetitions < 5 && !signal.aborted; repetitions++) {
    await using playback = await play(matrixSystem, shortest);
    if (playback.result.problems.length > 0) failures++;
  }
  addRegression(shortest);
  log(
    `${name}, after ${plays} plays: the shortest schedule failed ${failures} of ${repetitions} times:\n    ${commandFor(shortest)}\n      ${lastProblems}`,
  );
}
