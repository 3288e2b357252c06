/** A Kafka of our own for this machine, in two ways; several nodes by one of them. */
export { requireDockerEngine, startKafkaInDocker } from "./kafka/docker-kafka.ts";
export { type JavaKafkaOptions, startKafka } from "./kafka/java-kafka.ts";
export type { Kafka, KafkaOptions } from "./kafka/kafka.ts";
export { startKafkaNodes } from "./kafka/kafka-nodes.ts";
