import { createRequire } from "node:module";
import { sleep } from "@amana/runtime";
import { afterEach, expect, test, vi } from "vitest";

const require = createRequire(import.meta.url);
const createSendMessages = require("kafkajs/src/producer/sendMessages.js") as (
  parts: object,
) => (batch: object) => Promise<unknown>;

/**
 * Simulates two brokers. The second broker rejects its first request. Then its partition moves to
 * the first broker.
 */
function clusterWithMovedLeader() {
  const received: string[] = [];
  let hasMoved = false;
  const broker = (nodeId: number) => ({
    nodeId,
    async produce({ topicData }: { topicData: { partitions: { messages: { value: string }[] }[] }[] }) {
      if (nodeId === 2) {
        hasMoved = true;
        throw Object.assign(new Error("not the leader"), { name: "KafkaJSProtocolError", retriable: true });
      }
      for (const { partitions } of topicData) {
        for (const { messages } of partitions) received.push(...messages.map(({ value }) => value));
      }
      return { topics: [] };
    },
  });
  const brokers = [broker(1), broker(2)];
  const cluster = {
    refreshMetadataIfNecessary: async () => {},
    refreshMetadata: async () => {},
    addMultipleTargetTopics: async () => {},
    isConnected: () => true,
    findTopicPartitionMetadata: () => [{ partitionId: 0 }, { partitionId: 1 }],
    findLeaderForPartitions: () => (hasMoved ? { 1: [0, 1] } : { 1: [0], 2: [1] }),
    findBroker: async ({ nodeId }: { nodeId: string }) => brokers[Number(nodeId) - 1],
  };
  return { received, cluster };
}

/** Retries without the pause of kafkajs' own retrier. */
async function retrier(attempt: (bail: (error: Error) => void) => Promise<unknown>): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt((error) => {
        throw error;
      });
    } catch (error) {
      if (tries === 3) throw error;
    }
  }
}

test("the patched KafkaJS producer sends messages to the new broker of their partition, even if this broker has already responded to other messages", async () => {
  const { received, cluster } = clusterWithMovedLeader();
  const sendMessages = createSendMessages({
    logger: { debug: () => {}, error: () => {} },
    cluster,
    partitioner: ({ message }: { message: { key: string } }) => Number(message.key),
    eosManager: {
      acquireBrokerLock: async () => {},
      releaseBrokerLock: async () => {},
      isTransactional: () => false,
      getSequence: () => 0,
      updateSequence: () => {},
      getProducerId: () => 0,
      getProducerEpoch: () => 0,
    },
    retrier,
  });
  const messages = [
    { key: "0", value: "stays" },
    { key: "1", value: "moves" },
  ];
  await sendMessages({ acks: -1, timeout: 1_000, topicMessages: [{ topic: "tests.v1", messages }] });
  expect(new Set(received)).toEqual(new Set(["stays", "moves"]));
});

const ConsumerGroup = require("kafkajs/src/consumer/consumerGroup.js") as new (
  options: object,
) => { memberId: string; coordinator: object; heartbeat(options: { interval: number }): Promise<void> };
const RequestQueue = require("kafkajs/src/network/requestQueue/index.js") as new (
  options: object,
) => { push(request: object): void; scheduleRequestTimeoutCheck(): void; destroy(): void };

/**
 * Changes the wall clock by a step, as an operator or a time server can do. The monotonic clock
 * does not change.
 */
function stepWallClock(byMs: number): void {
  const now = Date.now;
  vi.spyOn(Date, "now").mockImplementation(() => now() + byMs);
}
const hourMs = 60 * 60 * 1000;
afterEach(() => {
  vi.restoreAllMocks();
});

test("the patched KafkaJS consumer continues its heartbeats after the wall clock is set back", async () => {
  let beats = 0;
  const group = new ConsumerGroup({ logger: { namespace: () => {} }, instrumentationEmitter: { emit: () => {} } });
  group.memberId = "member";
  group.coordinator = { heartbeat: async () => beats++ };
  await group.heartbeat({ interval: 0 });
  stepWallClock(-hourMs);
  await group.heartbeat({ interval: 0 });
  expect(beats).toBe(2);
});

test.each([
  ["times out after the clock is set back", -hourMs, 1],
  ["does not time out early after the clock is set forward", hourMs, 60_000],
])("a request of patched KafkaJS that gets no response %s", async (_, stepMs, requestTimeout) => {
  const queue = new RequestQueue({
    ...{ requestTimeout, enforceRequestTimeout: true, maxInFlightRequests: null, clientId: "test", broker: "test" },
    logger: { debug: () => {} },
  });
  let outcome = "pending";
  const entry = { correlationId: 1, resolve: () => {}, reject: () => (outcome = "timed out") };
  queue.push({ entry, expectResponse: true, sendRequest: () => {} });
  stepWallClock(stepMs);
  queue.scheduleRequestTimeoutCheck();
  // The queue checks its requests every 100 ms.
  await sleep(300);
  queue.destroy();
  expect(outcome).toBe(stepMs < 0 ? "timed out" : "pending");
});
