import { createWriteStream, type WriteStream } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { sleep } from "@amana/runtime";
import { DevEnvError } from "./dev-env-error.ts";
import { runCommand } from "./run-command.ts";
import type { StopStep } from "./running-process.ts";
import { type ServerProcess, spawnServer } from "./server-process.ts";

export interface ServiceProcess {
  readonly name: string;
  readonly logFile: string;
  pid(): number | undefined;
  running(): boolean;
  /** Starts it, with settings that go before its own. Resolves when it listens or has ended. */
  start(extraEnv?: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
  /** Ends it as a crash does. It stays down until `start`. */
  kill(): Promise<void>;
  recentOutput(): string;
}

const root = join(import.meta.dirname, "..", "..", "..");
const stopSteps: readonly StopStep[] = [
  { signal: "SIGTERM", waitMs: 30_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
];
const killSteps: readonly StopStep[] = [{ signal: "SIGKILL", waitMs: 5_000 }];
const watchMs = 250;
/** Doubles with every crash, so that a service that cannot start does not fill the terminal. */
const restartPauseMs = 250;
const restartPauseMaxMs = 30_000;
const migrateTimeoutMs = 60_000;
const listenTimeoutMs = 30_000;
const listenPollMs = 20;

/**
 * One service as a process of its own, as a deployment would run it. What it writes goes to a log
 * file. Where `supervised`, a service that ends by itself is started again, and `onCrash` is told.
 */
export function serviceProcess(options: {
  name: string;
  env: Record<string, string>;
  /** Where it will listen. */
  port: number;
  logDir: string;
  supervised: boolean;
  /** Told of every process it starts, its own restarts included. */
  onStart?(): Promise<void>;
  onCrash(name: string, output: string): void;
}): ServiceProcess {
  const { name, env, supervised, onCrash } = options;
  const logFile = join(options.logDir, `${name}.log`);
  let log: WriteStream | undefined;
  let server: ServerProcess | undefined;
  let wanted = false;
  let crashes = 0;

  const spawn = async (extraEnv: Record<string, string>) => {
    log ??= createWriteStream(logFile, { flags: "a" });
    server = await spawnServer({
      command: process.execPath,
      args: [join("services", name, "src", "main.ts")],
      cwd: root,
      env: { ...inherited(), ...env, ...extraEnv },
      exitSignal: "SIGTERM",
      log: (line) => log?.write(`${line}\n`),
    });
    await options.onStart?.();
  };

  const supervise = () => {
    const started = server;
    const timer = setInterval(() => {
      if (!wanted || server !== started) return clearInterval(timer);
      if (started?.running()) return;
      clearInterval(timer);
      onCrash(name, started?.recentOutput() ?? "");
      if (!supervised) return;
      crashes++;
      const pauseMs = Math.min(restartPauseMaxMs, restartPauseMs * 2 ** (crashes - 1));
      setTimeout(() => {
        if (wanted && server === started) void spawn({}).then(supervise);
      }, pauseMs).unref();
    }, watchMs);
    timer.unref();
  };

  const listening = async () => {
    const endsAtMs = performance.now() + listenTimeoutMs;
    while (server?.running() && performance.now() < endsAtMs && !(await accepts(options.port))) await sleep(listenPollMs);
  };

  const end = async (steps: readonly StopStep[]) => {
    wanted = false;
    await server?.stop(steps);
  };

  return {
    name,
    logFile,
    pid: () => (server?.running() ? server.pid : undefined),
    running: () => server?.running() ?? false,
    recentOutput: () => server?.recentOutput() ?? "",
    async start(extraEnv = {}) {
      wanted = true;
      await spawn(extraEnv);
      supervise();
      await listening();
    },
    async stop() {
      await end(stopSteps);
      log?.end();
      log = undefined;
    },
    kill: () => end(killSteps),
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** Runs a service's `migrate` command to its end. */
export async function migrateService(name: string, env: Record<string, string>): Promise<void> {
  const done = await runCommand(process.execPath, [join("services", name, "src", "migrate.ts")], {
    timeoutMs: migrateTimeoutMs,
    cwd: root,
    env: { ...inherited(), ...env },
  });
  if (done.ok) return;
  throw new DevEnvError(
    `The migrations of ${name} failed: ${done.failure}\n${done.output}`,
    "Nothing was changed: the data is as it was, and the version that made it still starts on it.",
  );
}

/** What a service sees of this process's environment: nothing that could be its setting. */
function inherited(): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG, TZ, TMPDIR, NODE_COMPILE_CACHE, LOG_LEVEL } = process.env;
  return { PATH, HOME, LANG, TZ, TMPDIR, NODE_COMPILE_CACHE, LOG_LEVEL, NODE_NO_WARNINGS: "1" };
}
