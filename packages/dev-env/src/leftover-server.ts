import { DevEnvError } from "./dev-env-error.ts";
import { readProcess, type StopStep, stopByPid } from "./running-process.ts";
import type { LogLine } from "./server-process.ts";

/** A server that an earlier run may have left behind, as its pid file tells. */
export interface LeftoverServer {
  readonly name: string;
  /** The folder it works on. */
  readonly dir: string;
  readonly pid: number;
  /** Whether a command line is of such a server here: the id may be another program's. */
  isIt(command: string): boolean;
  /** Finds in its command line which process started it. */
  readonly owner: RegExp;
  readonly stopSteps: readonly StopStep[];
}

/**
 * Stops the server, and answers whether there was one. Throws DevEnvError when the run that started
 * it still lives: a starter that died leaves its children to another parent, so an id that was
 * given anew does not deceive.
 */
export async function stopLeftover(server: LeftoverServer, log?: LogLine): Promise<boolean> {
  const { name, dir, pid } = server;
  const here = () => {
    const found = readProcess(pid);
    return found && server.isIt(found.command) ? found : undefined;
  };
  const found = here();
  if (found === undefined) return false;
  if (found.parentPid === Number(server.owner.exec(found.command)?.[1])) {
    throw new DevEnvError(
      `A ${name} is already running on ${dir}, started by process ${found.parentPid}, which is still at work.`,
      `Stop that one first (Ctrl-C at its terminal, or: kill ${found.parentPid}), or choose another folder.`,
    );
  }
  log?.(`stopping the ${name} that an earlier run left behind (process ${pid})`);
  if (!(await stopByPid(pid, server.stopSteps, () => here() === undefined))) {
    throw new DevEnvError(`The ${name} of an earlier run (process ${pid}) does not end.`, `End it: kill -9 ${pid}`);
  }
  return true;
}
