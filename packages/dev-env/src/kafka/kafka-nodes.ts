import { join } from "node:path";
import { freePort } from "../free-port.ts";
import { type JavaKafkaOptions, newClusterId, startKafka } from "./java-kafka.ts";
import type { Kafka } from "./kafka.ts";

/**
 * Starts that many nodes as one cluster, by Java: with three, each topic has a copy on each, one
 * node may be away, and without two nothing is acknowledged. For tests: the ports, and with them
 * the cluster, are new each time. Throws DevEnvError.
 */
export async function startKafkaNodes(count: number, options: Omit<JavaKafkaOptions, "node">): Promise<Kafka[]> {
  const controllerPorts = await Promise.all(Array.from({ length: count }, freePort));
  const clusterId = newClusterId();
  // At once: a node answers only when most of them are there.
  const nodes = await Promise.allSettled(
    controllerPorts.map((_, index) =>
      startKafka({ ...options, dir: join(options.dir, String(index)), node: { clusterId, controllerPorts, index } }),
    ),
  );
  const started = nodes.flatMap((node) => (node.status === "fulfilled" ? [node.value] : []));
  const failed = nodes.find((node) => node.status === "rejected");
  if (!failed) return started;
  await Promise.all(started.map((node) => node.kill()));
  throw failed.reason;
}
