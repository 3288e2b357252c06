import { backoffMs, type Logger, onScrape, sleep } from "@amana/runtime";
import type { EachBatchPayload, Kafka } from "kafkajs";
import { type KafkaTopics, TopicAtRiskError } from "./kafka-topics.ts";
import type { Message } from "./message.ts";
import { consumerJoined, consumerLag } from "./metrics.ts";
import type { MessageHandler } from "./transport.ts";

/**
 * Time after which a crashed member loses its partitions. It is the minimum that brokers allow by
 * default.
 */
const sessionTimeoutMs = 6_000;
/** Heartbeat interval. A rebalance ends after the next heartbeat of all members. */
const heartbeatMs = 1_000;
/**
 * Time that a rebalance waits for a busy member. After this time, other members get its partitions.
 */
const rebalanceTimeoutMs = 30_000;
/**
 * Time for which the broker delays an empty fetch. A stop or rebalance waits until the fetch
 * returns.
 */
const fetchWaitMs = 1_000;
/**
 * Maximum number of messages in a chunk. A member can lose a partition to another member only
 * between chunks.
 */
const chunkMessagesMax = 200;
/**
 * Interval of offset commits. After a crash, messages since the last commit are delivered again;
 * inboxes skip them.
 */
const commitMs = 1_000;

interface Subscription {
  readonly kafka: Kafka;
  readonly topics: KafkaTopics;
  readonly logger: Logger;
  readonly topic: string;
  readonly group: string;
  readonly handler: MessageHandler;
  /** Stops the consumer when aborted. */
  readonly stop: AbortSignal;
}

/** Consumes until stopped. Replaces a consumer that cannot start or that fails. */
export async function consumeUntilStopped(subscription: Subscription): Promise<void> {
  const { topics, logger, topic, group, stop } = subscription;
  for (let failures = 1; !stop.aborted; failures++) {
    try {
      await consumeOnce(subscription, () => {
        failures = 0;
      });
    } catch (error) {
      if (stop.aborted) return;
      topics.invalidate(topic);
      if (error instanceof TopicAtRiskError) {
        logger.error({ err: error, alert: true, topic, group }, "consumer not started, topic could lose events");
      } else logger.warn({ err: error, topic, group }, "consumer lost the connection to Kafka, restart scheduled");
      await sleep(backoffMs(Math.max(1, failures), 200, 2_000), stop);
    }
  }
}

/** Runs one kafkajs consumer. Resolves when it is stopped, throws when it fails. */
async function consumeOnce(subscription: Subscription, onJoin: () => void): Promise<void> {
  const { kafka, topics, topic, group, stop } = subscription;
  const consumer = kafka.consumer({
    groupId: `${group}.${topic}`,
    sessionTimeout: sessionTimeoutMs,
    heartbeatInterval: heartbeatMs,
    rebalanceTimeout: rebalanceTimeoutMs,
    maxWaitTimeInMs: fetchWaitMs,
    allowAutoTopicCreation: false,
    // A consumer that kafkajs restarts can continue after its disconnect. `consumeUntilStopped`
    // creates a new consumer instead.
    retry: { restartOnFailure: async () => false },
  });
  const end = Promise.withResolvers<void>();
  // Prevents an unhandled rejection when the consumer fails before `end.promise` is awaited.
  end.promise.catch(() => {});
  consumer.on(consumer.events.GROUP_JOIN, onJoin);
  consumer.on(consumer.events.CRASH, ({ payload }) => end.reject(payload.error));
  const offsets = new Map<number, string>();
  const lags = new Map<number, number>();
  const resetPartitions = () => {
    offsets.clear();
    lags.clear();
  };
  consumer.on(consumer.events.REBALANCING, resetPartitions);
  consumer.on(consumer.events.GROUP_JOIN, resetPartitions);
  const setJoined = (value: 0 | 1) => consumerJoined.set({ topic }, value);
  setJoined(0);
  consumer.on(consumer.events.GROUP_JOIN, () => setJoined(1));
  const lagMetric = onScrape(() =>
    consumerLag.set(
      { topic },
      [...lags.values()].reduce((sum, lag) => sum + lag, 0),
    ),
  );
  const commit = async () => {
    const processed = [...offsets].map(([partition, offset]) => ({ topic, partition, offset }));
    offsets.clear();
    if (processed.length > 0) await consumer.commitOffsets(processed);
  };
  // With autoCommit, kafkajs would wait for a commit after each batch. A failed commit needs no
  // retry, because the next commit has newer offsets.
  const committing = setInterval(() => commit().catch(() => {}), commitMs);
  const onStop = () => end.resolve();
  stop.addEventListener("abort", onStop);
  try {
    await topics.ensure(topic);
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      partitionsConsumedConcurrently: 6,
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: (payload) => handleBatch(subscription, payload, { offsets, lags }),
    });
    await end.promise;
  } finally {
    stop.removeEventListener("abort", onStop);
    setJoined(0);
    lagMetric[Symbol.dispose]();
    clearInterval(committing);
    await commit().catch(() => {});
    await consumer.disconnect().catch(() => {});
  }
}

/** Passes a batch to the handler in chunks. Repeats each chunk until the handler succeeds. */
async function handleBatch(
  { handler, logger, stop }: Subscription,
  payload: EachBatchPayload,
  { offsets, lags }: { offsets: Map<number, string>; lags: Map<number, number> },
): Promise<void> {
  const { batch, resolveOffset, heartbeat, isRunning, isStale } = payload;
  const mustStop = () => stop.aborted || !isRunning() || isStale();
  // Without heartbeats, the group would remove the member during a long chunk. The member detects a
  // rebalance after the chunk.
  const heartbeats = setInterval(() => heartbeat().catch(() => {}), heartbeatMs);
  try {
    for (let start = 0; start < batch.messages.length; start += chunkMessagesMax) {
      const chunk = batch.messages.slice(start, start + chunkMessagesMax);
      lags.set(batch.partition, Number(BigInt(batch.highWatermark) - BigInt(chunk[0]?.offset ?? batch.highWatermark)));
      for (let failures = 1; ; failures++) {
        if (mustStop()) return;
        try {
          await handler(chunk.map(fromKafka));
          break;
        } catch (error) {
          logger.warn({ err: error, topic: batch.topic, failures }, "messages failed, retry scheduled, offset not committed");
          await sleep(backoffMs(failures, 100, 2_000), stop);
          await heartbeat();
        }
      }
      const { offset } = chunk.at(-1) as (typeof chunk)[number];
      resolveOffset(offset);
      // Kafka requires the offset of the next message to read, not of the last message that was
      // read.
      offsets.set(batch.partition, String(BigInt(offset) + 1n));
      lags.set(batch.partition, Number(BigInt(batch.highWatermark) - BigInt(offset) - 1n));
      await heartbeat();
    }
  } finally {
    clearInterval(heartbeats);
  }
}

function fromKafka(message: { key: Buffer | null; value: Buffer | null; headers?: Record<string, unknown> }): Message {
  const headers = Object.fromEntries(Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)]));
  return { key: message.key?.toString() ?? "", payload: message.value ?? new Uint8Array(), headers };
}
