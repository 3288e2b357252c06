import { mkdir, mkdtemp, rm } from "node:fs/promises";
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
const postgresFolder = "postgres";
const copyTimeoutMs = 120_000;

/**
 * Prepares the data folder of a system with migrated, empty databases (Vitest global setup).
 * `copySystemData` copies it, so that initdb and the migrations run once per test run.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const dir = await mkdtemp(join(tmpdir(), "amana-system-data-"));
  const { databasePassword } = await readSecrets(dir);
  const postgres = await startPostgres({ dataDir: join(dir, postgresFolder), durable: false, log: () => {} });
  try {
    const databases = await ensureDatabases(postgres.superuserUrl, databaseOwners, databasePassword);
    await migrateAll(dir, databases, silentProgress);
  } finally {
    await postgres.stop();
  }
  process.env[variable] = dir;
  return () => rm(dir, { recursive: true, force: true });
}

/**
 * Copies the prepared data folder to `to`. Set `withPostgres` to false for a system on another
 * server, which may run on a copy of `copyPostgresData`. Does nothing outside of a test run.
 */
export async function copySystemData(to: string, { withPostgres }: { withPostgres: boolean }): Promise<void> {
  await copy(["secrets.json", "migrated.json", ...(withPostgres ? [postgresFolder] : [])], to);
}

/** Copies PostgreSQL's data folder to `to`/postgres, for a server that a test starts itself. */
export async function copyPostgresData(to: string): Promise<void> {
  await copy([postgresFolder], to);
}

async function copy(names: readonly string[], to: string): Promise<void> {
  const from = process.env[variable];
  if (from === undefined) return;
  await mkdir(to, { recursive: true });
  // PostgreSQL's files may belong to another user; only `cp` keeps their owner.
  const paths = names.map((name) => join(from, name));
  const copied = await runCommand("cp", ["-a", ...paths, to], { timeoutMs: copyTimeoutMs });
  if (!copied.ok) throw new Error(`${from} was not copied to ${to}: ${copied.failure}`);
}
