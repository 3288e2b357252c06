import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Script of the guard. It reads lines of `signal:pid` words; the last line lists the processes that
 * still run. When this process ends for any reason, the input of the script ends. The script then
 * sends each signal, followed by CONT, because a frozen process handles a signal only after it was
 * continued.
 */
const script = `trap '' INT TERM HUP
while read -r line; do running=$line; done
for entry in $running; do kill -s "\${entry%%:*}" -- "\${entry#*:}"; kill -s CONT -- "\${entry#*:}"; done`;

const running = new Map<number, NodeJS.Signals>();
let guard: ChildProcess | undefined;

/**
 * Sends `signal` to the process `pid` (to the process group -pid when negative) when this process
 * ends: by a signal (also SIGKILL), an uncaught error or process.exit. Returns a function that
 * cancels this.
 */
export function endWithParent(pid: number, signal: NodeJS.Signals): () => void {
  running.set(pid, signal);
  updateGuard();
  return () => {
    if (running.delete(pid)) updateGuard();
  };
}

/**
 * Starts a child process. The child gets `signal` if this process ends first. The guard runs before
 * the child starts. The child is registered with the guard in the same turn of the event loop, so
 * it survives only if SIGKILL ends this process between its start and its registration.
 */
export function startedUnderGuard<T extends ChildProcess>(signal: NodeJS.Signals, start: () => T): T {
  guard ??= startGuard();
  const child = start();
  if (child.pid !== undefined) child.once("exit", endWithParent(child.pid, signal));
  return child;
}

/** Returns the pid of the guard. A test that simulates the loss of all processes kills it first. */
export const guardPid = (): number | undefined => guard?.pid;

function updateGuard(): void {
  guard ??= startGuard();
  guard.stdin?.write(`${[...running].map(([pid, signal]) => `${signal.slice(3)}:${pid}`).join(" ")}\n`);
}

/** Starts the guard in its own session, so that Ctrl-C or a closed terminal does not end it. */
function startGuard(): ChildProcess {
  const started = spawn("/bin/sh", ["-c", script, "amana-guard"], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  started.unref();
  (started.stdin as Socket).unref();
  // Ignores errors of the guard: a graceful shutdown, or the next start in the folder, also stops
  // the processes.
  started.on("error", () => {});
  started.stdin?.on("error", () => {});
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => endUnlessHandled(name));
  return started;
}

/**
 * Ends this process by the signal if no other listener handles the signal. Without any listener, a
 * signal could end this process between the start of a process and its registration.
 */
function endUnlessHandled(name: NodeJS.Signals): void {
  if (process.listenerCount(name) === 0) process.kill(process.pid, name);
}
