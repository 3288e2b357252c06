import { type Logger, withTimeout } from "@amana/runtime";
import { Kafka, logLevel, Partitioners, type Producer } from "kafkajs";
import { consumeUntilStopped } from "./kafka-consumer.ts";
import type { KafkaOptions } from "./kafka-options.ts";
import { createTopics, TopicAtRiskError } from "./kafka-topics.ts";
import type { Message } from "./message.ts";
import type { MessageKeys } from "./message-keys.ts";
import type { Transport } from "./transport.ts";

/** Maximum time for which a shutdown waits for Kafka. */
const stopTimeoutMs = 5_000;
/** Maximum time for which a start waits for Kafka. */
const checkTimeoutMs = 10_000;

/**
 * Creates a transport over Kafka with kafkajs. `publish` waits for all in-sync replicas. Topics are
 * created at their first use. With `requiresCopies`, `check` and the first use throw
 * TopicAtRiskError for a topic whose events could be lost when one disk fails. A consumer that
 * loses its connection reconnects, as often as necessary. It passes a message to the handler again
 * until the handler succeeds.
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
    // kafkajs has a separate type for each mechanism, and this setting has one type for all
    // mechanisms.
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
        logger.warn({ err: error }, "Kafka unreachable, topics are checked at their first use");
      }
    },
    async publish(topic, messages, signal) {
      // Disconnects the producer, because it may hang. The next publication then uses a new
      // producer.
      const abandon = () => {
        topics.invalidate(topic);
        producer?.then((connected) => connected.disconnect()).catch(() => {});
        producer = undefined;
      };
      signal?.addEventListener("abort", abandon, { once: true });
      try {
        await publish(topic, messages);
      } catch (error) {
        // Checks the topic again before the next publication, because the topic may have been
        // deleted.
        topics.invalidate(topic);
        throw error;
      } finally {
        signal?.removeEventListener("abort", abandon);
      }
    },
    async subscribe(topic, group, handler) {
      consuming.push(consumeUntilStopped({ kafka, topics, logger, topic, group, handler, stop: stop.signal }));
    },
    services: [],
    async [Symbol.asyncDispose]() {
      stop.abort();
      const closed = Promise.all([...consuming, producer?.then((connected) => connected.disconnect()).catch(() => {})]);
      await withTimeout(stopTimeoutMs, closed).catch(() => {});
    },
  };
}

async function connectProducer(kafka: Kafka): Promise<Producer> {
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    allowAutoTopicCreation: false,
    // With more requests in flight, a retry could change the order of a key's messages.
    maxInFlightRequests: 1,
  });
  await producer.connect();
  return producer;
}
