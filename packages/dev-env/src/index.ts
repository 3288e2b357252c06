/** Starts the whole system on one machine: for `start`, the demo, the end-to-end tests and the benchmarks. */
export { DevEnvError } from "./dev-env-error.ts";
export { type System, type SystemOptions, startSystem } from "./system.ts";
