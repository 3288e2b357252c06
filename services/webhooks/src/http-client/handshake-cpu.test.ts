import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HandshakeCpu } from "./handshake-cpu.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => vi.useRealTimers());

test("HandshakeCpu returns the time until a quarter of a processor has provided the CPU time of a business above a burst of 250 ms", () => {
  const cpu = new HandshakeCpu();
  for (let handshakes = 0; handshakes < 100; handshakes++) cpu.begin("a");
  expect(cpu.holdMs("a")).toBe(0);
  cpu.add("a", 50);
  expect([cpu.holdMs("a"), cpu.holdMs("b")]).toEqual([200, 0]);
  cpu.add("a", 50);
  expect(cpu.holdMs("a")).toBe(400);
  vi.advanceTimersByTime(300);
  expect(cpu.holdMs("a")).toBe(100);
  vi.advanceTimersByTime(3_600_000);
  cpu.add("a", 251);
  expect(cpu.holdMs("a")).toBe(4);
});
