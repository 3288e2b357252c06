import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { startedUnderGuard } from "./end-with-parent.ts";
import { orderly, type StopStep, stopByPid } from "./running-process.ts";

/** Takes one line of a server's output, without its line end. */
export type LogLine = (line: string) => void;

export interface ServerProcess {
  readonly pid: number;
  /** Comes when the process has ended and its last output was read. */
  readonly ended: Promise<void>;
  /** False from the moment the process has ended, for whatever reason. */
  running(): boolean;
  /** The last lines it wrote, for a message about why it failed. */
  recentOutput(): string;
  /** Ends it in good order. Safe to call again. Throws when it survives every step. */
  stop(): Promise<void>;
  /** Ends it as a crash does. */
  kill(): Promise<void>;
}

export interface ServerProcessOptions {
  command: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  uid?: number | undefined;
  gid?: number | undefined;
  /** Steps that stop the server. Without the first step it ends as in a crash. */
  stopSteps?: readonly StopStep[];
  /**
   * Signal that the server gets when this process ends without having stopped it. SIGKILL when
   * absent: on another signal, a service would wait for requests of services that end too.
   */
  orphanSignal?: NodeJS.Signals;
  log?: LogLine;
}

const recentLinesMax = 20;

/**
 * Starts a server in a process group of its own: Ctrl-C at the terminal then reaches only the
 * starter, which stops its servers in the right order. Throws the system's error when the program
 * cannot be run.
 */
export async function spawnServer(options: ServerProcessOptions): Promise<ServerProcess> {
  const { command, args, cwd, env, uid, gid, stopSteps = orderly, orphanSignal = "SIGKILL", log } = options;
  const child = startedUnderGuard(orphanSignal, () =>
    spawn(command, args, { cwd, env, uid, gid, detached: true, stdio: ["ignore", "pipe", "pipe"] }),
  );

  const recent: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      if (recent.push(line) > recentLinesMax) recent.shift();
      log?.(line);
    });
  }

  await once(child, "spawn");
  const pid = child.pid as number;
  let running = true;
  // `close` comes after the last output was read, so that a message about a failure is complete.
  const ended = once(child, "close").then(() => {
    running = false;
  });

  const end = async (steps: readonly StopStep[]) => {
    if (!(await stopByPid(pid, steps, () => !running))) throw new Error(`${command} (process ${pid}) does not end`);
  };
  return {
    pid,
    ended,
    running: () => running,
    recentOutput: () => recent.join("\n"),
    stop: () => end(stopSteps),
    kill: () => end(stopSteps.slice(1)),
  };
}
