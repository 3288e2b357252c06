import { execFile } from "node:child_process";
import { join } from "node:path";
import { bundlesVariable } from "@amana/dev-env/service-process";
import type { System } from "@amana/dev-env/system";

const source = join(import.meta.dirname, "..", "..", "cli", "src", "amana.ts");
const outputBytesMax = 64 * 1024 * 1024;

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs the command `amana` with only the settings in `env`, so that the command finds no other
 * system on this machine. Test runs use a bundle of the command, because the bundle needs less than
 * half of the CPU time to start.
 */
export function execAmana(env: Record<string, string>, ...args: string[]): Promise<CommandResult> {
  const { PATH, NODE_COMPILE_CACHE, [bundlesVariable]: bundles } = process.env;
  // A test that sets NODE_OPTIONS observes the imports of source files. A bundle has no such
  // imports, so this test runs the source.
  const mayBundle = bundles && !env["NODE_OPTIONS"];
  const entry = mayBundle ? join(bundles, "services", "cli", "amana.js") : source;
  const cache = mayBundle ? join(bundles, "cache") : NODE_COMPILE_CACHE;
  const options = { env: { PATH, NODE_COMPILE_CACHE: cache, AMANA_DIR: "/nonexistent", ...env }, maxBuffer: outputBytesMax };
  return new Promise((resolve) => {
    const finish = (error: Error | null, out: string, err: string) =>
      resolve({ code: error ? Number((error as { code?: number }).code) : 0, out, err });
    execFile(process.execPath, [entry, ...args], options, finish);
  });
}

/** Runs `amana` and returns its standard output. Throws if the exit code is not 0. */
export async function runAmana(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { code, out, err } = await execAmana(env, ...args);
  if (code !== 0) throw new Error(`amana ${args.join(" ")} exited with code ${code}: ${err || out}`);
  return out;
}

/** Returns the database settings of the command. */
export const databaseSettings = (urls: System["databaseUrls"]): Record<string, string> =>
  Object.fromEntries(Object.entries(urls).map(([name, url]) => [`${name.toUpperCase()}_DATABASE_URL`, url]));
