import { HandOverService } from "@amana/contracts/messaging/v1/hand_over_service_pb";
import { createRpcChannel, createRpcClient, createRpcServer, noCaller } from "@amana/rpc";
import { createLogger } from "@amana/runtime";
import { createTestDatabase, eventually, type TestDatabase, testEventKeys, testEventSettings } from "@amana/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startChild } from "../test/child.ts";
import { database, deadLetters, effects, emit, outbox, recordEffect, topic } from "../test/database.ts";
import { aMessage } from "../test/memory-transport.ts";
import { waitForRelay } from "../test/wait-for-relay.ts";
import { consume, createTransport, startRelay, type Transport } from "./index.ts";
import type { MessageKeyring } from "./message-keys.ts";

const logger = createLogger("test", "silent");
let publisherDb: TestDatabase;
let consumerDb: TestDatabase;
let stack: AsyncDisposableStack;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  publisherDb = stack.use(await createTestDatabase("messaging", database));
  consumerDb = stack.use(await createTestDatabase("messaging", database));
});
afterEach(() => stack.disposeAsync());

const keys = testEventKeys(topic, "other.v1");
const openTransport = async (subscribers: Record<string, string[]>, ring: MessageKeyring = keys): Promise<Transport> => {
  const options = { kind: "direct", subscribers, keys: ring } as const;
  return stack.use(await createTransport(options, { clientId: "test", logger }));
};
const transportTo = (...urls: string[]): Promise<Transport> => openTransport(urls.length > 0 ? { [topic]: urls } : {});

/** Starts a consuming service. With `port` 0, the system selects a free port. */
async function aSubscriber(name: string, port = 0) {
  const transport = await transportTo();
  stack.use(await consume({ topic, consumer: name, effect: recordEffect }, { orm: consumerDb.orm, transport, logger }));
  return stack.use(
    await createRpcServer({ services: transport.services, host: "127.0.0.1", port, audience: "tests", callerKeys: [], logger }),
  );
}

test("the direct transport delivers committed events to the subscriber in order, and leaves no event unpublished in the outbox", async () => {
  const { url } = await aSubscriber("tests");
  stack.use(startRelay({ databaseUrl: publisherDb.url, topics: [topic], transport: await transportTo(url), logger }));
  await emit(publisherDb.orm, "k", "1", "2");
  await emit(publisherDb.orm, "k", "3");
  await waitForRelay(publisherDb.orm);
  expect(await effects(consumerDb.orm)).toEqual(["1", "2", "3"]);
  expect(await outbox(publisherDb.orm)).toEqual([]);
});

test("the direct transport keeps a message in the outbox while one of two subscribers is down, and both subscribers apply the message once", async () => {
  const up = await aSubscriber("up");
  const down = await aSubscriber("down");
  await down[Symbol.asyncDispose]();
  stack.use(
    startRelay({ databaseUrl: publisherDb.url, topics: [topic], transport: await transportTo(up.url, down.url), logger }),
  );
  await emit(publisherDb.orm, "k", "1", "2");
  await eventually(async () => expect(await effects(consumerDb.orm)).toEqual(["1", "2"]));
  expect(await outbox(publisherDb.orm)).toEqual(["1", "2"]);

  await aSubscriber("down", down.port);
  await waitForRelay(publisherDb.orm);
  expect(await effects(consumerDb.orm)).toEqual(["1", "2", "1", "2"]);
  expect(await outbox(publisherDb.orm)).toEqual([]);
});

test("a subscriber of the direct transport applies a message once if the subscriber is killed after its commit and gets the message again", async () => {
  const env = { DATABASE_URL: consumerDb.url, ...testEventSettings(topic) };
  const message = aMessage("body");
  await using crashing = startChild("./consumer-process.ts", { ...env, FAULT_POINT: "consumer.committed" });
  await expect((await transportTo(await crashing.nextLine())).publish(topic, [message])).rejects.toThrow();
  expect(await crashing.ended()).toBe("SIGKILL");
  expect(await effects(consumerDb.orm)).toEqual(["body"]);

  await using restarted = startChild("./consumer-process.ts", env);
  await (await transportTo(await restarted.nextLine())).publish(topic, [message]);
  expect(await effects(consumerDb.orm)).toEqual(["body"]);
  expect(await deadLetters(consumerDb.orm)).toEqual([]);
});

test("a subscriber of the direct transport rejects messages of other topics and messages without a valid MAC", async () => {
  const { url } = await aSubscriber("tests");
  const otherTopic = await openTransport({ "other.v1": [url] });
  await expect(otherTopic.publish("other.v1", [aMessage("1")])).rejects.toThrow("does not consume other.v1");

  const otherKey = await openTransport({ [topic]: [url] }, { [topic]: [{ id: "test", key: Buffer.alloc(32, 9) }] });
  await expect(otherKey.publish(topic, [aMessage("1")])).rejects.toMatchObject({
    kind: "forbidden",
    code: "message_not_authentic",
  });
  const client = createRpcClient(HandOverService, stack.use(createRpcChannel({ urls: [url], audience: "tests" })));
  const unsigned = aMessage("1");
  const messages = [{ ...unsigned, headers: { ...unsigned.headers } }];
  await expect(client.handOverMessages({ topic, messages }, { caller: noCaller })).rejects.toMatchObject({ kind: "forbidden" });
  expect(await effects(consumerDb.orm)).toEqual([]);
  expect(await deadLetters(consumerDb.orm)).toEqual([]);
});

test("`publish` of the direct transport throws for a topic without a subscriber", async () => {
  await expect((await transportTo()).publish(topic, [aMessage("1")])).rejects.toThrow("DIRECT_SUBSCRIBERS");
});
