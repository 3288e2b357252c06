import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { until } from "./eventually.ts";

export interface RunningProcess {
  parentPid: number;
  /** The command line, its words joined by single spaces. */
  command: string;
}

/** A signal, and how long it may take to have its effect. */
export interface StopStep {
  signal: NodeJS.Signals;
  waitMs: number;
}

/** In good order; if that takes too long, by force. */
export const orderly: readonly StopStep[] = [
  { signal: "SIGTERM", waitMs: 30_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
];

/** What runs under this process id; undefined when nothing does, or only a zombie. */
export function readProcess(pid: number): RunningProcess | undefined {
  try {
    return process.platform === "linux" ? readProc(pid) : readPs(pid);
  } catch {
    return undefined;
  }
}

function readProc(pid: number): RunningProcess | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is a name in parentheses, which may hold spaces and parentheses.
  const [state, parentPid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (state === "Z") return undefined;
  const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trimEnd();
  return { parentPid: Number(parentPid), command };
}

function readPs(pid: number): RunningProcess | undefined {
  const output = execFileSync("ps", ["-ww", "-o", "ppid=,stat=,command=", "-p", String(pid)], {
    encoding: "utf8",
    timeout: 5_000,
  });
  const [, parentPid, state, command] = /^\s*(\d+)\s+(\S+)\s+(.*)$/m.exec(output) ?? [];
  if (state === undefined || command === undefined || state.startsWith("Z")) return undefined;
  return { parentPid: Number(parentPid), command: command.trimEnd() };
}

/** Sends one signal after another until `isOver`; false when even the last had no effect. */
export async function stopByPid(pid: number, steps: readonly StopStep[], isOver: () => boolean): Promise<boolean> {
  if (isOver()) return true;
  for (const { signal, waitMs } of steps) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
    if (await until(isOver, waitMs)) return true;
  }
  return false;
}
