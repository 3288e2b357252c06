import { sleep } from "@amana/runtime";
import { Interrupted } from "../events/interrupted.ts";
import type { Victim } from "../keys/take-away.ts";
import { takeAwayUnderLoad } from "../keys/take-away-under-load.ts";
import { createRandom } from "../random.ts";
import { askForRefunds } from "../refunds/ask-for-refunds.ts";
import { Report } from "../report.ts";
import { cellOf } from "./cells.ts";
import { type Company, openCompany } from "./company.ts";
import { type Doings, whatDoesNotHold } from "./evaluate.ts";
import { inject } from "./inject.ts";
import { insistOf } from "./insist.ts";
import type { Fault, Schedule, Work } from "./schedule.ts";
import type { Stage } from "./stage.ts";
import { verify } from "./verify.ts";

/** By then all work is done: each fault ends within ten seconds. */
const workMsMax = 120_000;
/** By then all is well, after the last fault, however busy the machine is. */
const settleMs = 180_000;
/** What a process still has to do may come to a point that is armed. */
const afterWorkMsMax = 4_000;
const pollMs = 250;

export interface Played {
  /** What did not hold; none: all is well. */
  readonly problems: readonly string[];
  /** By the names of cells. */
  readonly met: readonly string[];
  readonly missed: readonly string[];
  readonly tookMs: number;
}

/** A schedule that was played. Its company is told of events until it is disposed of. */
export interface Play extends AsyncDisposable {
  readonly played: Played;
  /** A look at what it did, once others have been played. */
  lookAgain(): Promise<readonly string[]>;
}

/** Plays a schedule on a system that runs, mends it, and judges once all has come to its end. */
export async function play(stage: Stage, schedule: Schedule, settleMsMax = settleMs): Promise<Play> {
  const beganMs = performance.now();
  const report = new Report();
  const signal = AbortSignal.timeout(workMsMax);
  await using stack = new AsyncDisposableStack();
  const company = stack.use(await openCompany(stage, schedule, { report, signal }));
  const interrupted = new Interrupted(stage.databases.webhooks);
  const doings: Doings = { refunds: [], verifications: [], replays: [], ...{ company, interrupted } };
  const over = new AbortController();
  const [met, missed]: [string[], string[]] = [[], []];

  const faulty = sideBySide(schedule.faults, async (fault) => {
    const isMet = await inject({ stage, interrupted, over: over.signal }, fault);
    (isMet ? met : missed).push(cellOf(fault));
  });
  const working = sideBySide(schedule.work, (work, index) => doWork(doings, work, index));
  try {
    await working;
    // While something is away, nothing can be judged.
    const isWell = async () => (await whatDoesNotHold(stage, doings, { mayDecide: false }).catch(() => ["away"])).length === 0;
    const armedEndsAtMs = performance.now() + afterWorkMsMax;
    while (performance.now() < armedEndsAtMs && !(await isWell())) await sleep(pollMs);
  } finally {
    over.abort();
    await faulty;
    await stage.mend();
  }
  await sleep(untilLateEffects(schedule.faults));

  const problems = await whatStaysWrong(() => whatDoesNotHold(stage, doings, { mayDecide: true }), settleMsMax);
  const opened = stack.move();
  return {
    played: {
      problems: [...report.violations, ...stage.crashes.take(), ...problems],
      ...{ met, missed },
      tookMs: Math.round(performance.now() - beganMs),
    },
    lookAgain: () => whatStaysWrong(() => whatDoesNotHold(stage, doings, { mayDecide: false }), settleMsMax),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Looks until nothing is wrong any more, or for so long. */
async function whatStaysWrong(look: () => Promise<readonly string[]>, msMax: number): Promise<readonly string[]> {
  const endsAtMs = performance.now() + msMax;
  for (;;) {
    const problems = await look();
    if (problems.length === 0 || performance.now() >= endsAtMs) return problems;
    await sleep(pollMs);
  }
}

/** Each at its time. What one throws is seen once all are waited for. */
function sideBySide<T extends Fault | Work>(all: readonly T[], act: (one: T, index: number) => Promise<void>): Promise<unknown> {
  const acting = all.map(async (one, index) => {
    await sleep(one.atMs);
    await act(one, index);
  });
  const together = Promise.all(acting);
  together.catch(() => {});
  return together;
}

async function doWork(
  { company, interrupted, refunds, verifications, replays }: Doings,
  work: Work,
  index: number,
): Promise<void> {
  const { scene } = company;
  const isDone = (done: object | undefined) =>
    scene.report.check("work is done in time", done !== undefined, () => `${work.kind}, the work of index ${index}, was not`);
  switch (work.kind) {
    case "refund": {
      const attempted = await askForRefunds(scene, work.course, createRandom(index));
      isDone(attempted);
      if (attempted) refunds.push(attempted);
      return;
    }
    case "verification": {
      const clientId = work.ofClient ? company.clientId : undefined;
      const verified = await verify(scene, { end: work.end, clientId });
      isDone(verified);
      if (verified) verifications.push(verified);
      return;
    }
    case "replay": {
      interrupted.explainOneMore();
      const path = `/api/v1/webhook-endpoints/${company.endpoint.id}/replay`;
      const since = new Date(Date.now() - 3_600_000).toISOString();
      const asked = { since, statuses: ["succeeded"] };
      const replay = await insistOf(scene)(scene.apiKey, path, asked, ({ status }) => status === 202);
      isDone(replay);
      if (replay) replays.push(`${path}s/${replay["id"]}`);
      return;
    }
    case "key":
      return await takeKeyAway(company, company.victims.get(work) as Victim, work.way, index);
  }
}

async function takeKeyAway(
  { scene, gatewayUrls }: Company,
  victim: Victim,
  way: Extract<Work, { kind: "key" }>["way"],
  index: number,
) {
  const begin = () => ({ askable: gatewayUrls, end: async () => {} });
  await takeAwayUnderLoad({
    ...{ urls: gatewayUrls, adminKey: scene.system.adminKey, victim, way, name: `the work of index ${index}` },
    ...{ workers: 2, pauseMsMax: 40, random: createRandom(index), report: scene.report, begin },
  });
}

/** What takes effect later may still do so. */
function untilLateEffects(faults: readonly Fault[]): number {
  const late = faults.map((fault) => {
    if (fault.kind === "way") return fault.trouble.ms;
    return fault.kind === "answers" ? Number(/^(?:error_)?late:(\d+)$/.exec(fault.mode)?.[1] ?? 0) : 0;
  });
  return Math.max(0, ...late);
}
