/** Version of the broker. kafka/pom.xml contains the same version. */
export const kafkaVersion = "4.3.1";

/** Log message after which topics can be created. The port opens before this message. */
export const startedMessage = /Kafka Server started/;

export interface KafkaAddresses {
  /** Port on 127.0.0.1 for clients. */
  port: number;
  /** Controller ports of all nodes of the cluster. Each node is broker and controller. */
  controllerPorts: readonly number[];
  /** Index of this node in `controllerPorts`. */
  index: number;
  /** Address on which the broker listens. The advertised address is always 127.0.0.1. */
  listenHost: string;
  dataDir: string;
}

/**
 * Returns the settings of a KRaft node on one machine, with little memory and a fast restart. Each
 * topic has a copy on each node. A write needs acknowledgements from all nodes except one; in a
 * cluster of one node, it needs the acknowledgement of this node.
 */
export function kafkaProperties(addresses: KafkaAddresses): Record<string, string> {
  const { port, controllerPorts, index, listenHost, dataDir } = addresses;
  const copies = String(controllerPorts.length);
  const inSync = String(Math.max(1, controllerPorts.length - 1));
  return {
    "process.roles": "broker,controller",
    "node.id": String(index + 1),
    "controller.quorum.voters": controllerPorts.map((at, node) => `${node + 1}@127.0.0.1:${at}`).join(","),
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    listeners: `PLAINTEXT://${listenHost}:${port},CONTROLLER://127.0.0.1:${controllerPorts[index]}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${port}`,
    "log.dirs": dataDir,
    // Services create their topics with the right number of partitions. A request for a misspelt
    // topic name must fail.
    "auto.create.topics.enable": "false",
    "default.replication.factor": copies,
    "min.insync.replicas": inSync,
    // By default, Kafka's internal topics need three copies, which one node cannot store.
    "offsets.topic.replication.factor": copies,
    "transaction.state.log.replication.factor": copies,
    "transaction.state.log.min.isr": inSync,
    "share.coordinator.state.topic.replication.factor": copies,
    "share.coordinator.state.topic.min.isr": inSync,
    // The default of 50 partitions for each topic wastes files and memory.
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    // A killed consumer keeps its partitions until its session expires, so short sessions are
    // allowed.
    "group.min.session.timeout.ms": "1000",
    // A killed broker can rejoin only after its old session expires. The default is 9 s.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "1000",
    // By default, the controller writes an empty record to the metadata twice a second, which takes
    // half of the CPU time of an idle node.
    "metadata.max.idle.interval.ms": "0",
    // The default of 128 MB does not fit into the heap.
    "log.cleaner.dedupe.buffer.size": "4194304",
    "num.network.threads": "2",
    "num.io.threads": "2",
  };
}
