import { resolve } from "node:path";

/**
 * Returns the data folder of the system that `start` runs: `AMANA_DIR`, or `.amana` in the root of
 * the project. An empty value counts as unset.
 */
export function amanaDir(root: string): string {
  return resolve(root, process.env["AMANA_DIR"]?.trim() || ".amana");
}
