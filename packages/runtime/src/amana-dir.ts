import { join, resolve } from "node:path";

/**
 * Returns the data folder of the system that `start` runs: `AMANA_DIR`, relative to the root of the
 * project, or `.amana` there. An empty value counts as unset; resolved, it would be the root
 * itself.
 */
export function amanaDir(root: string): string {
  return resolve(root, process.env["AMANA_DIR"]?.trim() || join(root, ".amana"));
}
