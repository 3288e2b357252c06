import { createWriteStream, type WriteStream } from "node:fs";
import { join } from "node:path";
import { acceptsConnections } from "./accepts-connections.ts";
import { DevEnvError } from "./dev-env-error.ts";
import { until } from "./eventually.ts";
import { runCommand } from "./run-command.ts";
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

const ownRoot = join(import.meta.dirname, "..", "..", "..");
/** Doubles with every crash, so that a service that cannot start does not fill the terminal. */
const restartPauseMs = 250;
const restartPauseMaxMs = 30_000;
const migrateTimeoutMs = 60_000;
const listenTimeoutMs = 30_000;

/**
 * Environment variable: a folder with a bundle of each service, as an image has it, or unset to run
 * the source. A bundle starts with a quarter of the CPU. Set by the tests, which start hundreds of
 * processes.
 */
export const bundlesVariable = "AMANA_SERVICE_BUNDLES";

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
  /** The project whose code it runs, dependencies installed; this one when absent. */
  root?: string;
  /** Told of every process it starts, its own restarts included. */
  onStart?(): Promise<void>;
  onCrash(name: string, output: string): void;
}): ServiceProcess {
  const { name, env, supervised, onCrash, root = ownRoot } = options;
  const logFile = join(options.logDir, `${name}.log`);
  let log: WriteStream | undefined;
  let server: ServerProcess | undefined;
  let wanted = false;
  let crashes = 0;

  const spawn = async (extraEnv: Record<string, string>) => {
    log ??= createWriteStream(logFile, { flags: "a" });
    const settings = { ...env, ...extraEnv };
    // Modules that NODE_OPTIONS preloads change the modules of the source, which a bundle contains.
    const fromSource = options.root !== undefined || Boolean(settings["NODE_OPTIONS"]);
    const program = serviceProgram(name, "main", { fromSource });
    const started = await spawnServer({
      command: process.execPath,
      args: [program.file],
      cwd: root,
      env: { ...inherited(), ...program.env, ...settings },
      log: (line) => log?.write(`${line}\n`),
    });
    server = started;
    void started.ended.then(() => restart(started));
    await options.onStart?.();
  };

  const restart = (ended: ServerProcess) => {
    const isMissed = () => wanted && server === ended;
    if (!isMissed()) return;
    onCrash(name, ended.recentOutput());
    if (!supervised) return;
    const pauseMs = Math.min(restartPauseMaxMs, restartPauseMs * 2 ** crashes++);
    setTimeout(() => {
      if (isMissed()) void spawn({});
    }, pauseMs).unref();
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
      await until(async () => !server?.running() || (await acceptsConnections("127.0.0.1", options.port)), listenTimeoutMs);
    },
    async stop() {
      wanted = false;
      await server?.stop();
      log?.end();
      log = undefined;
    },
    async kill() {
      wanted = false;
      await server?.kill();
    },
  };
}

/** Runs a service's `migrate` command to its end. */
export async function migrateService(name: string, env: Record<string, string>, signal?: AbortSignal): Promise<void> {
  const program = serviceProgram(name, "migrate");
  const done = await runCommand(process.execPath, [program.file], {
    timeoutMs: migrateTimeoutMs,
    cwd: ownRoot,
    env: { ...inherited(), ...program.env, ...env },
    signal,
  });
  if (done.ok) return;
  throw new DevEnvError(
    `The migrations of ${name} failed: ${done.failure}\n${done.output}`,
    "Nothing was changed: the data is as it was, and the version that made it still starts on it.",
  );
}

/**
 * Returns the file of a service's program, absolute or relative to the project's root, and the
 * variables of its process. The file is a bundle if `bundlesVariable` is set, unless `fromSource`.
 */
export function serviceProgram(
  name: string,
  program: "main" | "migrate",
  { fromSource = false } = {},
): { file: string; env: NodeJS.ProcessEnv } {
  const bundles = process.env[bundlesVariable];
  if (!bundles || fromSource) return { file: join("services", name, "src", `${program}.ts`), env: {} };
  return { file: join(bundles, "services", name, `${program}.js`), env: { NODE_COMPILE_CACHE: join(bundles, "cache") } };
}

/** What a service sees of this process's environment: nothing that could be its setting. */
function inherited(): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG, TZ, TMPDIR, NODE_COMPILE_CACHE, LOG_LEVEL } = process.env;
  return { PATH, HOME, LANG, TZ, TMPDIR, NODE_COMPILE_CACHE, LOG_LEVEL, NODE_NO_WARNINGS: "1" };
}
