import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Databases } from "./databases.ts";
import { readJson, writeJson } from "./json-file.ts";
import { inStep, type Progress } from "./progress.ts";
import { migrateService } from "./service-process.ts";
import { servicesWithDatabase } from "./services.ts";

const root = join(import.meta.dirname, "..", "..", "..");

/**
 * Runs the migrations. Skips a service whose migrations have already run on these databases,
 * because each migrate command starts a process.
 */
export async function migrateAll(dir: string, databases: Databases, progress: Progress, signal?: AbortSignal): Promise<void> {
  const stampFile = join(dir, "migrated.json");
  const storedDigests = (await readJson<Record<string, string>>(stampFile)) ?? {};
  const stamps = await Promise.all(
    servicesWithDatabase.map(async (name) => [name, `${await digestOfMigrations(name)} ${databases.clusterId}`] as const),
  );
  const outdated = stamps.filter(([name, stamp]) => storedDigests[name] !== stamp).map(([name]) => name);
  if (outdated.length === 0) return;
  await inStep(progress, "Migrations", async (step) => {
    await Promise.all(outdated.map((name) => migrateService(name, { DATABASE_URL: databases.ownerUrls[name] ?? "" }, signal)));
    await writeJson(stampFile, Object.fromEntries(stamps));
    step.done(outdated.join(", "));
  });
}

/**
 * Returns a digest of all migrations that a service can use: its own migrations and the migrations
 * of all packages.
 */
async function digestOfMigrations(service: string): Promise<string> {
  const hash = createHash("sha256");
  const files = globSync(`{packages/*,services/${service}}/migrations/*.sql`, { cwd: root });
  for (const file of files.sort()) hash.update(file).update(await readFile(join(root, file)));
  return hash.digest("hex").slice(0, 16);
}
