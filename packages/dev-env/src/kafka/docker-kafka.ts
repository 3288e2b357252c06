import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { StartedTestContainer } from "testcontainers";
import { acceptsConnections } from "../accepts-connections.ts";
import { DevEnvError } from "../dev-env-error.ts";
import { freePort } from "../free-port.ts";
import { inStep } from "../progress.ts";
import { runCommand } from "../run-command.ts";
import type { Kafka, KafkaOptions } from "./kafka.ts";
import { kafkaProperties, kafkaVersion, startedMessage } from "./kafka-properties.ts";

const image = `apache/kafka:${kafkaVersion}`;
const engineTimeoutMs = 5_000;
/** Maximum time of the start, including the download of the image (about 200 MB). */
const startTimeoutMs = 5 * 60_000;
const stopTimeoutMs = 15_000;
const containerDataDir = "/var/lib/kafka/data";
/**
 * Port of the controller. It is fixed, because only Kafka listens in the container. `freePort`
 * returns higher ports for the broker.
 */
const controllerPort = 9093;

/** Throws DevEnvError if no Docker engine responds. */
export async function requireDockerEngine(): Promise<void> {
  const result = await runCommand("docker", ["version", "--format", "{{.Server.Version}}"], { timeoutMs: engineTimeoutMs });
  if (!result.ok) {
    throw new DevEnvError(`docker version failed: ${result.failure}.`, "Install Docker and start its engine.");
  }
}

/**
 * Starts a Kafka node in a container with Testcontainers and resolves when it accepts requests. The
 * data is in a volume whose name depends on `dir`. Testcontainers removes the container of a killed
 * run. Throws DevEnvError if there is no Docker engine or the container does not start.
 */
export async function startKafkaInDocker({
  dir,
  progress,
  signal,
}: KafkaOptions): Promise<Pick<Kafka, "brokers" | "version" | "stop">> {
  await requireDockerEngine();
  signal?.throwIfAborted();
  return await inStep(progress, "Kafka", async (step) => {
    const port = await freePort();
    step.update(`starting ${image} (the first start downloads it)`);
    const container = await startContainer(port, dir);
    step.done(`${kafkaVersion} on port ${port}, in Docker`);
    let stopped: Promise<unknown> | undefined;
    return {
      brokers: `127.0.0.1:${port}`,
      version: kafkaVersion,
      async stop() {
        stopped ??= container.stop({ timeout: stopTimeoutMs });
        await stopped;
      },
    };
  });
}

/** Loads Testcontainers only after an engine was found, because the library is large. */
async function startContainer(port: number, dir: string): Promise<StartedTestContainer> {
  const { GenericContainer, Wait } = await import("testcontainers");

  class LoopbackContainer extends GenericContainer {
    /**
     * Publishes the port on the loopback address. `withExposedPorts` accepts no host address and
     * publishes on all addresses. Testcontainers makes `hostConfig` available to subclasses.
     */
    publishOnLoopback(): this {
      this.hostConfig.PortBindings = { [`${port}/tcp`]: [{ HostIp: "127.0.0.1", HostPort: String(port) }] };
      return this;
    }
  }

  const key = createHash("sha256").update(resolve(dir)).digest();
  const container = await new LoopbackContainer(image)
    .withExposedPorts({ container: port, host: port })
    .publishOnLoopback()
    .withBindMounts([{ source: `amana-kafka-${key.toString("hex").slice(0, 12)}`, target: containerDataDir, mode: "rw" }])
    .withEnvironment({
      ...imageEnv(
        kafkaProperties({
          port,
          controllerPorts: [controllerPort],
          index: 0,
          listenHost: "0.0.0.0",
          dataDir: containerDataDir,
        }),
      ),
      // The volume stores the id of its cluster, so the id must not change.
      CLUSTER_ID: key.subarray(0, 16).toString("base64url"),
      KAFKA_HEAP_OPTS: "-Xmx256m",
    })
    .withWaitStrategy(Wait.forLogMessage(startedMessage))
    .withStartupTimeout(startTimeoutMs)
    .start();
  if (await acceptsConnections("127.0.0.1", port)) return container;
  await container.stop();
  throw new DevEnvError(
    `Kafka runs in its container but does not accept connections on 127.0.0.1:${port}.`,
    "Use a Docker engine that publishes ports on this machine, or set KAFKA_BROKERS.",
  );
}

/**
 * Converts settings to environment variables of the image, for example process.roles to
 * KAFKA_PROCESS_ROLES.
 */
function imageEnv(properties: Record<string, string>): Record<string, string> {
  const entries = Object.entries(properties);
  return Object.fromEntries(entries.map(([name, value]) => [`KAFKA_${name.toUpperCase().replaceAll(".", "_")}`, value]));
}
