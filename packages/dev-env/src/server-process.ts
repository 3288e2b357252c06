import { once } from "node:events";
import { createInterface } from "node:readline";
import { spawnUnderGuard } from "./end-with-parent.ts";
import { gracefulStopSteps, type StopStep, stopByPid } from "./running-process.ts";

/** Receives a line of a server's output, without its line end. */
export type LogLine = (line: string) => void;

export interface ServerProcess {
  readonly pid: number;
  /** Resolves when the process has ended and its last output was read. */
  readonly ended: Promise<void>;
  isRunning(): boolean;
  /** Returns the last lines of the process's output, for error messages. */
  recentOutput(): string;
  /** Stops the process gracefully. Idempotent. Throws if the process still runs after all steps. */
  stop(): Promise<void>;
  /** Ends the process as in a crash. */
  kill(): Promise<void>;
}

interface ServerProcessOptions {
  command: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
  /** Steps that stop the server. `kill` skips the first step, the graceful shutdown. */
  stopSteps?: readonly StopStep[];
  /**
   * Signal that the server gets when this process ends without stopping the server. Default:
   * SIGKILL. With another signal, a service would shut down gracefully and wait for its requests to
   * other services, although these end at the same time.
   */
  orphanSignal?: NodeJS.Signals;
  log?: LogLine;
}

const recentLinesMax = 20;

/**
 * Starts a server in its own process group. Ctrl-C in the terminal therefore reaches only this
 * process, which stops its servers in the right order. If the program cannot be run, the server
 * ends at once, and its output states the reason.
 */
export async function spawnServer(options: ServerProcessOptions): Promise<ServerProcess> {
  const { command, args, cwd, env, uid, gid, stopSteps = gracefulStopSteps, orphanSignal = "SIGKILL", log } = options;
  const child = spawnUnderGuard(orphanSignal, command, args, { cwd, env, uid, gid });

  const recent: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      if (recent.push(line) > recentLinesMax) recent.shift();
      log?.(line);
    });
  }

  await once(child, "spawn");
  const pid = child.pid as number;
  let isRunning = true;
  // `close` is emitted after the last output was read, so that error messages are complete.
  const ended = once(child, "close").then(() => {
    isRunning = false;
  });

  const end = async (steps: readonly StopStep[]) => {
    if (!(await stopByPid(pid, steps, () => !isRunning))) throw new Error(`${command} (process ${pid}) does not end`);
  };
  return {
    pid,
    ended,
    isRunning: () => isRunning,
    recentOutput: () => recent.join("\n"),
    stop: () => end(stopSteps),
    kill: () => end(stopSteps.slice(1)),
  };
}
