import type { Fault, Schedule, Work } from "./schedule.ts";

/** Whether a schedule still fails; asked as often as its own bound lets. */
export type Fails = (candidate: Schedule) => Promise<boolean>;

/**
 * The shortest schedule found that still fails: faults are left out, then work, then what a refund
 * is asked for, and times are rounded down; again until nothing more can go.
 */
export async function shrink(schedule: Schedule, fails: Fails): Promise<Schedule> {
  let shortest = schedule;
  for (let before = ""; before !== JSON.stringify(shortest); ) {
    before = JSON.stringify(shortest);
    const { work, faults } = shortest;
    const fewerFaults = await fewest(faults, (some) => fails({ work, faults: some }));
    const fewerWork = await fewest(work, (some) => fails({ work: some, faults: fewerFaults }));
    shortest = { work: fewerWork, faults: fewerFaults };
    for (const simpler of simplerParts(shortest)) {
      const candidate = simpler(shortest);
      if (JSON.stringify(candidate) !== JSON.stringify(shortest) && (await fails(candidate))) shortest = candidate;
    }
  }
  return shortest;
}

/**
 * Delta debugging (Zeller's ddmin): the list without parts that are not needed, in halves first and
 * then in ever smaller parts, until no single one can be left out.
 */
export async function fewest<T>(all: readonly T[], fails: (some: readonly T[]) => Promise<boolean>): Promise<readonly T[]> {
  let left = all;
  for (let parts = 2; left.length > 0; ) {
    const size = Math.ceil(left.length / parts);
    let isShorter = false;
    for (let start = 0; start < left.length; start += size) {
      const rest = [...left.slice(0, start), ...left.slice(start + size)];
      if (!(await fails(rest))) continue;
      left = rest;
      isShorter = true;
      break;
    }
    if (isShorter) parts = Math.max(2, parts - 1);
    else if (size === 1) return left;
    else parts = Math.min(left.length, parts * 2);
  }
  return left;
}

type Simpler = (schedule: Schedule) => Schedule;

/** Each makes one part of the schedule simpler, or leaves it as it is. */
function simplerParts({ work, faults }: Schedule): Simpler[] {
  const ofWork = (index: number, change: (one: Work) => Work): Simpler => {
    return (schedule) => ({ ...schedule, work: schedule.work.map((one, i) => (i === index ? change(one) : one)) });
  };
  const ofFault = (index: number, change: (one: Fault) => Fault): Simpler => {
    return (schedule) => ({ ...schedule, faults: schedule.faults.map((one, i) => (i === index ? change(one) : one)) });
  };
  return [
    ...work.flatMap((one, index) => [
      ...(one.kind === "refund" ? one.course.asks.map(() => ofWork(index, withoutLastAsk)) : []),
      ...roundings.map((round) => ofWork(index, round)),
    ]),
    ...faults.flatMap((_, index) => [
      ofFault(index, (now) => (now.kind === "answers" ? { ...now, times: 1 } : now)),
      ...roundings.map((round) => ofFault(index, round)),
    ]),
  ];
}

const withoutLastAsk = (work: Work): Work =>
  work.kind === "refund" && work.course.asks.length > 1
    ? { ...work, course: { ...work.course, asks: work.course.asks.slice(0, -1) } }
    : work;

/** From the boldest on. */
const steps: readonly ((ms: number) => number)[] = [
  () => 0,
  (ms) => Math.floor(ms / 1_000) * 1_000,
  (ms) => Math.floor(ms / 100) * 100,
];

/** Patience is no time that passes. */
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
