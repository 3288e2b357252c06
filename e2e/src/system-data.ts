import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureDatabases } from "@amana/dev-env/databases";
import { DevEnvError } from "@amana/dev-env/dev-env-error";
import { startKafka } from "@amana/dev-env/kafka/java-kafka";
import { kafkaVersion } from "@amana/dev-env/kafka/kafka-properties";
import { migrateAll } from "@amana/dev-env/migrate-all";
import { startPostgres } from "@amana/dev-env/postgres";
import { silentProgress } from "@amana/dev-env/progress";
import { runCommand } from "@amana/dev-env/run-command";
import { readSecrets } from "@amana/dev-env/secrets";
import { bundlesVariable } from "@amana/dev-env/service-process";
import { serviceNames, servicesWithDatabase } from "@amana/dev-env/services";

const variable = "AMANA_TEST_SYSTEM_DATA";
const postgresFolder = "postgres";
const javaOptions = "JAVA_TOOL_OPTIONS";
/** Suppresses JVM warnings about classes that the archive does not or cannot contain. */
const warningOptions = "-Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off";
const copyTimeoutMs = 120_000;
const bundleTimeoutMs = 120_000;
const root = join(import.meta.dirname, "..", "..");
const cacheDir = join(root, "node_modules", ".cache");

/**
 * Vitest global setup. Prepares a data folder with migrated, empty databases, bundles of each
 * service and of the command `amana`, and an archive of Kafka's classes. Tests copy the data with
 * `copySystemData`, so that initdb and the migrations run only once for each test run. A test run
 * that another test run starts uses the data of the outer run.
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[variable]) return;
  const dir = await mkdtemp(join(tmpdir(), "amana-system-data-"));
  await Promise.all([prepareData(dir), bundleAll(join(dir, "services")), archiveKafkaClasses(dir)]);
  process.env[variable] = dir;
  process.env[bundlesVariable] = dir;
  return () => rm(dir, { recursive: true, force: true });
}

/**
 * Starts Kafka once and stores its loaded classes in an archive in the cache folder. With the
 * archive, later starts need half of the CPU time. JAVA_TOOL_OPTIONS passes the archive to every
 * Java process of the test run. A Java program with other classes ignores the archive. Ignores a
 * failed start of Kafka, because the tests that use Kafka report this failure.
 */
async function archiveKafkaClasses(dir: string): Promise<void> {
  const archive = join(cacheDir, `kafka-${kafkaVersion}.jsa`);
  const options = process.env[javaOptions] ?? "";
  try {
    if (!existsSync(archive)) {
      const newArchive = join(dir, "kafka.jsa");
      process.env[javaOptions] = `${options} -XX:ArchiveClassesAtExit=${newArchive} ${warningOptions}`;
      const kafka = await startKafka({ dir: join(dir, "kafka"), progress: silentProgress });
      await kafka.stop();
      await mkdir(cacheDir, { recursive: true });
      // Copies to a temporary name and renames the copy, so that no other test run reads an
      // incomplete archive.
      const copy = `${archive}.${process.pid}`;
      await copyFile(newArchive, copy);
      await rename(copy, archive);
    }
    process.env[javaOptions] = `${options} -XX:SharedArchiveFile=${archive} ${warningOptions}`;
  } catch (error) {
    if (!(error instanceof DevEnvError)) throw error;
    process.env[javaOptions] = options;
  }
}

async function prepareData(dir: string): Promise<void> {
  const { databasePassword } = await readSecrets(dir);
  const postgres = await startPostgres({ dataDir: join(dir, postgresFolder), durable: false, log: () => {} });
  try {
    const databases = await ensureDatabases(postgres.superuserUrl, servicesWithDatabase, databasePassword);
    await migrateAll(dir, databases, silentProgress);
  } finally {
    await postgres.stop();
  }
}

async function bundleAll(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  // Without "type", Node would parse each bundle at each start to detect that it is an ES module.
  await writeFile(join(dir, "package.json"), JSON.stringify({ type: "module" }));
  for (const name of [...serviceNames, "cli"]) await bundle(name, join(dir, name));
}

/** Bundles a service, or the command `amana`, with the configuration that the images use. */
async function bundle(service: string, outDir: string): Promise<void> {
  const args = [join(root, "node_modules", "rolldown", "bin", "cli.mjs"), "-c", join("deploy", "rolldown.config.ts")];
  const env = { ...process.env, SERVICE: service, OUT_DIR: outDir };
  const result = await runCommand(process.execPath, args, { cwd: root, env, timeoutMs: bundleTimeoutMs });
  if (!result.ok) throw new Error(`The bundle of ${service} could not be created: ${result.failure}`);
}

/**
 * Copies the prepared data folder to `to`. `withPostgres` must be false for a system that uses a
 * PostgreSQL server of the test. Such a server can start on a copy that `copyPostgresData` makes.
 * Does nothing if `setup` did not run.
 */
export async function copySystemData(to: string, { withPostgres }: { withPostgres: boolean }): Promise<void> {
  await copy(["secrets.json", "migrated.json", ...(withPostgres ? [postgresFolder] : [])], to);
}

/** Copies PostgreSQL's prepared data to `to`/postgres, for a server that a test starts itself. */
export async function copyPostgresData(to: string): Promise<void> {
  await copy([postgresFolder], to);
}

async function copy(names: readonly string[], to: string): Promise<void> {
  const from = process.env[variable];
  if (from === undefined) return;
  await mkdir(to, { recursive: true });
  // PostgreSQL's files can belong to another user. Only `cp` keeps their owner.
  const paths = names.map((name) => join(from, name));
  const result = await runCommand("cp", ["-a", ...paths, to], { timeoutMs: copyTimeoutMs });
  if (!result.ok) throw new Error(`${from} could not be copied to ${to}: ${result.failure}`);
}
