import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** CPU time and memory of processes, read from /proc. Both are 0 on systems other than Linux. */
export interface ProcessFigures {
  /** CPU time, including the CPU time of child processes that have ended. */
  readonly cpuSeconds: number;
  /** Resident memory. Shared memory is counted for each process. */
  readonly residentMb: number;
}

export type FiguresByName = Readonly<Record<string, ProcessFigures>>;

const ticksPerSecond = 100;

/** Returns the sum of the figures of the processes. */
export function readProcessFigures(pids: readonly number[]): ProcessFigures {
  return pids.map(readFigures).reduce(add, { cpuSeconds: 0, residentMb: 0 });
}

/**
 * Returns the figures of all descendants of a process by name. The name of a process is its
 * service, "postgres", "kafka" or, for any other process, the start of its command line.
 */
export function readFiguresOfDescendants(rootPid: number, nameOf = nameOfCommand): FiguresByName {
  const processes = readProcesses();
  const findDescendants = (pid: number): typeof processes =>
    processes.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...findDescendants(child.pid)]);
  const byName: Record<string, ProcessFigures> = {};
  for (const { pid, command } of findDescendants(rootPid)) {
    const name = nameOf(command);
    byName[name] = add(byName[name] ?? readProcessFigures([]), readFigures(pid));
  }
  return byName;
}

/** Returns, for each name, the share of one processor that was used between two readings. */
export function processorShares(before: FiguresByName, after: FiguresByName, seconds: number): Record<string, number> {
  const shares = Object.entries(after).map(([name, { cpuSeconds }]) => {
    const share = (cpuSeconds - (before[name]?.cpuSeconds ?? 0)) / seconds;
    return [name, Math.round(share * 100) / 100] as const;
  });
  return Object.fromEntries(shares);
}

/** Returns the peak resident memory of a process since its start or the last `resetPeak`. */
export function readPeakMb(pid: number): number {
  const [, kb = 0] = /^VmHWM:\s+(\d+) kB/m.exec(readProc(`${pid}/status`)) ?? [];
  return Number(kb) / 1024;
}

export function resetPeak(pid: number): void {
  if (process.platform === "linux") writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

const add = (a: ProcessFigures, b: ProcessFigures): ProcessFigures => ({
  cpuSeconds: a.cpuSeconds + b.cpuSeconds,
  residentMb: a.residentMb + b.residentMb,
});

function readFigures(pid: number): ProcessFigures {
  const ticks = statFields(pid).slice(11, 15).map(Number);
  const [, kb = 0] = /^VmRSS:\s+(\d+) kB/m.exec(readProc(`${pid}/status`)) ?? [];
  return { cpuSeconds: ticks.reduce((sum, ticksOfKind) => sum + ticksOfKind, 0) / ticksPerSecond, residentMb: Number(kb) / 1024 };
}

function readProcesses() {
  return readProcessIds().map((pid) => ({
    pid,
    parent: Number(statFields(pid)[1]),
    command: readProc(`${pid}/cmdline`).replaceAll("\0", " "),
  }));
}

function nameOfCommand(command: string): string {
  const [, service] = /services\/(\w+)\/src\/main\.ts/.exec(command) ?? [];
  if (service) return service;
  if (command.includes("kafka.Kafka")) return "kafka";
  return command.includes("postgres") ? "postgres" : command.slice(0, 30);
}

/** Returns the fields of /proc/<pid>/stat after the process name, which may contain any text. */
function statFields(pid: number): string[] {
  const stat = readProc(`${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function readProcessIds(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Returns the text of a file in /proc, or an empty string if the process has ended. */
function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return "";
  }
}
