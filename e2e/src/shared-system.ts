import { afterAll, beforeAll } from "vitest";
import { startTestSystem, type TestSystem } from "./test-system.ts";

let system: TestSystem | undefined;

/**
 * Starts a system for all suites of the calling test file. A suite is a module without the suffix
 * `.test.ts`, which the test file imports within a `describe`. Hooks of the suite therefore apply
 * only to the tests of that suite. Suites run one after another. Each suite creates its own
 * businesses, and removes its faults and starts its stopped services before it ends.
 */
export function shareSystem(events: "kafka" | "direct", env: Parameters<typeof startTestSystem>[1] = {}): void {
  beforeAll(async () => {
    system = await startTestSystem(events, env);
  });
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    system = undefined;
  });
}

/** Returns the system of the test file that imports the calling suite. */
export function sharedSystem(): TestSystem {
  if (!system) throw new Error("No shared system runs. Call shareSystem in the test file, and sharedSystem in a hook or test.");
  return system;
}
