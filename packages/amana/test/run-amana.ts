import { execFile } from "node:child_process";
import { join } from "node:path";
import { processEnv } from "@amana/testing";

const entry = join(import.meta.dirname, "..", "src", "amana.ts");

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The command as people run it, with these settings and no system of this machine in sight. */
export function amanaWith(env: Record<string, string>, ...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const done = (error: Error | null, out: string, err: string) =>
      resolve({ code: error ? Number((error as { code?: number }).code) : 0, out, err });
    execFile(process.execPath, [entry, ...args], { env: { ...processEnv, AMANA_DIR: "/nonexistent", ...env } }, done);
  });
}
