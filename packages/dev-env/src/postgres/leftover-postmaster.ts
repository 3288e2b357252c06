import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { stopLeftover } from "../leftover.ts";
import { readProcess, type StopStep } from "../running-process.ts";
import type { LogLine } from "../server-process.ts";

/** In good order; if that does not end, as after a crash; then by force. */
export const cleanStop: readonly StopStep[] = [
  { signal: "SIGINT", waitMs: 30_000 },
  { signal: "SIGQUIT", waitMs: 10_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
];

const ownerFlag = "cluster_name=amana-owner-";

/** Marks the server with its starter. */
export const ownerSetting = `${ownerFlag}${process.pid}`;

/** Stops a server that a killed run left behind. Throws as `stopLeftover` does. */
export async function stopLeftoverPostmaster(dataDir: string, log?: LogLine): Promise<void> {
  const pidFile = join(dataDir, "postmaster.pid");
  const pid = Number((await readFile(pidFile, "utf8").catch(() => "")).split("\n")[0]);
  if (!(pid > 1)) return;
  const isIt = (command: string) => /\/postgres /.test(command) && `${command} `.includes(` -D ${dataDir} `);
  const starter = (command: string) => Number.parseInt(command.split(ownerFlag)[1] ?? "", 10);
  await stopLeftover({ name: "PostgreSQL", dir: dataDir, pid, isIt, starter, stopSteps: cleanStop }, log);
  // PostgreSQL takes any process with that id for a server at work, and would refuse to start.
  if (isAlive(pid) && !readProcess(pid)?.command.includes("postgres")) await rm(pidFile, { force: true });
}

/** True for a zombie too, as it is for PostgreSQL's own check. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
