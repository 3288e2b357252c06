import { DevEnvError } from "./dev-env-error.ts";
import { orderly, readProcess, type StopStep, stopByPid } from "./running-process.ts";
import type { LogLine } from "./server-process.ts";

/** A process that an earlier run may have left behind. */
export interface Leftover {
  readonly name: string;
  /** The folder it works on. */
  readonly dir: string;
  readonly pid: number;
  /** Whether a command line is of such a process here: the id may be another program's by now. */
  isIt(command: string): boolean;
  /** The process that started it. */
  starter(command: string): number;
  readonly stopSteps?: readonly StopStep[];
}

/**
 * Stops the process if it is there. Throws DevEnvError when the run that started it still lives: a
 * starter that died leaves its children to another parent, so an id that was given anew does not
 * deceive.
 */
export async function stopLeftover(leftover: Leftover, log?: LogLine): Promise<void> {
  const { name, dir, pid, isIt, starter, stopSteps = orderly } = leftover;
  const here = () => {
    const found = readProcess(pid);
    return found && isIt(found.command) ? found : undefined;
  };
  const found = here();
  if (found === undefined) return;
  if (found.parentPid === starter(found.command)) {
    throw new DevEnvError(
      `A ${name} is already running on ${dir}, started by process ${found.parentPid}, which is still at work.`,
      `Stop that one first (Ctrl-C at its terminal, or: kill ${found.parentPid}), or choose another folder (AMANA_DIR).`,
    );
  }
  log?.(`stopping the ${name} that an earlier run left behind (process ${pid})`);
  if (!(await stopByPid(pid, stopSteps, () => here() === undefined))) {
    throw new DevEnvError(`The ${name} of an earlier run (process ${pid}) does not end.`, `End it: kill -9 ${pid}`);
  }
}
