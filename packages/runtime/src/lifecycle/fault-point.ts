import { readFileSync, renameSync } from "node:fs";

/** The setting that names the file with the next point and its signal. */
const file = process.env["FAULT_POINT_FILE"];
const armed = process.env["FAULT_POINT"];

/** The signals come a moment after they are sent; nothing may run in between. */
const waitMs = { SIGKILL: 5_000, SIGSTOP: 100 } as const;

/**
 * Kills the process, without any clean-up, when the setting FAULT_POINT names this point: crash
 * tests stop a service exactly between two steps. With FAULT_POINT_FILE instead, the point and the
 * signal ("refund.sending SIGSTOP") stand in that file, which may come and go while the process
 * runs: whoever comes to the point first renames it to "<file>.<pid>". Production refuses both.
 */
export function faultPoint(name: string): void {
  const signal = armed === name ? "SIGKILL" : taken(name);
  if (!signal) return;
  process.kill(process.pid, signal);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs[signal]);
}

function taken(name: string): keyof typeof waitMs | undefined {
  if (file === undefined) return undefined;
  try {
    const [point, signal] = readFileSync(file, "utf8").split(" ");
    if (point !== name) return undefined;
    renameSync(file, `${file}.${process.pid}`);
    return signal === "SIGSTOP" ? signal : "SIGKILL";
  } catch {
    // There is none, or another process was faster.
    return undefined;
  }
}

for (const name of ["FAULT_POINT", "FAULT_POINT_FILE"]) {
  if (process.env[name] && process.env["NODE_ENV"] === "production") {
    throw new Error(`${name} is for tests and is refused in production. Remove it from the environment.`);
  }
}
