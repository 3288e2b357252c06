import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stopLeftover } from "../leftover-server.ts";
import type { StopStep } from "../running-process.ts";

export const cleanStop: readonly StopStep[] = [
  { signal: "SIGTERM", waitMs: 15_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
];

const pidFile = (dir: string) => join(dir, "kafka.pid");

/** Java flags that mark the broker with its folder and its starter. */
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

/** Stops a broker that a killed run left behind. Throws as `stopLeftover` does. */
export async function stopLeftoverKafka(dir: string): Promise<void> {
  const pid = Number(await readFile(pidFile(dir), "utf8").catch(() => ""));
  if (!Number.isInteger(pid) || pid <= 1) return;
  const isIt = (command: string) => `${command} `.includes(` -Damana.kafka.dir=${dir} `);
  await stopLeftover({ name: "Kafka", dir, pid, isIt, owner: /-Damana\.owner=(\d+)/, stopSteps: cleanStop });
  await removePid(dir);
}
