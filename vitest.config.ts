import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./packages/testing/src/longest-first.ts";

// Tests start a hundred processes with the same modules. The first process stores the compiled
// modules for the others.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules", ".cache", "node");

/**
 * Two projects: "unit" contains the tests beside the code (rules, one RPC on a real database),
 * "system" contains the tests that start processes, Kafka or a browser.
 */
export default defineConfig({
  test: {
    globalSetup: ["packages/testing/src/postgres-setup.ts"],
    // Test files wait for processes and timers half of the time, so four workers use two processors.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // Long enough for a busy machine, so that only tests that hang reach the timeout.
    testTimeout: 120_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 90_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: [
            "packages/*/src/**/*.test.ts",
            "services/*/src/**/*.test.ts",
            "sdks/typescript/src/**/*.test.ts",
            "chaos/src/**/*.test.ts",
            "cli/src/**/*.test.ts",
            "e2e/src/**/*.test.ts",
          ],
          // A worker loads the ORM and the contracts once instead of for each file. Test files share
          // only the state of modules.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "system",
          include: [
            "packages/*/test/**/*.test.ts",
            "services/*/test/**/*.test.ts",
            "bench/test/**/*.test.ts",
            "chaos/test/**/*.test.ts",
            "cli/test/**/*.test.ts",
            "e2e/test/**/*.test.ts",
            "sdks/test/**/*.test.ts",
          ],
          globalSetup: ["e2e/src/system-data.ts"],
          testTimeout: 600_000,
        },
      },
    ],
  },
});
