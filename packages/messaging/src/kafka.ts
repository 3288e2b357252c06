import { backoffMs, type Logger, sleep } from "@amana/runtime";
import { type Consumer, Kafka, logLevel, Partitioners, type Producer } from "kafkajs";
import type { Message, MessageHandler, Transport } from "./message.ts";

const partitions = 6;
/** How soon a member that died gives up its partitions. */
const sessionTimeoutMs = 10_000;

/**
 * Kafka through kafkajs. Publishing waits for all in-sync replicas. Topics are made when first used, so a fresh
 * Kafka needs no preparation. A consumer that kafkajs will not restart ends the process: a supervisor starts a
 * fresh one, which is safer than a service that has silently stopped listening.
 */
export function createKafkaTransport(brokers: readonly string[], context: { clientId: string; logger: Logger }): Transport {
  const { logger } = context;
  const kafka = new Kafka({
    clientId: context.clientId,
    brokers: [...brokers],
    connectionTimeout: 3_000,
    requestTimeout: 10_000,
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 3 },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => logger.debug({ kafka: entry.log }, entry.log.message),
  });
  const stop = new AbortController();
  const consumers: Consumer[] = [];
  const known = new Map<string, Promise<void>>();
  let producer: Promise<Producer> | undefined;

  const ensureTopic = (topic: string): Promise<void> => {
    const making = known.get(topic) ?? makeTopic(topic);
    known.set(topic, making);
    making.catch(() => known.delete(topic));
    return making;
  };

  const makeTopic = async (topic: string) => {
    const admin = kafka.admin();
    try {
      await admin.connect();
      // -1: the broker's own default, so that production decides how many replicas there are.
      await admin.createTopics({ topics: [{ topic, numPartitions: partitions, replicationFactor: -1 }], waitForLeaders: true });
    } finally {
      await admin.disconnect().catch(() => {});
    }
  };

  const connectProducer = async () => {
    const made = kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: false,
      // One request in flight keeps the order of each key through retries.
      maxInFlightRequests: 1,
    });
    await made.connect();
    return made;
  };

  const run = async (topic: string, group: string, handler: MessageHandler) => {
    for (let failures = 1; !stop.signal.aborted; failures++) {
      const consumer = kafka.consumer({
        groupId: `${group}.${topic}`,
        sessionTimeout: sessionTimeoutMs,
        heartbeatInterval: 3_000,
        rebalanceTimeout: 10_000,
        maxWaitTimeInMs: 1_000,
        allowAutoTopicCreation: false,
      });
      try {
        await ensureTopic(topic);
        await consumer.connect();
        await consumer.subscribe({ topic, fromBeginning: true });
        consumer.on(consumer.events.CRASH, ({ payload }) => {
          if (payload.restart) return;
          logger.fatal({ err: payload.error, topic, group }, "the consumer crashed and will not come back by itself");
          process.exit(1);
        });
        await consumer.run({
          partitionsConsumedConcurrently: 3,
          eachBatchAutoResolve: false,
          async eachBatch({ batch, resolveOffset, heartbeat, isRunning, isStale }) {
            if (!isRunning() || isStale()) return;
            await handler(batch.messages.map(fromKafka));
            const last = batch.messages.at(-1);
            if (last) resolveOffset(last.offset);
            await heartbeat();
          },
        });
        consumers.push(consumer);
        return;
      } catch (error) {
        await consumer.disconnect().catch(() => {});
        logger.warn({ err: error, topic, group }, "Kafka cannot be reached; the consumer will try again");
        await sleep(backoffMs(failures, 200, 5_000), stop.signal);
      }
    }
  };

  return {
    async publish(topic, messages) {
      await ensureTopic(topic);
      producer ??= connectProducer().catch((error: unknown) => {
        producer = undefined;
        throw error;
      });
      await (await producer).send({
        topic,
        acks: -1,
        messages: messages.map(({ key, payload, headers }) => ({ key, value: Buffer.from(payload), headers: { ...headers } })),
      });
    },
    async subscribe(topic, group, handler) {
      void run(topic, group, handler);
    },
    services: [],
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(consumers.map((consumer) => consumer.disconnect().catch(() => {})));
      await (await producer?.catch(() => undefined))?.disconnect().catch(() => {});
    },
  };
}

function fromKafka(message: {
  key: Buffer | null;
  value: Buffer | null;
  headers?: Record<string, unknown> | undefined;
}): Message {
  const headers = Object.fromEntries(Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)]));
  return { key: message.key?.toString() ?? "", payload: message.value ?? new Uint8Array(), headers };
}
