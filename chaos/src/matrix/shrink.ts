import type { Fault, Schedule, Work } from "./schedule.ts";

/** Returns whether a schedule still fails. */
export type Fails = (candidate: Schedule) => Promise<boolean>;

/**
 * Returns the shortest schedule found that still fails. Removes faults, then work, then refund
 * requests, and rounds times down, until no step shortens the schedule.
 */
export async function shrink(schedule: Schedule, fails: Fails): Promise<Schedule> {
  let shortest = schedule;
  for (let before = ""; before !== JSON.stringify(shortest); ) {
    before = JSON.stringify(shortest);
    const { work, faults } = shortest;
    const fewerFaults = await minimize(faults, (subset) => fails({ work, faults: subset }));
    const fewerWork = await minimize(work, (subset) => fails({ work: subset, faults: fewerFaults }));
    shortest = { work: fewerWork, faults: fewerFaults };
    for (const simplify of simplificationsOf(shortest)) {
      const candidate = simplify(shortest);
      if (JSON.stringify(candidate) !== JSON.stringify(shortest) && (await fails(candidate))) shortest = candidate;
    }
  }
  return shortest;
}

/**
 * Returns a minimal list that still fails (delta debugging, Zeller's ddmin). Removes halves first,
 * then smaller parts, until no single item can be removed.
 */
export async function minimize<T>(all: readonly T[], fails: (subset: readonly T[]) => Promise<boolean>): Promise<readonly T[]> {
  let needed = all;
  for (let parts = 2; needed.length > 0; ) {
    const size = Math.ceil(needed.length / parts);
    let isShorter = false;
    for (let start = 0; start < needed.length; start += size) {
      const rest = [...needed.slice(0, start), ...needed.slice(start + size)];
      if (!(await fails(rest))) continue;
      needed = rest;
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

/** Returns functions that each simplify one part of the schedule, or leave it unchanged. */
function simplificationsOf({ work, faults }: Schedule): Simplification[] {
  const ofWork = (index: number, change: (item: Work) => Work): Simplification => {
    return (schedule) => ({ ...schedule, work: schedule.work.map((item, i) => (i === index ? change(item) : item)) });
  };
  const ofFault = (index: number, change: (item: Fault) => Fault): Simplification => {
    return (schedule) => ({ ...schedule, faults: schedule.faults.map((item, i) => (i === index ? change(item) : item)) });
  };
  return [
    ...work.flatMap((item, index) => [
      ...(item.kind === "refund" ? item.course.asks.map(() => ofWork(index, withoutLastRequest)) : []),
      ...roundings.map((round) => ofWork(index, round)),
    ]),
    ...faults.flatMap((_, index) => [
      ofFault(index, (now) => (now.kind === "answers" ? { ...now, times: 1 } : now)),
      ...roundings.map((round) => ofFault(index, round)),
    ]),
  ];
}

const withoutLastRequest = (work: Work): Work =>
  work.kind === "refund" && work.course.asks.length > 1
    ? { ...work, course: { ...work.course, asks: work.course.asks.slice(0, -1) } }
    : work;

/** Ordered from the largest change to the smallest. */
const steps: readonly ((ms: number) => number)[] = [
  () => 0,
  (ms) => Math.floor(ms / 1_000) * 1_000,
  (ms) => Math.floor(ms / 100) * 100,
];

/** Without `patienceMs`, which is a time limit and not a duration. */
const times = ["atMs", "forMs", "pauseMs", "ms"];

const roundings = times.flatMap((time) =>
  steps.map(
    (step) =>
      <T>(part: T): T =>
        rounded(part, time, step),
  ),
);

function rounded<T>(part: T, time: string, step: (ms: number) => number): T {
  return JSON.parse(JSON.stringify(part), (name, value: unknown) => (name === time ? step(Number(value)) : value)) as T;
}
