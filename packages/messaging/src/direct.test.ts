import { createRpcServer } from "@amana/rpc";
import { createLogger, readEnv, SettingsError } from "@amana/runtime";
import { createTestDatabase, eventually, type TestDatabase } from "@amana/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startChild } from "../test/child.ts";
import { database, deadLetters, effects, emit, outbox, topic, writeDown } from "../test/database.ts";
import { aMessage } from "../test/memory-transport.ts";
import { consume, createTransport, readTransportOptions, startRelay, type Transport } from "./index.ts";

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

const transportTo = (...urls: string[]): Transport =>
  stack.use(
    createTransport({ kind: "direct", subscribers: urls.length > 0 ? { [topic]: urls } : {} }, { clientId: "test", logger }),
  );

/** A consuming service; `port` 0 picks one. */
async function aSubscriber(name: string, port = 0) {
  const transport = transportTo();
  stack.use(await consume({ topic, consumer: name, effect: writeDown }, { orm: consuming.orm, transport, logger }));
  return stack.use(
    await createRpcServer({ services: transport.services, host: "127.0.0.1", port, audience: "tests", callerKeys: [], logger }),
  );
}

test("what commits here takes effect there, in order, and leaves the outbox", async () => {
  const { url } = await aSubscriber("tests");
  const relay = stack.use(startRelay({ databaseUrl: emitting.url, transport: transportTo(url), logger }));
  await emit(emitting.orm, "k", "1", "2");
  await emit(emitting.orm, "k", "3");
  await relay.settled();
  expect(await effects(consuming.orm)).toEqual(["1", "2", "3"]);
  expect(await outbox(emitting.orm)).toEqual([]);
});

test("while one of two subscribers is down a message counts as undelivered, and later takes effect once at each", async () => {
  const up = await aSubscriber("up");
  const down = await aSubscriber("down");
  await down[Symbol.asyncDispose]();
  const relay = stack.use(startRelay({ databaseUrl: emitting.url, transport: transportTo(up.url, down.url), logger }));
  await emit(emitting.orm, "k", "1", "2");
  await eventually(async () => expect(await effects(consuming.orm)).toEqual(["1", "2"]));
  expect(await outbox(emitting.orm)).toEqual(["1", "2"]);

  await aSubscriber("down", down.port);
  await relay.settled();
  expect(await effects(consuming.orm)).toEqual(["1", "2", "1", "2"]);
  expect(await outbox(emitting.orm)).toEqual([]);
});

test("a consumer killed between its commit and its answer gets the message again, which has no second effect", async () => {
  const env = { DATABASE_URL: consuming.url };
  const message = aMessage("body");
  await using crashing = startChild("./consumer-process.ts", { ...env, FAULT_POINT: "consumer.committed" });
  await expect(transportTo(await crashing.nextLine()).publish(topic, [message])).rejects.toThrow();
  expect(await crashing.ended()).toBe("SIGKILL");
  expect(await effects(consuming.orm)).toEqual(["body"]);

  await using restarted = startChild("./consumer-process.ts", env);
  await transportTo(await restarted.nextLine()).publish(topic, [message]);
  expect(await effects(consuming.orm)).toEqual(["body"]);
  expect(await deadLetters(consuming.orm)).toEqual([]);
});

test("messages of a topic that is not consumed there are refused", async () => {
  const { url } = await aSubscriber("tests");
  const elsewhere = stack.use(
    createTransport({ kind: "direct", subscribers: { "other.v1": [url] } }, { clientId: "test", logger }),
  );
  await expect(elsewhere.publish("other.v1", [aMessage("1")])).rejects.toThrow("does not consume other.v1");
});

test("a topic that nobody receives is not taken for delivered", async () => {
  await expect(transportTo().publish(topic, [aMessage("1")])).rejects.toThrow("DIRECT_SUBSCRIBERS");
});

test("the settings name the brokers, or who receives what", () => {
  const read = (source: Record<string, string>) => readEnv((env) => ({ events: readTransportOptions(env) }), source).events;
  expect(read({ KAFKA_BROKERS: "a:9092, b:9092", DIRECT_SUBSCRIBERS: "x=http://h:1" })).toEqual({
    kind: "kafka",
    brokers: ["a:9092", "b:9092"],
  });
  expect(read({ DIRECT_SUBSCRIBERS: "x=http://h:1,y=http://h:1,x=http://h:2" })).toEqual({
    kind: "direct",
    subscribers: { x: ["http://h:1", "http://h:2"], y: ["http://h:1"] },
  });
  expect(read({})).toEqual({ kind: "direct", subscribers: {} });
  expect(() => read({ DIRECT_SUBSCRIBERS: "payments.v1" })).toThrow(SettingsError);
});
