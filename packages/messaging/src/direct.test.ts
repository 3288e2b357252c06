import { HandOverService } from "@amana/contracts/messaging/v1/hand_over_service_pb";
import { createRpcChannel, createRpcClient, createRpcServer, noCaller } from "@amana/rpc";
import { createLogger } from "@amana/runtime";
import { createTestDatabase, eventually, type TestDatabase, testEventKeys, testEventSettings } from "@amana/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startChild } from "../test/child.ts";
import { database, deadLetters, effects, emit, outbox, topic, writeDown } from "../test/database.ts";
import { aMessage } from "../test/memory-transport.ts";
import { settled } from "../test/settled.ts";
import { consume, createTransport, type MessageKeyring, startRelay, type Transport } from "./index.ts";

const logger = createLogger("test", "silent");
let emitting: TestDatabase;
let consuming: TestDatabase;
let stack: AsyncDisposableStack;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  emitting = stack.use(await createTestDatabase("messaging", database));
  consuming = stack.use(await createTestDatabase("messaging", database));
});
afterEach(() => stack.disposeAsync());

const keys = testEventKeys(topic, "other.v1");
const open = async (subscribers: Record<string, string[]>, ring: MessageKeyring = keys): Promise<Transport> => {
  const options = { kind: "direct", subscribers, keys: ring } as const;
  return stack.use(await createTransport(options, { clientId: "test", logger }));
};
const transportTo = (...urls: string[]): Promise<Transport> => open(urls.length > 0 ? { [topic]: urls } : {});

/** A consuming service; `port` 0 picks one. */
async function aSubscriber(name: string, port = 0) {
  const transport = await transportTo();
  stack.use(await consume({ topic, consumer: name, effect: writeDown }, { orm: consuming.orm, transport, logger }));
  return stack.use(
    await createRpcServer({ services: transport.services, host: "127.0.0.1", port, audience: "tests", callerKeys: [], logger }),
  );
}

test("what commits here takes effect there, in order, and leaves the outbox", async () => {
  const { url } = await aSubscriber("tests");
  stack.use(startRelay({ databaseUrl: emitting.url, topics: [topic], transport: await transportTo(url), logger }));
  await emit(emitting.orm, "k", "1", "2");
  await emit(emitting.orm, "k", "3");
  await settled(emitting.orm);
  expect(await effects(consuming.orm)).toEqual(["1", "2", "3"]);
  expect(await outbox(emitting.orm)).toEqual([]);
});

test("while one of two subscribers is down a message counts as undelivered, and later takes effect once at each", async () => {
  const up = await aSubscriber("up");
  const down = await aSubscriber("down");
  await down[Symbol.asyncDispose]();
  stack.use(startRelay({ databaseUrl: emitting.url, topics: [topic], transport: await transportTo(up.url, down.url), logger }));
  await emit(emitting.orm, "k", "1", "2");
  await eventually(async () => expect(await effects(consuming.orm)).toEqual(["1", "2"]));
  expect(await outbox(emitting.orm)).toEqual(["1", "2"]);

  await aSubscriber("down", down.port);
  await settled(emitting.orm);
  expect(await effects(consuming.orm)).toEqual(["1", "2", "1", "2"]);
  expect(await outbox(emitting.orm)).toEqual([]);
});

test("a consumer killed between its commit and its answer gets the message again, which has no second effect", async () => {
  const env = { DATABASE_URL: consuming.url, ...testEventSettings(topic) };
  const message = aMessage("body");
  await using crashing = startChild("./consumer-process.ts", { ...env, FAULT_POINT: "consumer.committed" });
  await expect((await transportTo(await crashing.nextLine())).publish(topic, [message])).rejects.toThrow();
  expect(await crashing.ended()).toBe("SIGKILL");
  expect(await effects(consuming.orm)).toEqual(["body"]);

  await using restarted = startChild("./consumer-process.ts", env);
  await (await transportTo(await restarted.nextLine())).publish(topic, [message]);
  expect(await effects(consuming.orm)).toEqual(["body"]);
  expect(await deadLetters(consuming.orm)).toEqual([]);
});

test("only who holds the topic's key may hand messages over, and only those of a topic that is consumed there", async () => {
  const { url } = await aSubscriber("tests");
  const elsewhere = await open({ "other.v1": [url] });
  await expect(elsewhere.publish("other.v1", [aMessage("1")])).rejects.toThrow("does not consume other.v1");

  const stranger = await open({ [topic]: [url] }, { [topic]: [{ id: "test", key: Buffer.alloc(32, 9) }] });
  await expect(stranger.publish(topic, [aMessage("1")])).rejects.toMatchObject({
    kind: "forbidden",
    code: "message_not_authentic",
  });
  const client = createRpcClient(HandOverService, stack.use(createRpcChannel({ urls: [url], audience: "tests" })));
  const unsigned = aMessage("1");
  const messages = [{ ...unsigned, headers: { ...unsigned.headers } }];
  await expect(client.handOverMessages({ topic, messages }, { caller: noCaller })).rejects.toMatchObject({ kind: "forbidden" });
  expect(await effects(consuming.orm)).toEqual([]);
  expect(await deadLetters(consuming.orm)).toEqual([]);
});

test("a topic that nobody receives is not taken for delivered", async () => {
  await expect((await transportTo()).publish(topic, [aMessage("1")])).rejects.toThrow("DIRECT_SUBSCRIBERS");
});
