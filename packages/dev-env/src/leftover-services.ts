import { join } from "node:path";
import { readJson, writeJson } from "./json-file.ts";
import { stopLeftover } from "./leftover.ts";
import { orderly } from "./running-process.ts";

interface Processes {
  readonly starter: number;
  readonly pids: readonly number[];
}

const fileIn = (dir: string) => join(dir, "processes.json");

/** Remembers which processes belong to this data folder. */
export async function writeProcesses(dir: string, pids: readonly number[]): Promise<void> {
  const processes: Processes = { starter: process.pid, pids };
  await writeJson(fileIn(dir), processes);
}

/** Ends services that a killed run left behind. Throws as `stopLeftover` does. */
export async function stopLeftoverServices(dir: string): Promise<void> {
  const { starter, pids } = (await readJson<Processes>(fileIn(dir))) ?? { starter: 0, pids: [] };
  const isIt = (command: string) => /services\/\w+\/src\/main\.ts/.test(command);
  // A crash must not harm them, and in good order they would wait for others that are gone.
  const stopSteps = orderly.slice(1);
  await Promise.all(pids.map((pid) => stopLeftover({ name: "system", dir, pid, isIt, starter: () => starter, stopSteps })));
}
