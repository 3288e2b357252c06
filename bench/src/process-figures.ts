import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** What processes have used so far and hold now, by the accounting of Linux; nothing elsewhere. */
export interface ProcessFigures {
  /** CPU time, with that of children that ended. */
  readonly cpuSeconds: number;
  /** Shared memory is counted for each process. */
  readonly residentMb: number;
}

export type FiguresByName = Readonly<Record<string, ProcessFigures>>;

const ticksPerSecond = 100;

/** The sum over these processes. */
export function processFigures(pids: readonly number[]): ProcessFigures {
  return pids.map(readFigures).reduce(add, { cpuSeconds: 0, residentMb: 0 });
}

/**
 * Of everything below a process: by the names of services, "postgres" and "kafka" with all their
 * processes, or by command.
 */
export function figuresBelow(rootPid: number, nameOf = nameOfCommand): FiguresByName {
  const all = readProcesses();
  const below = (pid: number): typeof all =>
    all.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...below(child.pid)]);
  const byName: Record<string, ProcessFigures> = {};
  for (const { pid, command } of below(rootPid)) {
    const name = nameOf(command);
    byName[name] = add(byName[name] ?? processFigures([]), readFigures(pid));
  }
  return byName;
}

/** How much of one processor each took between the two. */
export function processorShares(before: FiguresByName, after: FiguresByName, seconds: number): Record<string, number> {
  const shares = Object.entries(after).map(([name, { cpuSeconds }]) => {
    const share = (cpuSeconds - (before[name]?.cpuSeconds ?? 0)) / seconds;
    return [name, Math.round(share * 100) / 100] as const;
  });
  return Object.fromEntries(shares);
}

/** The most memory that a process has had since it started, or since `forgetPeak`. */
export function peakMb(pid: number): number {
  const [, kb = 0] = /^VmHWM:\s+(\d+) kB/m.exec(readProc(`${pid}/status`)) ?? [];
  return Number(kb) / 1024;
}

export function forgetPeak(pid: number): void {
  if (process.platform === "linux") writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

const add = (a: ProcessFigures, b: ProcessFigures): ProcessFigures => ({
  cpuSeconds: a.cpuSeconds + b.cpuSeconds,
  residentMb: a.residentMb + b.residentMb,
});

function readFigures(pid: number): ProcessFigures {
  const ticks = statFields(pid).slice(11, 15).map(Number);
  const [, kb = 0] = /^VmRSS:\s+(\d+) kB/m.exec(readProc(`${pid}/status`)) ?? [];
  return { cpuSeconds: ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond, residentMb: Number(kb) / 1024 };
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

/** Those after the process's name, which stands in parentheses and may hold anything. */
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

/** Empty once the process has ended. */
function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return "";
  }
}
