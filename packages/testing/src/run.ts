/** The command `test`: runs all tests, or the files whose paths contain one of the words. */
import { spawn } from "node:child_process";
import { chmodSync, globSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { createCommand, runCommandLine } from "@amana/dev-env/command-line";
import { endWithParent } from "@amana/dev-env/end-with-parent";
import { changedTests } from "./changed-tests.ts";

interface TestOptions {
  readonly changed?: boolean;
  readonly testNamePattern?: string;
  readonly project?: string;
}

const root = join(import.meta.dirname, "..", "..", "..");
/** Folder of a file system in memory (Linux). */
const memoryDir = "/dev/shm";
/**
 * Minimum free space for a data folder in memory. It is several times the space that the tests use.
 * In a container, /dev/shm has only 64 MB by default.
 */
const memoryBytesMin = 4 * 2 ** 30;
const reporters = ["--reporter=default", `--reporter=${join(import.meta.dirname, "closing-line.ts")}`];

const command = createCommand("test", "Run all tests, or the test files whose paths contain one of the words.");
command
  .argument("[words...]", "parts of paths of test files, such as payments or start.test.ts")
  .option("-t, --testNamePattern <pattern>", "run only tests whose names match this regular expression")
  .addOption(
    command.createOption("--project <name>", "run only the tests of this project (default: both)").choices(["unit", "system"]),
  )
  .option("--changed", "run only the tests of workspaces that differ from main, and tests that read files of all workspaces")
  .action(runTests);
await runCommandLine(command);

function runTests(words: string[], { changed = false, ...options }: TestOptions): void {
  const named = words.map((word) => (/^\.{0,2}\//.test(word) ? relative(root, resolve(word)) : word));
  requireMatches(named);
  const names = changed ? [...named, ...(changedTests(root) ?? [])] : named;
  const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  // Vitest gets its own process group, so that the processes of tests end with it.
  const dataDir = createDataDir();
  process.on("exit", () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 }));
  const vitest = spawn(join(root, "node_modules", ".bin", "vitest"), ["run", ...reporters, ...flags, ...names], {
    cwd: root,
    env: { ...process.env, TMPDIR: dataDir },
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
  });
  // The guard is never cancelled, so that processes that a test leaves running also end.
  if (vitest.pid !== undefined) endWithParent(-vitest.pid, "SIGTERM");
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => process.exit(128 + constants.signals[signal]));
  }
  vitest.on("exit", (code) => process.exit(code ?? 1));
}

/**
 * Creates the folder for the temporary files of the tests. Tests copy PostgreSQL folders of 70 MB,
 * so the folder is in memory if there is enough space and TMPDIR is not set.
 */
function createDataDir(): string {
  const parent = process.env["TMPDIR"] === undefined && freeBytes(memoryDir) >= memoryBytesMin ? memoryDir : tmpdir();
  const dir = mkdtempSync(join(parent, "amana-tests-"));
  // Permits all users to create files, because root's tests run PostgreSQL as another user.
  chmodSync(dir, 0o1777);
  return dir;
}

/** Returns the free bytes of the file system of `dir`, or 0 if `dir` does not exist. */
function freeBytes(dir: string): number {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

/** Rejects words that match no test file. Vitest ignores such a word if another word matches. */
function requireMatches(words: readonly string[]): void {
  const files = globSync("**/*.test.ts", { cwd: root, exclude: ["**/node_modules"] });
  const unmatched = words.filter((word) => !files.some((file) => file.includes(word.replace(/:\d+$/, ""))));
  if (unmatched.length === 0) return;
  command.error(`error: no test file matches ${unmatched.join(", ")}`);
}
