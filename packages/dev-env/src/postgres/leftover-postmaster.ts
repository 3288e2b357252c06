import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DevEnvError } from "../dev-env-error.ts";
import { readProcess, type StopStep, starterLives, stopByPid } from "../running-process.ts";
import type { LogLine } from "../server-process.ts";

/** Clients are disconnected and the data is written; if that does not end, as after a crash; then by force. */
export const cleanStop: readonly StopStep[] = [
  { signal: "SIGINT", waitMs: 30_000 },
  { signal: "SIGQUIT", waitMs: 10_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
];

const ownerFlag = "cluster_name=amana-owner-";

/** Marks the server with its starter, see `starterLives`. */
export const ownerSetting = `${ownerFlag}${process.pid}`;

/**
 * Stops a server that an earlier, killed run left behind on this data folder. Throws DevEnvError when the run
 * that started it still lives.
 */
export async function stopLeftoverPostmaster(dataDir: string, log: LogLine): Promise<void> {
  const pidFile = join(dataDir, "postmaster.pid");
  const pid = Number((await readFile(pidFile, "utf8").catch(() => "")).split("\n")[0]);
  if (!Number.isInteger(pid) || pid <= 1) return;

  const isPostmasterHere = () => {
    const found = readProcess(pid);
    return found && /\/postgres /.test(found.command) && `${found.command} `.includes(` -D ${dataDir} `) ? found : undefined;
  };
  const postmaster = isPostmasterHere();
  if (postmaster === undefined) {
    // PostgreSQL takes any process with that id for a server at work, and would refuse to start.
    if (isAlive(pid) && !readProcess(pid)?.command.includes("postgres")) await rm(pidFile, { force: true });
    return;
  }
  if (starterLives(postmaster, /cluster_name=amana-owner-(\d+)/)) {
    throw new DevEnvError(
      `A PostgreSQL is already running on ${dataDir}, started by process ${postmaster.parentPid}, which is still at work.`,
      `Stop that one first (Ctrl-C at its terminal, or: kill ${postmaster.parentPid}), or choose another folder.`,
    );
  }
  log(`stopping the PostgreSQL that an earlier run left behind (process ${pid})`);
  if (!(await stopByPid(pid, cleanStop, () => isPostmasterHere() === undefined))) {
    throw new DevEnvError(`The PostgreSQL of an earlier run (process ${pid}) does not end.`, `End it: kill -9 ${pid}`);
  }
}

/** True for a zombie too, as it is for PostgreSQL's own check. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
