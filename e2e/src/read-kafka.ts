import { randomUUID } from "node:crypto";
import { Kafka, logLevel } from "kafkajs";

export interface KafkaMessage {
  readonly topic: string;
  readonly key: string;
  readonly value: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

const timeoutMs = 90_000;

/** Returns all messages that exist at the time of the call, except messages of internal topics. */
export async function readKafka(brokers: string): Promise<KafkaMessage[]> {
  const kafka = new Kafka({ clientId: "reader", brokers: brokers.split(","), logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => !topic.startsWith("__"));
  const unreadPartitions = new Map<string, bigint>();
  for (const topic of topics) {
    for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
      if (BigInt(high) > BigInt(low)) unreadPartitions.set(`${topic}/${partition}`, BigInt(high));
    }
  }
  await admin.disconnect();

  const messages: KafkaMessage[] = [];
  const consumer = kafka.consumer({ groupId: `reader-${randomUUID()}`, maxWaitTimeInMs: 100 });
  await consumer.connect();
  try {
    await consumer.subscribe({ topics, fromBeginning: true });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(
      () => reject(new Error(`partitions not read within ${timeoutMs} ms: ${[...unreadPartitions.keys()].join(", ")}`)),
      timeoutMs,
    );
    if (unreadPartitions.size === 0) resolve();
    await consumer.run({
      eachMessage: async ({ topic, partition, message }) => {
        messages.push({
          topic,
          key: message.key?.toString() ?? "",
          value: message.value ?? Buffer.alloc(0),
          headers: Object.fromEntries(Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)])),
        });
        if (BigInt(message.offset) + 1n >= (unreadPartitions.get(`${topic}/${partition}`) ?? 0n))
          unreadPartitions.delete(`${topic}/${partition}`);
        if (unreadPartitions.size === 0) resolve();
      },
    });
    await promise;
    clearTimeout(timer);
  } finally {
    await consumer.disconnect();
  }
  return messages;
}
