import { createWriteStream, type WriteStream } from "node:fs";
import { join } from "node:path";
import { acceptsConnections } from "./accepts-connections.ts";
import { DevEnvError } from "./dev-env-error.ts";
import { waitUntil } from "./eventually.ts";
import { runCommand } from "./run-command.ts";
import { type ServerProcess, spawnServer } from "./server-process.ts";

export interface ServiceProcess {
  readonly name: string;
  readonly logFile: string;
  pid(): number | undefined;
  isRunning(): boolean;
  /**
   * Starts the service. `extraEnv` overrides settings. Resolves when the service listens or has
   * ended.
   */
  start(extraEnv?: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
  /** Ends the service as in a crash. The service stays down until `start`. */
  kill(): Promise<void>;
  recentOutput(): string;
}

const ownRoot = join(import.meta.dirname, "..", "..", "..");
/**
 * Pause before the first restart. The pause doubles after each crash, so that a service that cannot
 * start does not fill the terminal.
 */
const restartPauseMs = 250;
const restartPauseMaxMs = 30_000;
/** Long enough for a machine that other programs keep busy. */
const migrateTimeoutMs = 300_000;
const listenTimeoutMs = 120_000;

/**
 * Environment variable with the path of a folder that contains a bundle of each service, as in an
 * image. If it is unset, services run from source. The start of a bundle needs a quarter of the CPU
 * time. The tests set the variable, because they start hundreds of processes. A service whose own
 * settings contain the variable with the value "" runs from source.
 */
export const bundlesVariable = "AMANA_SERVICE_BUNDLES";

/**
 * Creates a service in its own process, as in a deployment, with its output in a log file. If the
 * service exits unexpectedly, `onCrash` is called. With `supervised`, the service is then started
 * again.
 */
export function createServiceProcess(options: {
  name: string;
  env: Record<string, string>;
  /** Port on which the service listens. */
  port: number;
  logDir: string;
  supervised: boolean;
  /**
   * Root of the project whose code the service runs, with installed dependencies. Default: this
   * project.
   */
  root?: string;
  /** Called after each start of a process, including restarts. */
  onStart?(): Promise<void>;
  onCrash(name: string, output: string): void;
}): ServiceProcess {
  const { name, env, supervised, onCrash, root = ownRoot } = options;
  const logFile = join(options.logDir, `${name}.log`);
  let log: WriteStream | undefined;
  let server: ServerProcess | undefined;
  let shouldRun = false;
  let crashes = 0;

  const spawn = async (extraEnv: Record<string, string>) => {
    log ??= createWriteStream(logFile, { flags: "a" });
    const settings = { ...env, ...extraEnv };
    const fromSource = options.root !== undefined || settings[bundlesVariable] === "";
    const program = serviceProgram(name, "main", { fromSource });
    const started = await spawnServer({
      command: process.execPath,
      args: [program.file],
      cwd: root,
      env: { ...inheritedEnv(), ...program.env, ...settings },
      log: (line) => log?.write(`${line}\n`),
    });
    server = started;
    void started.ended.then(() => restart(started));
    await options.onStart?.();
  };

  const restart = (ended: ServerProcess) => {
    const hasCrashed = () => shouldRun && server === ended;
    if (!hasCrashed()) return;
    onCrash(name, ended.recentOutput());
    if (!supervised) return;
    const pauseMs = Math.min(restartPauseMaxMs, restartPauseMs * 2 ** crashes++);
    setTimeout(() => {
      if (hasCrashed()) void spawn({});
    }, pauseMs).unref();
  };

  return {
    name,
    logFile,
    pid: () => (server?.isRunning() ? server.pid : undefined),
    isRunning: () => server?.isRunning() ?? false,
    recentOutput: () => server?.recentOutput() ?? "",
    async start(extraEnv = {}) {
      shouldRun = true;
      await spawn(extraEnv);
      await waitUntil(async () => !server?.isRunning() || (await acceptsConnections("127.0.0.1", options.port)), listenTimeoutMs);
    },
    async stop() {
      shouldRun = false;
      await server?.stop();
      log?.end();
      log = undefined;
    },
    async kill() {
      shouldRun = false;
      await server?.kill();
    },
  };
}

/** Runs the `migrate` command of a service. Throws DevEnvError if the command fails. */
export async function migrateService(name: string, env: Record<string, string>, signal?: AbortSignal): Promise<void> {
  const program = serviceProgram(name, "migrate");
  const result = await runCommand(process.execPath, [program.file], {
    timeoutMs: migrateTimeoutMs,
    cwd: ownRoot,
    env: { ...inheritedEnv(), ...program.env, ...env },
    signal,
  });
  if (result.ok) return;
  throw new DevEnvError(
    `The migrations of ${name} failed: ${result.failure}\n${result.output}`,
    "The data is unchanged. The version of Amana that created the data can still use it.",
  );
}

/**
 * Returns the file of a service's program, and the environment variables of its process. The file
 * is absolute or relative to the project's root. It is a file of the bundle if `bundlesVariable` is
 * set and `fromSource` is false.
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

/**
 * Returns the environment variables that a service inherits. The service could mistake other
 * variables of this process for its settings.
 */
function inheritedEnv(): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG, TZ, TMPDIR, NODE_COMPILE_CACHE, LOG_LEVEL } = process.env;
  return { PATH, HOME, LANG, TZ, TMPDIR, NODE_COMPILE_CACHE, LOG_LEVEL, NODE_NO_WARNINGS: "1" };
}
