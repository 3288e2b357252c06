import { type ChildProcess, type ChildProcessByStdio, type SpawnOptions, spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";

/**
 * Shell script of the guard process. The current process writes lines of `signal:pid` words to the
 * script; the last of these lines lists the processes that still run. A line that begins with "+"
 * adds a process to the list. When the current process ends for any reason, the input of the script
 * ends. The script then sends each listed process its signal and CONT, because a frozen process
 * handles a signal only after CONT.
 */
const script = `trap '' INT TERM HUP
while read -r line; do case $line in +*) running="$running \${line#+}";; *) running=$line;; esac; done
for entry in $running; do kill -s "\${entry%%:*}" -- "\${entry#*:}"; kill -s CONT -- "\${entry#*:}"; done`;

const running = new Map<number, NodeJS.Signals>();
let guard: ChildProcess | undefined;

/**
 * Sends `signal` to the process `pid` when the current process ends for any reason, even by
 * SIGKILL. A negative `pid` means the process group `-pid`. Returns a function that cancels the
 * registration.
 */
export function endWithParent(pid: number, signal: NodeJS.Signals): () => void {
  running.set(pid, signal);
  updateGuard();
  return () => {
    if (running.delete(pid)) updateGuard();
  };
}

/**
 * Starts a child process, which gets `signal` if the current process ends first. The guard already
 * runs when the child starts, and the child is registered with the guard in the same turn of the
 * event loop. A child can therefore survive only if SIGKILL ends the current process between the
 * child's start and its registration.
 */
export function startUnderGuard<T extends ChildProcess>(signal: NodeJS.Signals, start: () => T): T {
  guard ??= startGuard();
  const child = start();
  if (child.pid !== undefined) child.once("exit", endWithParent(child.pid, signal));
  return child;
}

/**
 * Shell script that adds its own process to the guard's list, with the signal `$0`, and then
 * becomes the command `$@`. Descriptor 3 is the input of the guard.
 */
const register = 'echo "+$0:$$" >&3; exec "$@" 3>&-';

/**
 * Starts a server in its own process group. The server gets `signal` if the current process ends
 * first. The server is on the guard's list before its program runs, so it never survives, even if
 * SIGKILL ends the current process while `spawn` starts the server.
 */
export function spawnUnderGuard(
  signal: NodeJS.Signals,
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcessByStdio<null, Readable, Readable> {
  return startUnderGuard(signal, () => {
    const guardInput = guard?.stdin?.writable ? guard.stdin : "ignore";
    return spawn("/bin/sh", ["-c", register, signal.slice(3), command, ...args], {
      ...options,
      detached: true,
      stdio: ["ignore", "pipe", "pipe", guardInput],
    }) as ChildProcessByStdio<null, Readable, Readable>;
  });
}

/**
 * Returns the process id of the guard. A test that simulates the loss of all processes kills the
 * guard first.
 */
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
 * Ends the current process by the signal if no other listener handles the signal. Without any
 * listener, a signal could end the current process between the start of a child and the child's
 * registration.
 */
function endUnlessHandled(name: NodeJS.Signals): void {
  if (process.listenerCount(name) === 0) process.kill(process.pid, name);
}
