import { sleep } from "@amana/runtime";
import { InterruptedDeliveries } from "../events/interrupted-deliveries.ts";
import type { Victim } from "../keys/revoke.ts";
import { revokeUnderLoad } from "../keys/revoke-under-load.ts";
import { createRandom } from "../random.ts";
import { requestRefunds } from "../refunds/request-refunds.ts";
import { Report } from "../report.ts";
import { cellOf } from "./cells.ts";
import { type CompletedWork, findViolations } from "./evaluate.ts";
import { injectFault } from "./inject-fault.ts";
import type { MatrixSystem } from "./matrix-system.ts";
import { createRepeater } from "./repeat-request.ts";
import { runVerification } from "./run-verification.ts";
import type { Fault, Schedule, Work } from "./schedule.ts";
import { createBusiness, type ScheduleBusiness } from "./schedule-business.ts";

/**
 * Time limit of a schedule's work. Faults end within ten seconds, so only work that a bug blocks
 * reaches this limit.
 */
const workMsMax = 120_000;
/** Time after the last fault within which all promises must hold again, even on a busy machine. */
const checkMsMax = 180_000;
/** Time for which fault points stay armed after the work, so that background work reaches them. */
const afterWorkMsMax = 4_000;
const pollMs = 250;

export interface PlayResult {
  /** Violations. The list is empty if the schedule passed. */
  readonly problems: readonly string[];
  /** Names of the cells whose fault affected a process. */
  readonly met: readonly string[];
  /** Names of the cells whose fault affected no process. */
  readonly missed: readonly string[];
  readonly durationMs: number;
}

/** A played schedule. The business's endpoint receives events until the play is disposed. */
export interface Play extends AsyncDisposable {
  readonly result: PlayResult;
  /** Checks the results of this schedule again after other schedules have been played. */
  checkAgain(): Promise<readonly string[]>;
}

/** Plays a schedule on a running system, removes all faults, and checks the results. */
export async function play(matrixSystem: MatrixSystem, schedule: Schedule, checkMs = checkMsMax): Promise<Play> {
  const startedMs = performance.now();
  const report = new Report();
  const signal = AbortSignal.timeout(workMsMax);
  await using stack = new AsyncDisposableStack();
  const business = stack.use(await createBusiness(matrixSystem, schedule, { report, signal }));
  const interrupted = new InterruptedDeliveries(matrixSystem.databases.webhooks);
  const completed: CompletedWork = { refunds: [], verifications: [], replays: [], ...{ business, interrupted } };
  const workEnds = new AbortController();
  const [met, missed]: [string[], string[]] = [[], []];

  const injecting = runAtTimes(schedule.faults, async (fault) => {
    const isMet = await injectFault({ matrixSystem, interrupted, workEnded: workEnds.signal }, fault);
    (isMet ? met : missed).push(cellOf(fault));
  });
  const working = runAtTimes(schedule.work, (work, index) => doWork(matrixSystem, completed, work, index));
  try {
    await working;
    // `findViolations` throws while a database or a gateway is down.
    const passes = async () =>
      (await findViolations(matrixSystem, completed, { mayDecide: false }).catch(() => ["the check failed"])).length === 0;
    const armedEndsAtMs = performance.now() + afterWorkMsMax;
    while (performance.now() < armedEndsAtMs && !(await passes())) await sleep(pollMs);
  } finally {
    workEnds.abort();
    await injecting;
    await matrixSystem.restoreAll();
  }
  await sleep(findLatestEffectMs(schedule.faults));

  const problems = await waitForPromises(() => findViolations(matrixSystem, completed, { mayDecide: true }), checkMs);
  const resources = stack.move();
  return {
    result: {
      problems: [...report.violations, ...matrixSystem.crashes.takeUnexplained(), ...problems],
      ...{ met, missed },
      durationMs: Math.round(performance.now() - startedMs),
    },
    checkAgain: () => waitForPromises(() => findViolations(matrixSystem, completed, { mayDecide: false }), checkMs),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/**
 * Repeats a check until it finds no problems or the time limit expires. Returns the last problems.
 */
async function waitForPromises(check: () => Promise<readonly string[]>, msMax: number): Promise<readonly string[]> {
  const endsAtMs = performance.now() + msMax;
  for (;;) {
    const problems = await check();
    if (problems.length === 0 || performance.now() >= endsAtMs) return problems;
    await sleep(pollMs);
  }
}

/** Starts each item at its time. The returned promise rejects if an item fails. */
function runAtTimes<T extends Fault | Work>(
  items: readonly T[],
  start: (item: T, index: number) => Promise<void>,
): Promise<unknown> {
  const runs = items.map(async (item, index) => {
    await sleep(item.atMs);
    await start(item, index);
  });
  const allRuns = Promise.all(runs);
  // Prevents an unhandled rejection if an item fails before the caller awaits the promise.
  allRuns.catch(() => {});
  return allRuns;
}

async function doWork(
  { kycProvider }: MatrixSystem,
  { business, interrupted, refunds, verifications, replays }: CompletedWork,
  work: Work,
  index: number,
): Promise<void> {
  const { context } = business;
  const checkCompleted = (result: object | undefined) =>
    context.report.check(
      "work is completed in time",
      result !== undefined,
      () => `${work.kind}, work ${index}, was not completed`,
    );
  switch (work.kind) {
    case "refund": {
      const tested = await requestRefunds(context, work.course, createRandom(index));
      checkCompleted(tested);
      if (tested) refunds.push(tested);
      return;
    }
    case "verification": {
      const clientId = work.ofClient ? business.clientId : undefined;
      const verification = await runVerification(context, { end: work.end, clientId, kycProvider });
      checkCompleted(verification);
      if (verification) verifications.push(verification);
      return;
    }
    case "replay": {
      interrupted.allowReplay();
      const path = `/api/v1/webhook-endpoints/${business.endpoint.id}/replay`;
      const since = new Date(Date.now() - 3_600_000).toISOString();
      const request = { since, statuses: ["succeeded"] };
      const replay = await createRepeater(context)(context.apiKey, path, request, ({ status }) => status === 202);
      checkCompleted(replay);
      if (replay) replays.push(`${path}s/${replay["id"]}`);
      return;
    }
    case "key":
      return await revokeKey(business, business.victims.get(work) as Victim, work.way, index);
  }
}

async function revokeKey(
  { context, gatewayUrls }: ScheduleBusiness,
  victim: Victim,
  method: Extract<Work, { kind: "key" }>["way"],
  index: number,
) {
  const startFault = () => ({ reachable: gatewayUrls, end: async () => {} });
  await revokeUnderLoad({
    ...{ urls: gatewayUrls, adminKey: context.system.adminKey, victim, method, name: `work ${index}` },
    ...{ workers: 2, pauseMsMax: 40, random: createRandom(index), report: context.report, startFault },
  });
}

/** Returns the longest delay with which a fault of the schedule can take effect. */
function findLatestEffectMs(faults: readonly Fault[]): number {
  const delaysMs = faults.map((fault) => {
    if (fault.kind === "way") return fault.trouble.ms;
    return fault.kind === "answers" ? Number(/^(?:error_)?late:(\d+)$/.exec(fault.mode)?.[1] ?? 0) : 0;
  });
  return Math.max(0, ...delaysMs);
}
