import type { Fault, Schedule, Work } from "./schedule.ts";

/** Returns true if a schedule still fails. */
export type Fails = (candidate: Schedule) => Promise<boolean>;

/**
 * Returns the shortest schedule found that still fails. Removes faults, then work, then refund
 * requests, and rounds times down, until no step shortens the schedule.
 */
export async function shrink(schedule: Schedule, fails: Fails): Promise<Schedule> {
  let shortest = schedule;
  for (let previous = ""; previous !== JSON.stringify(shortest); ) {
    previous = JSON.stringify(shortest);
    const { work, faults } = shortest;
    const neededFaults = await minimize(faults, (subset) => fails({ ...shortest, faults: subset }));
    const neededWork = await minimize(work, (subset) => fails({ ...shortest, work: subset, faults: neededFaults }));
    shortest = { ...shortest, work: neededWork, faults: neededFaults };
    for (const simplify of listSimplifications(shortest)) {
      const candidate = simplify(shortest);
      if (JSON.stringify(candidate) !== JSON.stringify(shortest) && (await fails(candidate))) shortest = candidate;
    }
  }
  return shortest;
}

/**
 * Returns a minimal subset of `all` that still fails (delta debugging, Zeller's ddmin). Removes
 * halves first, then smaller parts, until no single item can be removed.
 */
export async function minimize<T>(all: readonly T[], fails: (subset: readonly T[]) => Promise<boolean>): Promise<readonly T[]> {
  let needed = all;
  for (let parts = 2; needed.length > 0; ) {
    const size = Math.ceil(needed.length / parts);
    let isShorter = false;
    for (let start = 0; start < needed.length; start += size) {
      const candidate = [...needed.slice(0, start), ...needed.slice(start + size)];
      if (!(await fails(candidate))) continue;
      needed = candidate;
      isShorter = true;
      break;
    }
    if (isShorter) parts = Math.max(2, parts - 1);
    else if (size === 1) return needed;
    else parts = Math.min(needed.length, parts * 2);
  }
  return needed;
}

type Simplification = (schedule: Schedule) => Schedule;

/** Returns functions. Each one simplifies one part of a schedule, or leaves it unchanged. */
function listSimplifications({ work, faults }: Schedule): Simplification[] {
  const changeWork = (index: number, change: (item: Work) => Work): Simplification => {
    return (schedule) => ({ ...schedule, work: schedule.work.map((item, i) => (i === index ? change(item) : item)) });
  };
  const changeFault = (index: number, change: (item: Fault) => Fault): Simplification => {
    return (schedule) => ({ ...schedule, faults: schedule.faults.map((item, i) => (i === index ? change(item) : item)) });
  };
  return [
    ...work.flatMap((item, index) => [
      ...(item.kind === "refund" ? item.course.asks.map(() => changeWork(index, removeLastRequest)) : []),
      ...roundings.map((round) => changeWork(index, round)),
    ]),
    ...faults.flatMap((_, index) => [
      changeFault(index, (fault) => (fault.kind === "answers" ? { ...fault, times: 1 } : fault)),
      ...roundings.map((round) => changeFault(index, round)),
    ]),
  ];
}

const removeLastRequest = (work: Work): Work =>
  work.kind === "refund" && work.course.asks.length > 1
    ? { ...work, course: { ...work.course, asks: work.course.asks.slice(0, -1) } }
    : work;

/** Functions that round a time down. The first one makes the largest change. */
const roundDownFunctions: readonly ((ms: number) => number)[] = [
  () => 0,
  (ms) => Math.floor(ms / 1_000) * 1_000,
  (ms) => Math.floor(ms / 100) * 100,
];

/** Properties that are rounded. `patienceMs` is not rounded, because it is a time limit. */
const times = ["atMs", "forMs", "pauseMs", "ms"];

const roundings = times.flatMap((time) =>
  roundDownFunctions.map(
    (roundDown) =>
      <T>(part: T): T =>
        roundTimes(part, time, roundDown),
  ),
);

function roundTimes<T>(part: T, time: string, roundDown: (ms: number) => number): T {
  return JSON.parse(JSON.stringify(part), (name, value: unknown) => (name === time ? roundDown(Number(value)) : value)) as T;
}
