/**
 * Kills the process, without any clean-up, when the setting FAULT_POINT names this point: crash
 * tests stop a service exactly between two steps. Production refuses the setting.
 */
export function faultPoint(name: string): void {
  if (armed !== name) return;
  process.kill(process.pid, "SIGKILL");
  // SIGKILL is delivered asynchronously; nothing may run in between.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_000);
}

const armed = process.env["FAULT_POINT"];

if (armed && process.env["NODE_ENV"] === "production") {
  throw new Error("FAULT_POINT is for tests and is refused in production. Remove it from the environment.");
}
