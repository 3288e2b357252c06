import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { readProcess } from "@amana/dev-env/running-process";
import { startSystem } from "@amana/dev-env/system";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copySystemData } from "../../src/system-data.ts";

const root = join(import.meta.dirname, "..", "..", "..");
/**
 * Python program that runs a command in a pseudo terminal. The terminal is closed when the program
 * ends.
 */
const terminal = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))";

let folder: string;
const children = new Set<ChildProcess>();

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "amana-stop-")));
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  await eventually(() => rm(folder, { recursive: true, force: true }));
});

/** Runs a program of this repository. The program writes all its files into `folder`. */
async function run(
  program: string,
  args: readonly string[] = [],
  prefix: readonly string[] = [],
  onOutput: (output: string, child: ChildProcess) => void = () => {},
) {
  const [port, sandboxPort] = await Promise.all([freePort(), freePort()]);
  const { VITEST: _, ...env } = process.env;
  const [command = "", ...commandArgs] = [...prefix, process.execPath, join(root, program), ...args];
  const child = spawn(command, commandArgs, {
    cwd: root,
    env: { ...env, AMANA_DIR: join(folder, "amana"), TMPDIR: folder, PORT: String(port), SANDBOX_PORT: String(sandboxPort) },
    stdio: "pipe",
  });
  children.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      onOutput(output, child);
    });
  }
  const waitForOutput = (text: string) => eventually(() => expect(output).toContain(text), 90_000);
  return { child, output: () => output, waitForOutput, ended: once(child, "exit") };
}

/** Returns the processes whose command line or environment contains `folder`. */
function findProcesses(): string[] {
  const lines = execFileSync("ps", ["axeww"], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 }).split("\n");
  return lines.filter((line) => line.includes(folder)).map((line) => line.slice(0, 400));
}

const waitForAllExits = () => eventually(() => expect(findProcesses()).toEqual([]), 30_000);

test("`pnpm start` ends all its processes when its terminal is closed", async () => {
  await copySystemData(join(folder, "amana"), { withPostgres: true });
  const start = await run("packages/dev-env/src/start.ts", ["--events=direct"], ["python3", "-c", terminal]);
  await start.waitForOutput("Ready after");
  expect(findProcesses().length).toBeGreaterThan(9);
  start.child.kill("SIGKILL");
  await waitForAllExits();
});

test("`pnpm start` prints that it stops, and prints no error, after Ctrl-C in a terminal while migrations run", async () => {
  // Sends Ctrl-C as soon as the output contains "Migrations". A later check of the output could
  // miss the migrations.
  let isSent = false;
  const sendOnce = (output: string, child: ChildProcess) => {
    if (isSent || !output.includes("Migrations")) return;
    isSent = true;
    child.stdin?.write("\x03");
  };
  const start = await run("packages/dev-env/src/start.ts", ["--events=direct"], ["python3", "-c", terminal], sendOnce);
  await start.ended;
  expect(start.output()).toContain("Migrations: stopped");
  expect(start.output()).toContain("Stopping: stopped before all services had started");
  expect(start.output()).not.toContain("✗");
  expect(findProcesses()).toEqual([]);
});

test("`pnpm demo`, after SIGINT, stops the system that it started", async () => {
  const demo = await run("packages/dev-env/src/demo/demo.ts");
  await demo.waitForOutput("Migrations");
  demo.child.kill("SIGINT");
  expect(await demo.ended).toEqual([130, null]);
  expect(demo.output()).not.toContain("✗");
  await waitForAllExits();
});

test("`pnpm bench`, after SIGTERM, ends all processes that it started", async () => {
  const bench = await run("bench/src/bench.ts", ["reads", "--rounds", "1", "--seconds", "1"]);
  await bench.waitForOutput("Migrations");
  bench.child.kill("SIGTERM");
  await bench.ended;
  await waitForAllExits();
});

test.each(["SIGINT", "SIGHUP", "SIGKILL"] as const)(
  "`pnpm test`, after %s, ends Vitest, PostgreSQL and all processes of its tests",
  async (signal) => {
    const suite = await run("packages/testing/src/run.ts", ["packages/dev-env/test/service-process.test.ts"]);
    await eventually(() => expect(findProcesses().join()).toContain("services/sandbox"), 90_000);
    expect(findProcesses().join()).toContain("/postgres");
    suite.child.kill(signal);
    await suite.ended;
    await waitForAllExits();
  },
);

test("startSystem stops the Kafka process that a killed run left, even if startSystem uses direct event transport", async () => {
  const dir = join(folder, "amana");
  const flags = ["-Damana.owner=1", `-Damana.kafka.dir=${join(dir, "kafka")}`, "kafka.Kafka"];
  const kafkaProcess = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "--", ...flags], { stdio: "ignore" });
  children.add(kafkaProcess);
  await mkdir(join(dir, "kafka"), { recursive: true });
  await writeFile(join(dir, "kafka", "kafka.pid"), `${kafkaProcess.pid}\n`);
  // startSystem first stops the Kafka process. Then it fails, because no PostgreSQL listens on this
  // port.
  const databaseUrl = "postgres://unreachable@127.0.0.1:1/none";
  await expect(startSystem({ dir, events: "direct", databaseUrl })).rejects.toThrow("could not be prepared");
  expect(readProcess(kafkaProcess.pid as number)).toBeUndefined();
});
