import { DevEnvError } from "./dev-env-error.ts";
import { gracefulStopSteps, readProcess, type StopStep, stopByPid } from "./running-process.ts";
import type { LogLine } from "./server-process.ts";

/** A process of an earlier run that may still run. */
interface Leftover {
  readonly name: string;
  /** Data folder of the process. */
  readonly dir: string;
  readonly pid: number;
  /**
   * Returns whether a command line belongs to this process. Another program may now have the id of
   * this process.
   */
  matches(command: string): boolean;
  /** Returns the id of the process that started this process, from its command line. */
  starterPidOf(command: string): number;
  readonly stopSteps?: readonly StopStep[];
}

/**
 * Stops the process if it runs. Throws DevEnvError if the program that started the process still
 * runs. To detect this, compares the id of that program with the current parent of the process:
 * when a parent ends, its children get another parent. Another program that later has the same id
 * is therefore not mistaken for the program that started the process.
 */
export async function stopLeftover(leftover: Leftover, log?: LogLine): Promise<void> {
  const { name, dir, pid, matches, starterPidOf, stopSteps = gracefulStopSteps } = leftover;
  const findProcess = () => {
    const running = readProcess(pid);
    return running && matches(running.command) ? running : undefined;
  };
  const running = findProcess();
  if (running === undefined) return;
  if (running.parentPid === starterPidOf(running.command)) {
    throw new DevEnvError(
      `A ${name} is already running on ${dir}. Process ${running.parentPid} started it and still runs.`,
      `Stop that process (Ctrl-C in its terminal, or: kill ${running.parentPid}), or choose another folder (AMANA_DIR).`,
    );
  }
  log?.(`stopping the ${name} of an earlier run (process ${pid})`);
  if (!(await stopByPid(pid, stopSteps, () => findProcess() === undefined))) {
    throw new DevEnvError(`The ${name} of an earlier run (process ${pid}) does not end.`, `Run: kill -9 ${pid}`);
  }
}
