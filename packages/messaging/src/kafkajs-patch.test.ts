import { createRequire } from "node:module";
import { expect, test } from "vitest";

const require = createRequire(import.meta.url);
const createSendMessages = require("kafkajs/src/producer/sendMessages.js") as (
  parts: object,
) => (batch: object) => Promise<unknown>;

/** Two brokers of which the second refuses once; then the first one leads its partition too. */
function aClusterThatMoves() {
  const got: string[] = [];
  let hasMoved = false;
  const broker = (nodeId: number) => ({
    nodeId,
    async produce({ topicData }: { topicData: { partitions: { messages: { value: string }[] }[] }[] }) {
      if (nodeId === 2) {
        hasMoved = true;
        throw Object.assign(new Error("not the leader"), { name: "KafkaJSProtocolError", retriable: true });
      }
      for (const { partitions } of topicData) {
        for (const { messages } of partitions) got.push(...messages.map(({ value }) => value));
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
  return { got, cluster };
}

/** Tries again at once, as the library's own does after a pause. */
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

test("what was meant for a broker that refused is sent again, also to one that has answered before", async () => {
  const { got, cluster } = aClusterThatMoves();
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
  expect(new Set(got)).toEqual(new Set(["stays", "moves"]));
});
