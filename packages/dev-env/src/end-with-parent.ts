import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Reads lines of `signal:pid` words; the last line names the processes that still run. Its input
 * ends when this process ends, for whatever reason. A frozen process handles a signal only when it
 * is continued.
 */
const script = `trap '' INT TERM HUP
while read -r line; do running=$line; done
for one in $running; do kill -s "\${one%%:*}" -- "\${one#*:}"; kill -s CONT -- "\${one#*:}"; done`;

const running = new Map<number, NodeJS.Signals>();
let guard: ChildProcess | undefined;

/**
 * Sends `signal` to the process `pid` (to the process group -pid when negative) as soon as this
 * process has ended without having called the returned function: by a signal (also SIGKILL), an
 * uncaught error or process.exit.
 */
export function endWithParent(pid: number, signal: NodeJS.Signals): () => void {
  running.set(pid, signal);
  tell();
  return () => {
    if (running.delete(pid)) tell();
  };
}

/**
 * Starts a process that gets `signal` as soon as this process ends before it. The guard is there
 * first and learns of the process in the same turn, so that only SIGKILL could come in between.
 */
export function startedUnderGuard<T extends ChildProcess>(signal: NodeJS.Signals, start: () => T): T {
  guard ??= startGuard();
  const child = start();
  if (child.pid !== undefined) child.once("exit", endWithParent(child.pid, signal));
  return child;
}

/**
 * The process that ends the others. A test that simulates the loss of all of them kills it first.
 */
export const guardPid = (): number | undefined => guard?.pid;

function tell(): void {
  guard ??= startGuard();
  guard.stdin?.write(`${[...running].map(([pid, signal]) => `${signal.slice(3)}:${pid}`).join(" ")}\n`);
}

/** In a session of its own: Ctrl-C and a closed terminal do not end it first. */
function startGuard(): ChildProcess {
  const started = spawn("/bin/sh", ["-c", script, "amana-guard"], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  started.unref();
  (started.stdin as Socket).unref();
  // Without it, processes are still stopped in an orderly end, and by the next start in the folder.
  started.on("error", () => {});
  started.stdin?.on("error", () => {});
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => endUnlessHandled(name));
  return started;
}

/** Without a listener, a signal would end this process in the middle of starting another one. */
function endUnlessHandled(name: NodeJS.Signals): void {
  if (process.listenerCount(name) === 0) process.kill(process.pid, name);
}
