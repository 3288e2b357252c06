import type { Admin, ConfigResourceTypes, Kafka } from "kafkajs";

/**
 * With three replicas and two in sync, the loss of one machine loses no event, even while another
 * machine restarts.
 */
const replicasMin = 3;
const minInSync = 2;
const partitions = 6;

/**
 * Topic setting by which messages get the time of the broker's clock. With the publisher's clock,
 * brokers would reject messages whose time is an hour ahead, and would delete messages whose time
 * is older than the retention.
 */
const brokersClock = { name: "message.timestamp.type", value: "LogAppendTime" };

/** Value of ConfigResourceTypes.TOPIC, which Node cannot import from the CommonJS module. */
const topicResource: ConfigResourceTypes.TOPIC = 2;

/** Thrown for a topic that could lose acknowledged messages. */
export class TopicAtRiskError extends Error {
  constructor(topic: string, finding: string, nextStep: string) {
    super(
      `The Kafka topic ${topic} ${finding}. The loss of one machine could lose events. ${nextStep} To accept this risk, set KAFKA_WITHOUT=copies.`,
    );
    this.name = "TopicAtRiskError";
  }
}

/**
 * Creates missing topics. `ensure` checks each topic once. After `invalidate` the next `ensure`
 * checks the topic again.
 */
export function createTopics(kafka: Kafka, { requiresCopies }: { requiresCopies: boolean }) {
  const checks = new Map<string, Promise<void>>();
  return {
    ensure(topic: string): Promise<void> {
      const check = checks.get(topic) ?? ensureTopic(kafka.admin(), topic, requiresCopies);
      checks.set(topic, check);
      check.catch(() => checks.delete(topic));
      return check;
    },
    invalidate: (topic: string) => checks.delete(topic),
  };
}

export type KafkaTopics = ReturnType<typeof createTopics>;

async function ensureTopic(admin: Admin, topic: string, requiresCopies: boolean): Promise<void> {
  try {
    await admin.connect();
    // Lists the topics first, because the service may have no permission to create topics.
    if (!(await admin.listTopics()).includes(topic)) {
      // The value -1 selects the broker's default.
      const replicationFactor = requiresCopies ? replicasMin : -1;
      const configEntries = requiresCopies
        ? [brokersClock, { name: "min.insync.replicas", value: String(minInSync) }]
        : [brokersClock];
      await admin
        .createTopics({ topics: [{ topic, numPartitions: partitions, replicationFactor, configEntries }], waitForLeaders: true })
        .catch((error: unknown) => {
          throw toBrokerShortage(topic, error) ?? error;
        });
    }
    if (requiresCopies) await requireCopies(admin, topic);
  } finally {
    await admin.disconnect().catch(() => {});
  }
}

/**
 * Throws TopicAtRiskError if the topic has fewer than three replicas or a min.insync.replicas below
 * two.
 */
async function requireCopies(admin: Admin, topic: string): Promise<void> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const fewest = Math.min(...(topics[0]?.partitions ?? []).map(({ replicas }) => replicas.length));
  if (fewest < replicasMin) {
    throw new TopicAtRiskError(
      topic,
      `has ${fewest} ${fewest === 1 ? "replica" : "replicas"} and needs ${replicasMin}`,
      "Add replicas with kafka-reassign-partitions.sh. If the topic is empty, you can delete it instead; the service then creates it with enough replicas.",
    );
  }
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: topicResource, name: topic, configNames: ["min.insync.replicas"] }],
  });
  const value = Number(resources[0]?.configEntries.find(({ configName }) => configName === "min.insync.replicas")?.configValue);
  if (!(value >= minInSync)) {
    throw new TopicAtRiskError(
      topic,
      `has min.insync.replicas=${value} and needs ${minInSync}`,
      `Set the value: kafka-configs.sh --alter --topic ${topic} --add-config min.insync.replicas=${minInSync}.`,
    );
  }
}

/**
 * Returns a TopicAtRiskError if Kafka rejected the creation because it has too few brokers.
 * Otherwise returns undefined.
 */
function toBrokerShortage(topic: string, error: unknown): TopicAtRiskError | undefined {
  const { errors = [error] } = (error ?? {}) as { errors?: unknown[] };
  if (!errors.some((cause) => (cause as { type?: string } | undefined)?.type === "INVALID_REPLICATION_FACTOR")) return undefined;
  return new TopicAtRiskError(topic, `cannot have ${replicasMin} replicas`, `Run at least ${replicasMin} brokers.`);
}
