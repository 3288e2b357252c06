import type { Attempt, Program } from "../program.ts";
import { cells } from "./cells.ts";
import { Coverage } from "./coverage.ts";
import { drawSchedule } from "./draw.ts";
import { type Play, type Played, play } from "./play.ts";
import { addRegression, readRegressions, writeResult } from "./results.ts";
import type { Schedule } from "./schedule.ts";
import { shrink } from "./shrink.ts";
import { type Stage, startStage } from "./stage.ts";

/** Enough that each cell was led by a schedule thrice: none may be empty then. */
const enough = 3 * cells.length;
const sayMs = 30_000;
/** Processes answer as they like, so a candidate may need several plays to fail. */
const playsPerCandidate = 3;
/** One that fails waits for so long in vain. */
const shrinkSettleMs = 20_000;
/** So that one that fails seldom ends some time. */
const candidatesMax = 40;

export const matrix: Program = {
  attacks:
    "P1, P3 and P4 by schedules: work and faults as data, each kind of fault at each place, one schedule after the other on a running system; what fails is made shorter",
  run,
};

async function run(attempt: Attempt): Promise<void> {
  const { seed, signal, report, say } = attempt;
  const { schedules = Number.POSITIVE_INFINITY, lanes = 1, schedule, results, shrinks = true } = attempt.matrix ?? {};
  const regressions = schedule ? [] : readRegressions();
  const coverage = new Coverage();
  let [next, done, beganMs, saidAtMs] = [0, 0, Number.POSITIVE_INFINITY, performance.now()];
  const isOver = () => next >= schedules + regressions.length || (signal.aborted && next > 0);

  const progress = () => {
    const perMinute = done / ((performance.now() - beganMs) / 60_000);
    const left = Number.isFinite(schedules) ? `, ${Math.ceil((schedules + regressions.length - done) / perMinute)} min left` : "";
    say(`${done} schedules, ${report.violations.length} failed, ${perMinute.toFixed(1)} a minute${left}`);
  };
  const judge = async (stage: Stage, name: string, one: Schedule): Promise<Play> => {
    const shown = await play(stage, one);
    const { played } = shown;
    coverage.add(played);
    done++;
    report.count("schedules played");
    report.count("faults met", played.met.length);
    report.count("faults that nobody came to", played.missed.length);
    if (results) writeResult(results, { name, seed, ...played, ...(played.problems.length > 0 && { schedule: one }) });
    report.check("schedules", played.problems.length === 0, () => tell(name, played, one));
    // What is played again was made shorter before.
    const mayShrink = shrinks && !schedule && !regressions.includes(one) && !signal.aborted;
    if (played.problems.length > 0 && mayShrink) await shorten(stage, name, one, attempt);
    if (performance.now() - saidAtMs >= sayMs) {
      saidAtMs = performance.now();
      progress();
    }
    return shown;
  };
  /** On one system, until all is over or the system cannot be used any more. */
  const lane = async () => {
    await using stage = await startStage();
    beganMs = Math.min(beganMs, performance.now());
    await using kept = new AsyncDisposableStack();
    const plays = new Map<string, Play>();
    while (!isOver()) {
      const number = next++;
      const known = regressions[number];
      const name = schedule ? `play ${number}` : known ? `regression ${number}` : `${seed}/${number - regressions.length}`;
      const one = schedule ?? known ?? drawSchedule(seed, number - regressions.length);
      try {
        const shown = kept.use(await judge(stage, name, one));
        if (shown.played.problems.length === 0) plays.set(name, shown);
      } catch (error) {
        say(`${name} could not be played: ${(error as Error).message}`);
        report.violation(`${name} could not be played: ${(error as Error).stack}\n      ${again(one)}`);
        return;
      }
    }
    // What came later may have done harm to what was judged before, and payments that nobody went
    // on with have expired meanwhile, which is an event as well.
    for (const [name, shown] of plays) {
      const problems = await shown.lookAgain();
      report.check("schedules, looked at again in the end", problems.length === 0, () => `${name}: ${problems.join("\n      ")}`);
    }
  };
  const laneAfterLane = async () => {
    while (!isOver()) await lane();
  };
  await Promise.all(Array.from({ length: lanes }, laneAfterLane));
  progress();
  say(coverage.table());
  const empty = coverage.empty();
  report.count("cells of faults and places", cells.length);
  report.count("cells that were met", cells.length - empty.length);
  if (done >= enough && !schedule) report.check("every cell is met", empty.length === 0, () => empty.join(", "));
}

const tell = (name: string, { problems }: Played, schedule: Schedule) =>
  [`${name}: ${problems.join("\n      ")}`, again(schedule)].join("\n      ");

const again = (schedule: Schedule) => `npx --yes pnpm@12 chaos matrix --schedule '${JSON.stringify(schedule)}'`;

/** Finds the shortest schedule that still fails, says it and keeps it. */
async function shorten(stage: Stage, name: string, failed: Schedule, { say, signal }: Attempt): Promise<void> {
  let [candidates, plays, last] = [0, 0, ""];
  const fails = async (candidate: Schedule) => {
    if (candidates++ >= candidatesMax || signal.aborted) return false;
    for (let i = 0; i < playsPerCandidate; i++) {
      plays++;
      await using shown = await play(stage, candidate, shrinkSettleMs);
      const { played } = shown;
      if (played.problems.length === 0) continue;
      last = played.problems.join("\n      ");
      return true;
    }
    return false;
  };
  say(`${name} failed and is made shorter`);
  const shortest = await shrink(failed, fails);
  let [times, sure] = [0, 0];
  for (; sure < 5 && !signal.aborted; sure++) {
    await using shown = await play(stage, shortest);
    if (shown.played.problems.length > 0) times++;
  }
  addRegression(shortest);
  say(`${name}, after ${plays} plays: the shortest failed ${times} times of ${sure}:\n    ${again(shortest)}\n      ${last}`);
}
