import { expect, test } from "vitest";
import { cellOf, cells } from "../src/matrix/cells.ts";
import { drawSchedule } from "../src/matrix/draw.ts";
import { readSchedule, type Schedule } from "../src/matrix/schedule.ts";
import { fewest, shrink } from "../src/matrix/shrink.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

test("one seed draws one row of schedules, each of which survives its JSON", () => {
  for (const number of numbers(20)) {
    const schedule = drawSchedule(7, number);
    expect(drawSchedule(7, number)).toEqual(schedule);
    expect(readSchedule(JSON.stringify(schedule))).toEqual(JSON.parse(JSON.stringify(schedule)));
    expect(drawSchedule(8, number)).not.toEqual(schedule);
  }
});

test("each cell leads a schedule before any leads a second one, and has the work that comes there", () => {
  const first = numbers(cells.length).map((number) => drawSchedule(3, number));
  expect(new Set(first.map(({ faults }) => cellOf(faults[0] as Schedule["faults"][number]))).size).toBe(cells.length);
  for (const { work, faults } of first) {
    expect(work.length).toBeGreaterThan(0);
    for (const fault of faults) {
      const needs = cells.find(({ name }) => name === cellOf(fault))?.needs;
      const does = (one: Schedule["work"][number]) => one.kind === needs || (one.kind === "verification" && one.end === needs);
      expect(needs === undefined || work.some(does), cellOf(fault)).toBe(true);
    }
  }
});

test("the fewest that fail together are found, wherever they stand", async () => {
  const all = numbers(40);
  const asked: (readonly number[])[] = [];
  const fails = async (some: readonly number[]) => {
    asked.push(some);
    return [3, 17, 18].every((one) => some.includes(one));
  };
  expect(await fewest(all, fails)).toEqual([3, 17, 18]);
  expect(asked.length).toBeLessThan(120);
  expect(await fewest(all, async () => true)).toEqual([]);
  expect(await fewest(all, async (some) => some.length === 40)).toEqual(all);
});

test("a schedule that fails by one fault and one work is shrunk to these, with round times", async () => {
  const ask = { amount: "1000.00", pauseMs: 700, patienceMs: 6_000 };
  const refund = { atMs: 650, kind: "refund", course: { asks: [ask, ask, ask], atOnce: true, rollsBack: false } } as const;
  const point = { point: "refund.answered", service: "payments", signal: "SIGKILL" } as const;
  const schedule: Schedule = {
    work: [{ atMs: 50, kind: "key", way: "revoke" }, refund, { atMs: 0, kind: "verification", end: "canceled", ofClient: true }],
    faults: [
      { atMs: 350, kind: "freeze", service: "gateway", replica: 1, forMs: 7_000 },
      { atMs: 1_250, kind: "point", ...point, forMs: 950 },
      { atMs: 0, kind: "answers", operation: "status", mode: "http_503", times: 2 },
    ],
  };
  // Only where the fault lasts for more than half a second.
  const fails = async ({ work, faults }: Schedule) =>
    work.some(({ kind }) => kind === "refund") && faults.some((one) => one.kind === "point" && one.forMs > 500);
  expect(await shrink(schedule, fails)).toEqual({
    work: [{ ...refund, atMs: 0, course: { ...refund.course, asks: [{ ...ask, pauseMs: 0 }] } }],
    faults: [{ kind: "point", ...point, atMs: 0, forMs: 900 }],
  });
});
