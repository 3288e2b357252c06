import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DevEnvError } from "../dev-env-error.ts";
import { readProcess, type StopStep, starterLives, stopByPid } from "../running-process.ts";
import type { LogLine } from "../server-process.ts";

export const cleanStop: readonly StopStep[] = [
  { signal: "SIGTERM", waitMs: 15_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
];

const pidFile = (dir: string) => join(dir, "kafka.pid");

/** Java flags that mark the broker with its folder and its starter, see `starterLives`. */
export function ownerFlags(dir: string): string[] {
  return [`-Damana.owner=${process.pid}`, `-Damana.kafka.dir=${dir}`];
}

/** Remembers the broker that works on the folder. */
export async function writePid(dir: string, pid: number): Promise<void> {
  await writeFile(pidFile(dir), `${pid}\n`);
}

/** Forgets it, once it has ended. */
export async function removePid(dir: string): Promise<void> {
  await rm(pidFile(dir), { force: true });
}

/**
 * Stops a broker that an earlier, killed run left behind on this folder. Throws DevEnvError when the run that
 * started it still lives.
 */
export async function stopLeftoverKafka(dir: string, log: LogLine): Promise<void> {
  const pid = Number(await readFile(pidFile(dir), "utf8").catch(() => ""));
  if (!Number.isInteger(pid) || pid <= 1) return;

  const kafkaHere = () => {
    const found = readProcess(pid);
    return found && `${found.command} `.includes(` -Damana.kafka.dir=${dir} `) ? found : undefined;
  };
  const kafka = kafkaHere();
  if (kafka !== undefined) {
    if (starterLives(kafka, /-Damana\.owner=(\d+)/)) {
      throw new DevEnvError(
        `A Kafka is already running on ${dir}, started by process ${kafka.parentPid}, which is still at work.`,
        `Stop that one first (Ctrl-C at its terminal, or: kill ${kafka.parentPid}), or choose another folder.`,
      );
    }
    log(`stopping the Kafka that an earlier run left behind (process ${pid})`);
    if (!(await stopByPid(pid, cleanStop, () => kafkaHere() === undefined))) {
      throw new DevEnvError(`The Kafka of an earlier run (process ${pid}) does not end.`, `End it: kill -9 ${pid}`);
    }
  }
  await removePid(dir);
}
