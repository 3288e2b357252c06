import { join } from "node:path";
import { freePort } from "../free-port.ts";
import { type JavaKafkaOptions, newClusterId, startKafka } from "./java-kafka.ts";
import type { Kafka } from "./kafka.ts";

/**
 * Starts `count` nodes as one cluster, with Java. In a cluster of three nodes, each topic has a
 * copy on each node, and a write needs two running nodes. This function is for tests: each call
 * creates a new cluster with new ports. Throws DevEnvError if a node does not start.
 */
export async function startKafkaNodes(count: number, options: Omit<JavaKafkaOptions, "node">): Promise<Kafka[]> {
  const controllerPorts = await Promise.all(Array.from({ length: count }, freePort));
  const clusterId = newClusterId();
  await using stack = new AsyncDisposableStack();
  // Starts the nodes concurrently, because a node becomes ready only when a majority runs.
  const starting = controllerPorts.map(async (_, index) => {
    const dir = join(options.dir, String(index));
    const node = await startKafka({ ...options, dir, node: { clusterId, controllerPorts, index } });
    stack.defer(() => node.kill());
    return node;
  });
  await Promise.allSettled(starting);
  const nodes = await Promise.all(starting);
  stack.move();
  return nodes;
}
