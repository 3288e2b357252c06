/** The version of the broker, whichever way it is started; kafka/pom.xml names it too. */
export const kafkaVersion = "4.3.1";

/** An open port comes earlier and does not yet mean that topics can be created. */
export const startedMessage = /Kafka Server started/;

export interface KafkaAddresses {
  /** The port that clients connect to on 127.0.0.1. */
  port: number;
  /** Of all nodes; they are one cluster, and each is broker and controller. */
  controllerPorts: readonly number[];
  /** Which of them this is, from 0. */
  index: number;
  /** The address the broker listens on; clients are always told 127.0.0.1. */
  listenHost: string;
  dataDir: string;
}

/**
 * The settings of a KRaft node for one machine: small, and quick to be of use again after a
 * restart. Every topic has a copy on each node, and all but one of them acknowledge.
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
    // Our own code creates each topic with the partitions it means; a misspelt name must fail.
    "auto.create.topics.enable": "false",
    "default.replication.factor": copies,
    "min.insync.replicas": inSync,
    // One node cannot hold the three copies that are the default of Kafka's own topics.
    "offsets.topic.replication.factor": copies,
    "transaction.state.log.replication.factor": copies,
    "transaction.state.log.min.isr": inSync,
    "share.coordinator.state.topic.replication.factor": copies,
    "share.coordinator.state.topic.min.isr": inSync,
    // The defaults of 50 partitions each are files and memory for nothing.
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    // A killed consumer holds its partitions for a whole session, so short ones are allowed.
    "group.min.session.timeout.ms": "1000",
    // A killed broker is let in again only after its old session; the default is 9 s.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    // The default of 128 MB does not fit into the heap that is given.
    "log.cleaner.dedupe.buffer.size": "4194304",
    "num.network.threads": "2",
    "num.io.threads": "2",
  };
}
