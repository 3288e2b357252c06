import { join } from "node:path";
import { readJson, writeJson } from "./json-file.ts";
import { stopLeftover } from "./leftover.ts";
import { gracefulStopSteps } from "./running-process.ts";

interface Processes {
  /** Id of the process that started the services. */
  readonly starter: number;
  /** Ids of the services' processes. */
  readonly pids: readonly number[];
}

const fileIn = (dir: string) => join(dir, "processes.json");

/** Stores the ids of the processes that use this data folder. */
export async function writeProcesses(dir: string, pids: readonly number[]): Promise<void> {
  const processes: Processes = { starter: process.pid, pids };
  await writeJson(fileIn(dir), processes);
}

/** Stops services of a killed run. Throws as `stopLeftover` does. */
export async function stopLeftoverServices(dir: string): Promise<void> {
  const { starter: starterPid, pids } = (await readJson<Processes>(fileIn(dir))) ?? { starter: 0, pids: [] };
  const starterPidOf = () => starterPid;
  const matches = (command: string) => /services\/\w+\/src\/main\.ts/.test(command);
  // Sends SIGKILL first. Services tolerate a crash, and a graceful stop would wait for other
  // services that have already ended.
  const stopSteps = gracefulStopSteps.slice(1);
  await Promise.all(pids.map((pid) => stopLeftover({ name: "system", dir, pid, matches, starterPidOf, stopSteps })));
}
