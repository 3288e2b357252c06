import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { waitUntil } from "./eventually.ts";

interface RunningProcess {
  parentPid: number;
  /** The command line, its words joined by single spaces. */
  command: string;
}

/** A signal, and the time within which the process must end after the signal. */
export interface StopStep {
  signal: NodeJS.Signals;
  waitMs: number;
}

/** SIGTERM, then SIGKILL. */
export const gracefulStopSteps: readonly StopStep[] = [
  { signal: "SIGTERM", waitMs: 30_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
];

/** Returns the process, or undefined if it has ended or is a zombie. */
export function readProcess(pid: number): RunningProcess | undefined {
  try {
    return process.platform === "linux" ? readProc(pid) : readPs(pid);
  } catch {
    return undefined;
  }
}

function readProc(pid: number): RunningProcess | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is a name in parentheses, which can contain spaces and parentheses.
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

/**
 * Sends the signals in order until `hasEnded` returns true. Returns false if the process has not
 * ended after the last signal.
 */
export async function stopByPid(pid: number, steps: readonly StopStep[], hasEnded: () => boolean): Promise<boolean> {
  if (hasEnded()) return true;
  for (const { signal, waitMs } of steps) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
    if (await waitUntil(hasEnded, waitMs)) return true;
  }
  return false;
}
