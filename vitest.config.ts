import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./packages/testing/src/longest-first.ts";

// Tests start a hundred processes with the same modules. The first process stores the compiled
// modules in this folder, and the other processes load them.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules", ".cache", "node");

/**
 * There are two projects. "unit" contains the tests beside the code, which test rules or one RPC
 * with a real database. "system" contains the tests that start processes, Kafka or a browser.
 */
export default defineConfig({
  test: {
    globalSetup: ["packages/testing/src/postgres-setup.ts"],
    // Seven workers use two processors, because test files wait more than half of the time.
    maxWorkers: 7,
    // The test files of a worker share their modules, so that a worker loads the ORM and the
    // contracts only once.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Even on a busy machine, only a test that hangs reaches these timeouts.
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
