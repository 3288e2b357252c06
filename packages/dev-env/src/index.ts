/** Starts the whole system on one machine. */
export { DevEnvError } from "./dev-env-error.ts";
export { type System, type SystemOptions, startSystem } from "./system.ts";
