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
  await using stack = new AsyncDisposableStack();
  // At once: a node answers only when most of them are there.
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
