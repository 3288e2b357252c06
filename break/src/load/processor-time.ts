import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { System } from "@amana/dev-env/system";

/** In seconds since each began; what Linux tells of processes. Empty elsewhere. */
export type ProcessorTime = Readonly<Record<string, number>>;

const ticksPerSecond = 100;

/** Of each service and of PostgreSQL with all its processes. */
export async function processorTime(system: System): Promise<ProcessorTime> {
  const all = await readProcesses();
  const times: Record<string, number> = {};
  for (const { name, pid } of Object.values(system.services)) {
    const found = all.find((process) => process.pid === pid());
    if (found) times[name] = found.seconds;
  }
  const postgres = Number.parseInt(await readFile(join(system.logDir, "..", "postgres", "postmaster.pid"), "utf8"), 10);
  const its = all.filter(({ pid, parent }) => pid === postgres || parent === postgres);
  if (its.length > 0) times["postgres"] = its.reduce((sum, { seconds, ended }) => sum + seconds + ended, 0);
  return times;
}

/** How much of one processor each took between the two. */
export function shares(before: ProcessorTime, after: ProcessorTime, seconds: number): ProcessorTime {
  return Object.fromEntries(
    Object.entries(after).map(([name, time]) => [name, round((time - (before[name] ?? 0)) / seconds)] as const),
  );
}

const round = (share: number) => Math.round(share * 100) / 100;

async function readProcesses() {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")));
  return stats.filter(Boolean).map((stat) => {
    // The second field, a name in parentheses, may hold anything.
    const fields = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return {
      pid: Number.parseInt(stat, 10),
      parent: fields[1],
      seconds: (user + system) / ticksPerSecond,
      ended: (endedUser + endedSystem) / ticksPerSecond,
    };
  });
}
