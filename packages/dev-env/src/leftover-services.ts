import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readProcess, stopByPid } from "./running-process.ts";

const file = "processes.json";

/** Remembers which processes belong to this data folder. */
export async function writeProcesses(dir: string, pids: readonly number[]): Promise<void> {
  await writeFile(join(dir, file), JSON.stringify({ starter: process.pid, pids })).catch(() => {});
}

/**
 * Ends services that a killed run left behind, by their process ids, after looking whether these still are services of
 * ours whose starter is gone: an id may have been given to another program since.
 */
export async function stopLeftoverServices(dir: string): Promise<void> {
  const text = await readFile(join(dir, file), "utf8").catch(() => "");
  const { starter = 0, pids = [] } = text ? (JSON.parse(text) as { starter?: number; pids?: number[] }) : {};
  await Promise.all(
    pids.map(async (pid) => {
      const left = readProcess(pid);
      if (!left || left.parentPid === starter || !/services\/\w+\/src\/main\.ts/.test(left.command)) return;
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
