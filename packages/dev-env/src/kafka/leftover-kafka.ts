import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stopLeftover } from "../leftover.ts";

const ownerFlag = "-Damana.owner=";
const pidFile = (dir: string) => join(dir, "kafka.pid");

/** Returns Java flags with the id of this process and the folder, for the broker's command line. */
export const ownerFlags = (dir: string): string[] => [`${ownerFlag}${process.pid}`, `-Damana.kafka.dir=${dir}`];

/** Stores the id of the broker that uses the folder. */
export const writePid = (dir: string, pid: number): Promise<void> => writeFile(pidFile(dir), `${pid}\n`);

/** Stops a broker of a killed run. Throws as `stopLeftover` does. */
export async function stopLeftoverKafka(dir: string): Promise<void> {
  const pid = Number(await readFile(pidFile(dir), "utf8").catch(() => ""));
  const matches = (command: string) => `${command} `.includes(` -Damana.kafka.dir=${dir} `);
  const starterPidOf = (command: string) => Number.parseInt(command.split(ownerFlag)[1] ?? "", 10);
  await stopLeftover({ name: "Kafka", dir, pid, matches, starterPidOf });
}
