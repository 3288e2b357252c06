import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stopLeftover } from "../leftover.ts";

const ownerFlag = "-Damana.owner=";
const pidFile = (dir: string) => join(dir, "kafka.pid");

/** Java flags that mark the broker with its folder and its starter. */
export const ownerFlags = (dir: string): string[] => [`${ownerFlag}${process.pid}`, `-Damana.kafka.dir=${dir}`];

/** Remembers the broker that works on the folder. */
export const writePid = (dir: string, pid: number): Promise<void> => writeFile(pidFile(dir), `${pid}\n`);

/** Stops a broker that a killed run left behind. Throws as `stopLeftover` does. */
export async function stopLeftoverKafka(dir: string): Promise<void> {
  const pid = Number(await readFile(pidFile(dir), "utf8").catch(() => ""));
  const isIt = (command: string) => `${command} `.includes(` -Damana.kafka.dir=${dir} `);
  const starter = (command: string) => Number.parseInt(command.split(ownerFlag)[1] ?? "", 10);
  await stopLeftover({ name: "Kafka", dir, pid, isIt, starter });
}
