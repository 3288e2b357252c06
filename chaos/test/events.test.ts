import { expect, test } from "vitest";
import { events } from "../src/events/events.ts";
import { runProgram } from "../src/run-program.ts";

test("no event is lost, changed or invented while processes are killed or frozen and messages forged", async () => {
  const report = await runProgram(events, { seed: 3, seconds: 1 });
  expect(report.violations).toEqual([]);
  expect(report.counted("events committed")).toBeGreaterThan(100);
  expect(report.counted("messages forged")).toBeGreaterThan(0);
  const faults = [
    "brokers killed (-9)",
    "PostgreSQL stopped (-m immediate)",
    "PostgreSQL of webhooks stopped (-m immediate)",
    "consumers frozen (SIGSTOP)",
    "consumers killed (-9)",
    "consumers killed at C7, committed",
    "consumers killed at C8, sent",
    "replicas joined",
    "relays frozen (SIGSTOP)",
    "relays killed (-9)",
    "relays killed at C6, published",
    "wall clocks stepped by one or two hours",
    "endpoints failing for some seconds",
    "endpoints hanging for some seconds",
    "columns renamed",
  ];
  expect(faults.filter((fault) => report.counted(fault) === 0)).toEqual([]);
  // On a busy machine a replica may be killed before its graceful shutdown ends.
  const left = ["replicas left (SIGTERM)", "replicas left too late, killed (-9)"];
  expect(left.some((counter) => report.counted(counter) > 0)).toBe(true);
});
