import { execFile } from "node:child_process";
import { join } from "node:path";
import type { System } from "@amana/dev-env/system";

const entry = join(import.meta.dirname, "..", "..", "cli", "src", "amana.ts");
const { PATH, NODE_COMPILE_CACHE } = process.env;
const outputBytesMax = 64 * 1024 * 1024;

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The command as people run it, with these settings and no system of this machine in sight. */
export function amanaWith(env: Record<string, string>, ...args: string[]): Promise<Ended> {
  const options = { env: { PATH, NODE_COMPILE_CACHE, AMANA_DIR: "/nonexistent", ...env }, maxBuffer: outputBytesMax };
  return new Promise((resolve) => {
    const done = (error: Error | null, out: string, err: string) =>
      resolve({ code: error ? Number((error as { code?: number }).code) : 0, out, err });
    execFile(process.execPath, [entry, ...args], options, done);
  });
}

/** The same, for who has no use for a refusal: answers what it prints, throws its complaint. */
export async function amanaDone(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { code, out, err } = await amanaWith(env, ...args);
  if (code !== 0) throw new Error(`amana ${args.join(" ")} ended with ${code}: ${err || out}`);
  return out;
}

/** The settings that say where the databases are, for the command. */
export const databaseSettings = (urls: System["databaseUrls"]): Record<string, string> =>
  Object.fromEntries(Object.entries(urls).map(([name, url]) => [`${name.toUpperCase()}_DATABASE_URL`, url]));
