import { backoffMs, type Logger, sleep } from "@amana/runtime";
import { type EachBatchPayload, Kafka, logLevel, Partitioners, type Producer } from "kafkajs";
import type { KafkaOptions } from "./kafka-options.ts";
import { copies, minInSync, requireCopies, TopicAtRiskError, tooFewBrokers } from "./kafka-topics.ts";
import type { Message, MessageHandler, Transport } from "./message.ts";
import type { MessageKeys } from "./message-keys.ts";

const partitions = 6;
/** How soon a member that died gives up its partitions; brokers allow no less by default. */
const sessionTimeoutMs = 6_000;
/** Also how long a group takes to notice that a member has come or gone, and it stands still meanwhile. */
const heartbeatMs = 1_000;
/** How long the group waits for a busy member when it shares out anew, before others get what that one works on. */
const rebalanceTimeoutMs = 30_000;
/** How long the broker holds an empty fetch open; messages end it at once, a stop or a rebalance only afterwards. */
const fetchWaitMs = 500;
/** After each so many messages the position is noted and the group may take the partition away. */
const chunkMessagesMax = 200;
/** A Kafka that hangs must not hold up the stop of a process for longer. */
const stopTimeoutMs = 5_000;
/** A Kafka that is not there must not hold up a start for longer. */
const checkTimeoutMs = 10_000;

/**
 * Kafka through kafkajs. Publishing waits for all in-sync replicas. Topics are made when first used, so a fresh
 * Kafka needs no preparation; where `requiresCopies`, one that would lose events with a disk is refused: by `check`, which
 * throws TopicAtRiskError, and by each first use. Nothing here gives up: a consumer that cannot start, or that kafkajs ends, is replaced
 * by a fresh one, and messages whose handler fails are handed over again until it succeeds.
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
  const stop = new AbortController();
  const consuming: Promise<void>[] = [];
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
      // Asked first, because a client may be allowed to use topics and not to make them.
      if (!(await admin.listTopics()).includes(topic)) {
        const durable = {
          replicationFactor: copies,
          configEntries: [{ name: "min.insync.replicas", value: String(minInSync) }],
        };
        // -1: the broker's own default.
        const asked = options.requiresCopies ? durable : { replicationFactor: -1 };
        await admin
          .createTopics({ topics: [{ topic, numPartitions: partitions, ...asked }], waitForLeaders: true })
          .catch((error: unknown) => {
            throw tooFewBrokers(topic, error) ?? error;
          });
      }
      if (options.requiresCopies) await requireCopies(admin, topic);
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

  const handOver = async ({ batch, resolveOffset, heartbeat, isRunning, isStale }: EachBatchPayload, handler: MessageHandler) => {
    const ended = () => stop.signal.aborted || !isRunning() || isStale();
    // A long chunk must not look like a dead member. A group that wants to rebalance is noticed after the chunk.
    const alive = setInterval(() => heartbeat().catch(() => {}), heartbeatMs);
    try {
      for (let start = 0; start < batch.messages.length; start += chunkMessagesMax) {
        const chunk = batch.messages.slice(start, start + chunkMessagesMax);
        for (let failures = 1; ; failures++) {
          if (ended()) return;
          try {
            await handler(chunk.map(fromKafka));
            break;
          } catch (error) {
            logger.warn({ err: error, topic: batch.topic, failures }, "messages could not be handled and wait in Kafka");
            await sleep(backoffMs(failures, 100, 2_000), stop.signal);
            await heartbeat();
          }
        }
        resolveOffset((chunk.at(-1) as (typeof chunk)[number]).offset);
        await heartbeat();
      }
    } finally {
      clearInterval(alive);
    }
  };

  /** One consumer, from its start to its end. Resolves when the transport stops, throws when the consumer has failed. */
  const consumeOnce = async (topic: string, group: string, handler: MessageHandler, joined: () => void) => {
    const consumer = kafka.consumer({
      groupId: `${group}.${topic}`,
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: heartbeatMs,
      rebalanceTimeout: rebalanceTimeoutMs,
      maxWaitTimeInMs: fetchWaitMs,
      allowAutoTopicCreation: false,
      // A consumer that kafkajs restarts by itself can outlive its disconnect; here each one has one life.
      retry: { restartOnFailure: async () => false },
    });
    const end = Promise.withResolvers<void>();
    // It may fail before anybody waits for it.
    end.promise.catch(() => {});
    consumer.on(consumer.events.GROUP_JOIN, joined);
    consumer.on(consumer.events.CRASH, ({ payload }) => end.reject(payload.error));
    const stopped = () => end.resolve();
    stop.signal.addEventListener("abort", stopped);
    try {
      await ensureTopic(topic);
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run({
        partitionsConsumedConcurrently: 3,
        eachBatchAutoResolve: false,
        eachBatch: (payload) => handOver(payload, handler),
      });
      await end.promise;
    } finally {
      stop.signal.removeEventListener("abort", stopped);
      await consumer.disconnect().catch(() => {});
    }
  };

  const consumeAlways = async (topic: string, group: string, handler: MessageHandler) => {
    for (let failures = 1; !stop.signal.aborted; failures++) {
      try {
        await consumeOnce(topic, group, handler, () => {
          failures = 0;
        });
      } catch (error) {
        if (stop.signal.aborted) return;
        known.delete(topic);
        if (error instanceof TopicAtRiskError) logger.error({ err: error, alert: true, topic, group }, "nothing is consumed");
        else logger.warn({ err: error, topic, group }, "the consumer lost Kafka and will begin again");
        await sleep(backoffMs(Math.max(1, failures), 200, 2_000), stop.signal);
      }
    }
  };

  const publish = async (topic: string, messages: readonly Message[]) => {
    await ensureTopic(topic);
    producer ??= connectProducer().catch((error: unknown) => {
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
    async check(topics) {
      if (!options.requiresCopies) return;
      const ended = new AbortController();
      try {
        const timeLimit = sleep(checkTimeoutMs, ended.signal).then(() => {
          if (!ended.signal.aborted) throw new Error(`no answer within ${checkTimeoutMs / 1000} s`);
        });
        await Promise.race([Promise.all(topics.map(ensureTopic)), timeLimit]);
      } catch (error) {
        if (error instanceof TopicAtRiskError) throw error;
        logger.warn({ err: error }, "Kafka could not be asked about its topics; they are checked when they are first used");
      } finally {
        ended.abort();
      }
    },
    async publish(topic, messages, signal) {
      // What hangs would hang the next one too.
      const abandon = () => {
        known.delete(topic);
        producer?.then((connected) => connected.disconnect()).catch(() => {});
        producer = undefined;
      };
      signal?.addEventListener("abort", abandon, { once: true });
      try {
        await publish(topic, messages);
      } catch (error) {
        // Perhaps it is the topic that has gone.
        known.delete(topic);
        throw error;
      } finally {
        signal?.removeEventListener("abort", abandon);
      }
    },
    async subscribe(topic, group, handler) {
      consuming.push(consumeAlways(topic, group, handler));
    },
    services: [],
    async [Symbol.asyncDispose]() {
      stop.abort();
      const ended = new AbortController();
      await Promise.race([
        Promise.all([...consuming, producer?.then((connected) => connected.disconnect()).catch(() => {})]),
        sleep(stopTimeoutMs, ended.signal),
      ]);
      ended.abort();
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
