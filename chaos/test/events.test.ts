import { expect, test } from "vitest";
import { attempt } from "../src/attempt.ts";
import { events } from "../src/events/events.ts";

test("no event is lost, changed or invented, whatever is killed, frozen, forged or taken away", async () => {
  const report = await attempt(events, { seed: 3, seconds: 1 });
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
    "wall clocks stepped by an hour or two",
    "endpoints failing for a while",
    "endpoints hanging for a while",
    "columns taken away",
  ];
  expect(faults.filter((fault) => report.counted(fault) === 0)).toEqual([]);
  // On a busy machine a replica may be killed before its graceful shutdown ends.
  const left = ["replicas left (SIGTERM)", "replicas left too late, killed (-9)"];
  expect(left.some((how) => report.counted(how) > 0)).toBe(true);
});
