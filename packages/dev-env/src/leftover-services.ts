import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DevEnvError } from "./dev-env-error.ts";
import { readProcess, stopByPid } from "./running-process.ts";

const file = "processes.json";

/** Remembers which processes belong to this data folder. */
export async function writeProcesses(dir: string, pids: readonly number[]): Promise<void> {
  await writeFile(join(dir, file), JSON.stringify({ starter: process.pid, pids })).catch(() => {});
}

interface Processes {
  starter: number;
  pids: number[];
}

async function readProcesses(dir: string): Promise<Processes> {
  const text = await readFile(join(dir, file), "utf8").catch(() => "");
  try {
    return { starter: 0, pids: [], ...(JSON.parse(text) as Partial<Processes>) };
  } catch {
    return { starter: 0, pids: [] };
  }
}

const isServiceOf = (starter: number) => (pid: number) => {
  const found = readProcess(pid);
  return found?.parentPid === starter && serviceCommand.test(found.command);
};

const serviceCommand = /services\/\w+\/src\/main\.ts/;

/** Throws DevEnvError while a system whose starter lives uses the folder. */
export async function requireNotRunning(dir: string): Promise<void> {
  const { starter, pids } = await readProcesses(dir);
  if (starter !== process.pid && pids.some(isServiceOf(starter))) {
    throw new DevEnvError(
      `A system is running on ${dir} already (process ${starter}).`,
      "Stop it first, with Ctrl-C in its terminal, or choose another folder with AMANA_DIR.",
    );
  }
}

/**
 * Ends services that a killed run left behind, by their process ids, after looking whether these
 * still are services of ours whose starter is gone: an id may have been given to another program
 * since.
 */
export async function stopLeftoverServices(dir: string): Promise<void> {
  const { starter, pids } = await readProcesses(dir);
  await Promise.all(
    pids.map(async (pid) => {
      const left = readProcess(pid);
      if (!left || left.parentPid === starter || !serviceCommand.test(left.command)) return;
      await stopByPid(
        pid,
        [
          { signal: "SIGTERM", waitMs: 3_000 },
          { signal: "SIGKILL", waitMs: 3_000 },
        ],
        () => readProcess(pid)?.command !== left.command,
      );
    }),
  );
}
