import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { stopLeftover } from "../leftover.ts";
import { readProcess, type StopStep } from "../running-process.ts";
import type { LogLine } from "../server-process.ts";

/** Fast shutdown, then immediate shutdown, then SIGKILL. */
export const postgresStopSteps: readonly StopStep[] = [
  { signal: "SIGINT", waitMs: 30_000 },
  { signal: "SIGQUIT", waitMs: 10_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
];

const ownerFlag = "cluster_name=amana-owner-";

/** Setting that puts the id of this process into the server's command line. */
export const ownerSetting = `${ownerFlag}${process.pid}`;

/** Stops a server of a killed run. Throws as `stopLeftover` does. */
export async function stopLeftoverPostmaster(dataDir: string, log?: LogLine): Promise<void> {
  const pidFile = join(dataDir, "postmaster.pid");
  const pid = Number((await readFile(pidFile, "utf8").catch(() => "")).split("\n")[0]);
  if (!(pid > 1)) return;
  const matches = (command: string) => /\/postgres /.test(command) && `${command} `.includes(` -D ${dataDir} `);
  const starterPidOf = (command: string) => Number.parseInt(command.split(ownerFlag)[1] ?? "", 10);
  await stopLeftover({ name: "PostgreSQL", dir: dataDir, pid, matches, starterPidOf, stopSteps: postgresStopSteps }, log);
  // Removes the pid file if another program now has the process id in it, because PostgreSQL would
  // then not start.
  if (isAlive(pid) && !readProcess(pid)?.command.includes("postgres")) await rm(pidFile, { force: true });
}

/**
 * Returns whether the process exists. Counts a zombie as existing, as PostgreSQL's own check does.
 */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
