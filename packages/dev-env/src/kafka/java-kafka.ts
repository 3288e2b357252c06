import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DevEnvError } from "../dev-env-error.ts";
import { waitUntil } from "../eventually.ts";
import { freePort } from "../free-port.ts";
import { inStep } from "../progress.ts";
import { runCommand } from "../run-command.ts";
import { type ServerProcess, spawnServer } from "../server-process.ts";
import { findJava, type Java } from "./java.ts";
import type { Kafka, KafkaOptions } from "./kafka.ts";
import { defaultCacheDir, fetchKafkaJars } from "./kafka-jars.ts";
import { type KafkaAddresses, kafkaProperties, kafkaVersion, startedMessage } from "./kafka-properties.ts";
import { ownerFlags, stopLeftoverKafka, writePid } from "./leftover-kafka.ts";

const host = "127.0.0.1";
const readyTimeoutMs = 60_000;
const formatTimeoutMs = 60_000;

/** Flags for a small heap and a start without the optimizing compiler. */
const javaFlags = [
  "-Xmx256m",
  "-XX:+UseSerialGC",
  "-XX:TieredStopAtLevel=1",
  "-XX:-UsePerfData",
  "-Djava.awt.headless=true",
  "-Djava.net.preferIPv4Stack=true",
  "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
  // Enables the log message that the start has finished.
  "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info",
];

export interface JavaKafkaOptions extends KafkaOptions {
  /** Folder of the jar files. Default: `defaultCacheDir()`. */
  cacheDir?: string;
  /**
   * Settings that override the defaults, for example a TLS listener. The values of listener lists
   * are appended to the defaults.
   */
  properties?: Readonly<Record<string, string>>;
  /** Node of a cluster (see startKafkaNodes). Default: a new cluster with one node. */
  node?: KafkaNode;
}

/** A node of a cluster. */
interface KafkaNode extends Pick<KafkaAddresses, "controllerPorts" | "index"> {
  clusterId: string;
}

/** Returns an id for a new cluster. */
export const newClusterId = (): string => randomBytes(16).toString("base64url");

/**
 * Starts a Kafka node with Java and resolves when it accepts requests. Fetches Kafka with Maven on
 * first use, and stops a broker of a killed run. Throws DevEnvError if Java or Maven is missing or
 * the broker does not start.
 */
export async function startKafka(options: JavaKafkaOptions): Promise<Kafka> {
  const { progress, signal, cacheDir = defaultCacheDir() } = options;
  const java = await findJava();
  signal?.throwIfAborted();
  return await inStep(progress, "Kafka", async (step) => {
    const jars = await fetchKafkaJars(step, cacheDir, signal);
    await mkdir(options.dir, { recursive: true });
    const dir = await realpath(options.dir);
    await stopLeftoverKafka(dir);
    const port = await freePort();
    const node = options.node ?? { clusterId: newClusterId(), controllerPorts: [await freePort()], index: 0 };
    const dataDir = join(dir, "data");
    const propertiesFile = join(dir, "server.properties");

    if (!existsSync(dataDir)) {
      step.update("formatting");
      await format(java, jars, dir, dataDir, { port, ...node }, signal);
    }
    await writeProperties(propertiesFile, { port, ...node, dataDir }, options.properties);

    const run = async (): Promise<ServerProcess> => {
      let started = false;
      const broker = await spawnServer({
        command: java.program,
        args: [...javaFlags, ...ownerFlags(dir), "-cp", join(jars, "*"), "kafka.Kafka", propertiesFile],
        cwd: dir,
        env: javaEnv(),
        orphanSignal: "SIGTERM",
        log(line) {
          started ||= startedMessage.test(line);
        },
      });
      await writePid(dir, broker.pid);
      await waitUntil(() => started || !broker.isRunning() || signal?.aborted === true, readyTimeoutMs);
      if (started) return broker;
      const ended = !broker.isRunning();
      await broker.stop();
      signal?.throwIfAborted();
      throw startFailure(ended, broker.recentOutput(), dir);
    };

    step.update("starting");
    let broker = await run();
    step.done(`${kafkaVersion} on port ${port}, by Java ${java.majorVersion}`);

    return {
      brokers: `${host}:${port}`,
      version: kafkaVersion,
      stop: () => broker.stop(),
      kill: () => broker.kill(),
      async start() {
        if (!broker.isRunning()) broker = await run();
      },
    };
  });
}

/** Settings to which additional values are appended. */
const listSettings = new Set(["listeners", "advertised.listeners", "listener.security.protocol.map"]);

/**
 * Creates the data folder under a temporary name and then renames it. A folder with the final name
 * is therefore always complete.
 */
async function format(
  java: Java,
  jars: string,
  dir: string,
  dataDir: string,
  node: KafkaNode & { port: number },
  signal: AbortSignal | undefined,
): Promise<void> {
  const newDataDir = `${dataDir}.new`;
  const propertiesFile = join(dir, "format.properties");
  await rm(newDataDir, { recursive: true, force: true });
  await writeProperties(propertiesFile, { ...node, dataDir: newDataDir });
  const result = await runCommand(
    java.program,
    [
      ...javaFlags,
      "-cp",
      join(jars, "*"),
      "kafka.tools.StorageTool",
      "format",
      `--cluster-id=${node.clusterId}`,
      "-c",
      propertiesFile,
    ],
    { timeoutMs: formatTimeoutMs, cwd: dir, env: javaEnv(), signal },
  );
  if (!result.ok) {
    throw new DevEnvError(`Kafka's folder ${dir} could not be formatted: ${result.failure}`, removalAdvice(dir));
  }
  await rename(newDataDir, dataDir);
  await rm(propertiesFile);
}

async function writeProperties(
  path: string,
  addresses: Omit<KafkaAddresses, "listenHost">,
  additional: Readonly<Record<string, string>> = {},
): Promise<void> {
  const properties: Record<string, string> = kafkaProperties({ ...addresses, listenHost: host });
  for (const [name, value] of Object.entries(additional)) {
    const list = listSettings.has(name) ? properties[name] : undefined;
    properties[name] = list === undefined ? value : `${list},${value}`;
  }
  const lines = Object.entries(properties).map(([name, value]) => `${name}=${escapeValue(value)}\n`);
  await writeFile(path, lines.join(""));
}

/** Escapes a value for a .properties file, which Java reads as Latin-1. */
const escapeValue = (value: string) =>
  value.replace(/[\\\n]|[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Java encodes file names by its locale; in the C locale, non-ASCII characters are lost. */
const javaEnv = (): NodeJS.ProcessEnv => ({ ...process.env, LC_ALL: "C.UTF-8" });

function startFailure(ended: boolean, output: string, dir: string): DevEnvError {
  if (/Address already in use/.test(output)) {
    return new DevEnvError("Another program now uses the port that was chosen for Kafka.", "Try again.");
  }
  return new DevEnvError(
    `Kafka ${ended ? "ended during the start" : `was not ready after ${readyTimeoutMs / 1000} s`}. Its last output:\n${output}`,
    removalAdvice(dir),
  );
}

function removalAdvice(dir: string): string {
  return `If this happens again, delete Kafka's events and start again: rm -rf ${dir}`;
}
