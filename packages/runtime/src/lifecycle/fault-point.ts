import { readFileSync, renameSync } from "node:fs";

/** Path of a file with the next fault point and its signal. */
const file = process.env["FAULT_POINT_FILE"];
const armedPoint = process.env["FAULT_POINT"];

/**
 * Time for the signal to take effect. The thread is blocked for this time, so that no code runs.
 */
const waitMs = { SIGKILL: 5_000, SIGSTOP: 100 } as const;

/**
 * Kills the process, without any cleanup, when the setting FAULT_POINT has this name. Crash tests
 * use it to stop a service between two steps. FAULT_POINT_FILE is the path of a file that contains
 * the name and the signal, for example "refund.sending SIGSTOP". The file may be created while the
 * process runs. The first process that reaches the point renames the file to "<file>.<pid>". Both
 * settings prevent a start in production.
 */
export function faultPoint(name: string): void {
  const signal = armedPoint === name ? "SIGKILL" : claimSignal(name);
  if (!signal) return;
  process.kill(process.pid, signal);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs[signal]);
}

/** If the file contains this fault point, renames the file and returns the signal in it. */
function claimSignal(name: string): keyof typeof waitMs | undefined {
  if (file === undefined) return undefined;
  try {
    const [point, signal] = readFileSync(file, "utf8").split(" ");
    if (point !== name) return undefined;
    renameSync(file, `${file}.${process.pid}`);
    return signal === "SIGSTOP" ? signal : "SIGKILL";
  } catch {
    // There is no file, or another process has renamed the file first.
    return undefined;
  }
}

for (const name of ["FAULT_POINT", "FAULT_POINT_FILE"]) {
  if (process.env[name] && process.env["NODE_ENV"] === "production") {
    throw new Error(`${name} is for tests and not permitted in production. Remove it from the environment.`);
  }
}
