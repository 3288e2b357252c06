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
 * Runs the command `amana` with these settings, and with no other system on this machine to find.
 * A test run has a bundle of it, which starts with less than half of the CPU.
 */
export function amanaWith(env: Record<string, string>, ...args: string[]): Promise<CommandResult> {
  const { PATH, NODE_COMPILE_CACHE, [bundlesVariable]: bundles } = process.env;
  // Modules that NODE_OPTIONS preloads observe the modules of the source, which a bundle contains.
  const mayBundle = bundles && !env["NODE_OPTIONS"];
  const entry = mayBundle ? join(bundles, "services", "cli", "amana.js") : source;
  const cache = mayBundle ? join(bundles, "cache") : NODE_COMPILE_CACHE;
  const options = { env: { PATH, NODE_COMPILE_CACHE: cache, AMANA_DIR: "/nonexistent", ...env }, maxBuffer: outputBytesMax };
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
