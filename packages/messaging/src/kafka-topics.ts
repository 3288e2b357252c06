import type { Admin, ConfigResourceTypes, Kafka } from "kafkajs";

/** With three copies, two of which acknowledge, one machine may be lost while one restarts. */
const copies = 3;
const minInSync = 2;
const partitions = 6;

/**
 * With the publisher's clock, brokers refuse messages that are an hour ahead, and delete those that
 * are behind by more than the retention.
 */
const brokersClock = { name: "message.timestamp.type", value: "LogAppendTime" };

/** Node does not find this name in the CommonJS module, so it cannot be imported as a value. */
const topicResource: ConfigResourceTypes.TOPIC = 2;

/** A topic that could lose what was acknowledged. */
export class TopicAtRiskError extends Error {
  constructor(topic: string, finding: string, nextStep: string) {
    super(
      `Kafka's topic ${topic} ${finding}. Events could be lost with one machine, so it is refused. ${nextStep} A deployment that accepts the loss says so: KAFKA_WITHOUT=copies.`,
    );
    this.name = "TopicAtRiskError";
  }
}

/** Looks for each topic once and makes what is missing; what may be gone is looked for again. */
export function createTopics(kafka: Kafka, { requiresCopies }: { requiresCopies: boolean }) {
  const known = new Map<string, Promise<void>>();
  return {
    ensure(topic: string): Promise<void> {
      const making = known.get(topic) ?? makeTopic(kafka.admin(), topic, requiresCopies);
      known.set(topic, making);
      making.catch(() => known.delete(topic));
      return making;
    },
    forget: (topic: string) => known.delete(topic),
  };
}

export type Topics = ReturnType<typeof createTopics>;

async function makeTopic(admin: Admin, topic: string, requiresCopies: boolean): Promise<void> {
  try {
    await admin.connect();
    // Asked first, because a client may be allowed to use topics and not to make them.
    if (!(await admin.listTopics()).includes(topic)) {
      // -1: the broker's own default.
      const replicationFactor = requiresCopies ? copies : -1;
      const configEntries = requiresCopies
        ? [brokersClock, { name: "min.insync.replicas", value: String(minInSync) }]
        : [brokersClock];
      await admin
        .createTopics({ topics: [{ topic, numPartitions: partitions, replicationFactor, configEntries }], waitForLeaders: true })
        .catch((error: unknown) => {
          throw tooFewBrokers(topic, error) ?? error;
        });
    }
    if (requiresCopies) await requireCopies(admin, topic);
  } finally {
    await admin.disconnect().catch(() => {});
  }
}

/** Throws TopicAtRiskError below three replicas or min.insync.replicas of two. */
async function requireCopies(admin: Admin, topic: string): Promise<void> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const fewest = Math.min(...(topics[0]?.partitions ?? []).map(({ replicas }) => replicas.length));
  if (fewest < copies) {
    throw new TopicAtRiskError(
      topic,
      `has ${fewest} ${fewest === 1 ? "replica" : "replicas"} and needs ${copies}`,
      "Reassign its partitions (kafka-reassign-partitions.sh), or delete it while it is empty: it is made anew as it must be.",
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
      `Set it: kafka-configs.sh --alter --topic ${topic} --add-config min.insync.replicas=${minInSync}.`,
    );
  }
}

/** What a failure to make a topic means when the brokers are too few for its copies. */
function tooFewBrokers(topic: string, error: unknown): TopicAtRiskError | undefined {
  const { errors = [error] } = (error ?? {}) as { errors?: unknown[] };
  if (!errors.some((one) => (one as { type?: string } | undefined)?.type === "INVALID_REPLICATION_FACTOR")) return undefined;
  return new TopicAtRiskError(topic, `cannot have ${copies} replicas`, `Let at least ${copies} brokers run.`);
}
