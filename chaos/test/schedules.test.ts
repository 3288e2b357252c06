import { kycProviders } from "@amana/dev-env/services";
import { expect, test } from "vitest";
import { cellOf, cellsOf } from "../src/matrix/cells.ts";
import { drawSchedule } from "../src/matrix/draw.ts";
import { readSchedule, type Schedule } from "../src/matrix/schedule.ts";
import { minimize, shrink } from "../src/matrix/shrink.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

test("drawSchedule returns the same schedule for the same seed and number, and readSchedule parses the JSON of that schedule", () => {
  for (const number of numbers(20)) {
    const schedule = drawSchedule(7, number);
    expect(drawSchedule(7, number)).toEqual(schedule);
    expect(readSchedule(JSON.stringify(schedule))).toEqual(JSON.parse(JSON.stringify(schedule)));
    expect(drawSchedule(8, number)).not.toEqual(schedule);
    expect(readSchedule(JSON.stringify(drawSchedule(7, number, "didit")))).toMatchObject({ kycProvider: "didit" });
  }
});

test.each(kycProviders)(
  "drawSchedule for the provider %s draws each kind of fault as a first fault before it repeats a kind, and adds the work that each fault needs",
  (provider) => {
    const cells = cellsOf(provider);
    const schedules = numbers(cells.length).map((number) => drawSchedule(3, number, provider));
    expect(new Set(schedules.map(({ faults }) => cellOf(faults[0] as Schedule["faults"][number]))).size).toBe(cells.length);
    for (const { work, faults } of schedules) {
      expect(work.length).toBeGreaterThan(0);
      for (const fault of faults) {
        const needs = cells.find(({ name }) => name === cellOf(fault))?.needs;
        const isNeeded = (item: Schedule["work"][number]) =>
          item.kind === needs || (item.kind === "verification" && item.end === needs);
        expect(needs === undefined || work.some(isNeeded), cellOf(fault)).toBe(true);
      }
    }
  },
);

test("`minimize` returns the smallest list of items with which the given check still fails", async () => {
  const all = numbers(40);
  const candidates: (readonly number[])[] = [];
  const fails = async (subset: readonly number[]) => {
    candidates.push(subset);
    return [3, 17, 18].every((item) => subset.includes(item));
  };
  expect(await minimize(all, fails)).toEqual([3, 17, 18]);
  expect(candidates.length).toBeLessThan(120);
  expect(await minimize(all, async () => true)).toEqual([]);
  expect(await minimize(all, async (subset) => subset.length === 40)).toEqual(all);
});

test("`shrink` returns a schedule that contains only the fault and the work that cause the failure, and rounds their times", async () => {
  const refundRequest = { amount: "1000.00", pauseMs: 700, patienceMs: 6_000 };
  const refund = {
    atMs: 650,
    kind: "refund",
    course: { asks: [refundRequest, refundRequest, refundRequest], atOnce: true, rollsBack: false },
  } as const;
  const point = { point: "refund.answered", service: "payments", signal: "SIGKILL" } as const;
  const schedule: Schedule = {
    work: [{ atMs: 50, kind: "key", way: "revoke" }, refund, { atMs: 0, kind: "verification", end: "canceled", ofClient: true }],
    faults: [
      { atMs: 350, kind: "freeze", service: "gateway", replica: 1, forMs: 7_000 },
      { atMs: 1_250, kind: "point", ...point, forMs: 950 },
      { atMs: 0, kind: "answers", operation: "status", mode: "http_503", times: 2 },
    ],
  };
  // The schedule fails only if it has a refund and a fault that lasts for more than half a second.
  const fails = async ({ work, faults }: Schedule) =>
    work.some(({ kind }) => kind === "refund") && faults.some((fault) => fault.kind === "point" && fault.forMs > 500);
  expect(await shrink(schedule, fails)).toEqual({
    work: [{ ...refund, atMs: 0, course: { ...refund.course, asks: [{ ...refundRequest, pauseMs: 0 }] } }],
    faults: [{ kind: "point", ...point, atMs: 0, forMs: 900 }],
  });
});
