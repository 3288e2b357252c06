import { type Logger, withTimeout } from "@amana/runtime";
import { Kafka, logLevel, Partitioners, type Producer } from "kafkajs";
import { consumeAlways } from "./kafka-consumer.ts";
import type { KafkaOptions } from "./kafka-options.ts";
import { createTopics, TopicAtRiskError } from "./kafka-topics.ts";
import type { Message } from "./message.ts";
import type { MessageKeys } from "./message-keys.ts";
import type { Transport } from "./transport.ts";

/** A Kafka that hangs must not hold up the stop of a process for longer. */
const stopTimeoutMs = 5_000;
/** A Kafka that is not there must not hold up a start for longer. */
const checkTimeoutMs = 10_000;

/**
 * Kafka through kafkajs. Publishing waits for all in-sync replicas. Topics are made when first
 * used, so a fresh Kafka needs no preparation; where `requiresCopies`, one that would lose events
 * with a disk is refused: by `check`, which throws TopicAtRiskError, and by each first use.
 * Consumers never give up, and messages whose handler fails are handed over again until it
 * succeeds.
 */
export function createKafkaTransport(
  options: KafkaOptions,
  context: { clientId: string; keys: MessageKeys; logger: Logger },
): Transport & { check(topics: readonly string[]): Promise<void> } {
  const { keys, logger } = context;
  const kafka = new Kafka({
    clientId: context.clientId,
    brokers: [...options.brokers],
    ...(options.ssl && { ssl: options.ssl }),
    // The library's type has a form of its own for each mechanism; ours share one.
    ...(options.sasl && { sasl: options.sasl as { mechanism: "plain"; username: string; password: string } }),
    connectionTimeout: 3_000,
    requestTimeout: 10_000,
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 3 },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => logger.debug({ kafka: entry.log }, entry.log.message),
  });
  const topics = createTopics(kafka, options);
  const stop = new AbortController();
  const consuming: Promise<void>[] = [];
  let producer: Promise<Producer> | undefined;

  const publish = async (topic: string, messages: readonly Message[]) => {
    await topics.ensure(topic);
    producer ??= connectProducer(kafka).catch((error: unknown) => {
      producer = undefined;
      throw error;
    });
    const connected = await producer;
    await connected.send({
      topic,
      acks: -1,
      messages: messages.map((message) => {
        const { key, payload, headers } = keys.sign(topic, message);
        return { key, value: Buffer.from(payload), headers: { ...headers } };
      }),
    });
  };

  return {
    keys,
    async check(names) {
      if (!options.requiresCopies) return;
      try {
        await withTimeout(checkTimeoutMs, Promise.all(names.map(topics.ensure)));
      } catch (error) {
        if (error instanceof TopicAtRiskError) throw error;
        logger.warn({ err: error }, "Kafka could not be asked about its topics; they are checked when they are first used");
      }
    },
    async publish(topic, messages, signal) {
      // What hangs would hang the next one too.
      const abandon = () => {
        topics.forget(topic);
        producer?.then((connected) => connected.disconnect()).catch(() => {});
        producer = undefined;
      };
      signal?.addEventListener("abort", abandon, { once: true });
      try {
        await publish(topic, messages);
      } catch (error) {
        // Perhaps it is the topic that has gone.
        topics.forget(topic);
        throw error;
      } finally {
        signal?.removeEventListener("abort", abandon);
      }
    },
    async subscribe(topic, group, handler) {
      consuming.push(consumeAlways({ kafka, topics, logger, topic, group, handler, stop: stop.signal }));
    },
    services: [],
    async [Symbol.asyncDispose]() {
      stop.abort();
      const ended = Promise.all([...consuming, producer?.then((connected) => connected.disconnect()).catch(() => {})]);
      await withTimeout(stopTimeoutMs, ended).catch(() => {});
    },
  };
}

async function connectProducer(kafka: Kafka): Promise<Producer> {
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    allowAutoTopicCreation: false,
    // One request in flight keeps the order of each key through retries.
    maxInFlightRequests: 1,
  });
  await producer.connect();
  return producer;
}
