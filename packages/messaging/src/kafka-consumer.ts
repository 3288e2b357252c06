import { backoffMs, type Logger, onScrape, sleep } from "@amana/runtime";
import type { EachBatchPayload, Kafka } from "kafkajs";
import { TopicAtRiskError, type Topics } from "./kafka-topics.ts";
import type { Message } from "./message.ts";
import { consumerLag, consumersJoined } from "./metrics.ts";
import type { MessageHandler } from "./transport.ts";

/** How soon a member that died gives up its partitions; brokers allow no less by default. */
const sessionTimeoutMs = 6_000;
/** A group notices so late that a member came or went, and stands still meanwhile. */
const heartbeatMs = 1_000;
/** How long the group waits for a busy member before others get its partitions. */
const rebalanceTimeoutMs = 30_000;
/** How long the broker holds an empty fetch open; a stop or a rebalance waits for its end. */
const fetchWaitMs = 1_000;
/** After each so many messages the group may take the partition away. */
const chunkMessagesMax = 200;
/** How often the position is told; after a crash the rest comes again, and inboxes know it. */
const commitMs = 1_000;

interface Subscription {
  readonly kafka: Kafka;
  readonly topics: Topics;
  readonly logger: Logger;
  readonly topic: string;
  readonly group: string;
  readonly handler: MessageHandler;
  /** Ends it. */
  readonly stop: AbortSignal;
}

/** Consumes until stopped: a consumer that cannot start, or that ends, is replaced. */
export async function consumeAlways(subscription: Subscription): Promise<void> {
  const { topics, logger, topic, group, stop } = subscription;
  for (let failures = 1; !stop.aborted; failures++) {
    try {
      await consumeOnce(subscription, () => {
        failures = 0;
      });
    } catch (error) {
      if (stop.aborted) return;
      topics.forget(topic);
      if (error instanceof TopicAtRiskError) logger.error({ err: error, alert: true, topic, group }, "nothing is consumed");
      else logger.warn({ err: error, topic, group }, "the consumer lost Kafka and will begin again");
      await sleep(backoffMs(Math.max(1, failures), 200, 2_000), stop);
    }
  }
}

/** One consumer's life. Resolves when it is stopped, throws when it has failed. */
async function consumeOnce(subscription: Subscription, joined: () => void): Promise<void> {
  const { kafka, topics, topic, group, stop } = subscription;
  const consumer = kafka.consumer({
    groupId: `${group}.${topic}`,
    sessionTimeout: sessionTimeoutMs,
    heartbeatInterval: heartbeatMs,
    rebalanceTimeout: rebalanceTimeoutMs,
    maxWaitTimeInMs: fetchWaitMs,
    allowAutoTopicCreation: false,
    // One that kafkajs restarts by itself can outlive its disconnect; here each has one life.
    retry: { restartOnFailure: async () => false },
  });
  const end = Promise.withResolvers<void>();
  // It may fail before anybody waits for it.
  end.promise.catch(() => {});
  consumer.on(consumer.events.GROUP_JOIN, joined);
  consumer.on(consumer.events.CRASH, ({ payload }) => end.reject(payload.error));
  const offsets = new Map<number, string>();
  const lags = new Map<number, number>();
  const forget = () => {
    offsets.clear();
    lags.clear();
  };
  consumer.on(consumer.events.REBALANCING, forget);
  consumer.on(consumer.events.GROUP_JOIN, forget);
  const isJoined = (value: 0 | 1) => consumersJoined.set({ topic }, value);
  isJoined(0);
  consumer.on(consumer.events.GROUP_JOIN, () => isJoined(1));
  const showing = onScrape(() =>
    consumerLag.set(
      { topic },
      [...lags.values()].reduce((sum, lag) => sum + lag, 0),
    ),
  );
  const commit = async () => {
    const done = [...offsets].map(([partition, offset]) => ({ topic, partition, offset }));
    offsets.clear();
    if (done.length > 0) await consumer.commitOffsets(done);
  };
  // kafkajs would commit after each batch and wait for it. After a failure the next one does.
  const committing = setInterval(() => commit().catch(() => {}), commitMs);
  const stopped = () => end.resolve();
  stop.addEventListener("abort", stopped);
  try {
    await topics.ensure(topic);
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      partitionsConsumedConcurrently: 6,
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: (payload) => handOver(subscription, payload, { offsets, lags }),
    });
    await end.promise;
  } finally {
    stop.removeEventListener("abort", stopped);
    isJoined(0);
    showing[Symbol.dispose]();
    clearInterval(committing);
    await commit().catch(() => {});
    await consumer.disconnect().catch(() => {});
  }
}

/** Hands a batch over in chunks, each again and again until its handler succeeds. */
async function handOver(
  { handler, logger, stop }: Subscription,
  payload: EachBatchPayload,
  { offsets, lags }: { offsets: Map<number, string>; lags: Map<number, number> },
): Promise<void> {
  const { batch, resolveOffset, heartbeat, isRunning, isStale } = payload;
  const ended = () => stop.aborted || !isRunning() || isStale();
  // A long chunk must not look like a dead member. A rebalance is noticed after the chunk.
  const alive = setInterval(() => heartbeat().catch(() => {}), heartbeatMs);
  try {
    for (let start = 0; start < batch.messages.length; start += chunkMessagesMax) {
      const chunk = batch.messages.slice(start, start + chunkMessagesMax);
      lags.set(batch.partition, Number(BigInt(batch.highWatermark) - BigInt(chunk[0]?.offset ?? batch.highWatermark)));
      for (let failures = 1; ; failures++) {
        if (ended()) return;
        try {
          await handler(chunk.map(fromKafka));
          break;
        } catch (error) {
          logger.warn({ err: error, topic: batch.topic, failures }, "messages could not be handled and wait in Kafka");
          await sleep(backoffMs(failures, 100, 2_000), stop);
          await heartbeat();
        }
      }
      const { offset } = chunk.at(-1) as (typeof chunk)[number];
      resolveOffset(offset);
      // What is committed is the one to go on with.
      offsets.set(batch.partition, String(BigInt(offset) + 1n));
      lags.set(batch.partition, Number(BigInt(batch.highWatermark) - BigInt(offset) - 1n));
      await heartbeat();
    }
  } finally {
    clearInterval(alive);
  }
}

function fromKafka(message: {
  key: Buffer | null;
  value: Buffer | null;
  headers?: Record<string, unknown> | undefined;
}): Message {
  const headers = Object.fromEntries(Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)]));
  return { key: message.key?.toString() ?? "", payload: message.value ?? new Uint8Array(), headers };
}
