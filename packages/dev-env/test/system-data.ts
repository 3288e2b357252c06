import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureDatabases } from "../src/databases.ts";
import { migrateAll } from "../src/migrate-all.ts";
import { startPostgres } from "../src/postgres.ts";
import { silentProgress } from "../src/progress.ts";
import { runCommand } from "../src/run-command.ts";
import { readSecrets } from "../src/secrets.ts";
import { databaseOwners } from "../src/services.ts";

const variable = "AMANA_TEST_SYSTEM_DATA";
const copyTimeoutMs = 120_000;

/**
 * Vitest global setup: prepares the data folder of a system with migrated, empty databases.
 * `copySystemData` copies it, so that initdb and the migrations run once for a test run.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const dir = await mkdtemp(join(tmpdir(), "amana-system-data-"));
  const { databasePassword } = await readSecrets(dir);
  const postgres = await startPostgres({ dataDir: join(dir, "postgres"), durable: false, log: () => {} });
  try {
    const databases = await ensureDatabases(postgres.superuserUrl, databaseOwners, databasePassword);
    await migrateAll(dir, databases, silentProgress);
  } finally {
    await postgres.stop();
  }
  process.env[variable] = dir;
  return () => rm(dir, { recursive: true, force: true });
}

/** Copies the prepared data to `to`, which must not exist. Does nothing outside of a test run. */
export async function copySystemData(to: string): Promise<void> {
  const from = process.env[variable];
  if (from === undefined) return;
  // PostgreSQL's files may belong to another user; only `cp` keeps their owner.
  const copied = await runCommand("cp", ["-a", from, to], { timeoutMs: copyTimeoutMs });
  if (!copied.ok) throw new Error(`${from} was not copied to ${to}: ${copied.failure}`);
}
