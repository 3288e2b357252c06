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
import { databaseOwners, serviceNames } from "@amana/dev-env/services";

const variable = "AMANA_TEST_SYSTEM_DATA";
const postgresFolder = "postgres";
const javaOptions = "JAVA_TOOL_OPTIONS";
/** Suppresses warnings of the JVM about classes that an archive cannot contain or lacks. */
const warningOptions = "-Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off";
const copyTimeoutMs = 120_000;
const bundleTimeoutMs = 120_000;
const root = join(import.meta.dirname, "..", "..");
const cacheDir = join(root, "node_modules", ".cache");

/**
 * Prepares the data folder of a system with migrated, empty databases, bundles of each service and
 * of the command `amana`, and an archive of Kafka's classes (Vitest global setup). `copySystemData`
 * copies the data, so that initdb and the migrations run once per test run. A nested run uses the
 * data of the outer run.
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
 * Starts Kafka once and stores its loaded classes in an archive beside the compiled modules. Later
 * starts need half of the CPU time. JAVA_TOOL_OPTIONS passes the archive to every Java process of
 * the run, and a program with other classes ignores it. Does nothing if Kafka cannot start, because
 * the tests of Kafka report that.
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
      // Copies to another name and renames, so that an existing archive is always complete.
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
    const databases = await ensureDatabases(postgres.superuserUrl, databaseOwners, databasePassword);
    await migrateAll(dir, databases, silentProgress);
  } finally {
    await postgres.stop();
  }
}

async function bundleAll(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  // Without a type, Node compiles each bundle at each start to find out whether it is a module.
  await writeFile(join(dir, "package.json"), JSON.stringify({ type: "module" }));
  for (const name of [...serviceNames, "cli"]) await bundle(name, join(dir, name));
}

/** Bundles the command `amana`, or a service as in its image. */
async function bundle(service: string, outDir: string): Promise<void> {
  const args = [join(root, "node_modules", "rolldown", "bin", "cli.mjs"), "-c", join("deploy", "rolldown.config.ts")];
  const env = { ...process.env, SERVICE: service, OUT_DIR: outDir };
  const result = await runCommand(process.execPath, args, { cwd: root, env, timeoutMs: bundleTimeoutMs });
  if (!result.ok) throw new Error(`The bundle of ${service} could not be created: ${result.failure}`);
}

/**
 * Copies the prepared data folder to `to`. Set `withPostgres` to false for a system with another
 * server, which can run on a copy of `copyPostgresData`. Does nothing outside of a test run.
 */
export async function copySystemData(to: string, { withPostgres }: { withPostgres: boolean }): Promise<void> {
  await copy(["secrets.json", "migrated.json", ...(withPostgres ? [postgresFolder] : [])], to);
}

/** Copies PostgreSQL's data folder to `to`/postgres, for a server that a test starts. */
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
