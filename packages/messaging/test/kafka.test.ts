import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKafka } from "@amana/dev-env/kafka/java-kafka";
import type { Kafka } from "@amana/dev-env/kafka/kafka";
import { silentProgress } from "@amana/dev-env/progress";
import { createLogger, uuidv7 } from "@amana/runtime";
import { createTestDatabase, eventually, testEventKeys, testEventSettings } from "@amana/testing";
import { Kafka as Client, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { consume, createTransport, type Message, startRelay, type Transport } from "../src/index.ts";
import type { MessageHandler } from "../src/transport.ts";
import { startChild } from "./child.ts";
import { database, deadLetters, effects, emit, outbox, recordEffect, topic } from "./database.ts";
import { aMessage } from "./memory-transport.ts";
import { waitForRelay } from "./wait-for-relay.ts";

const logger = createLogger("test", process.env["TEST_LOG_LEVEL"] ?? "silent");

const dir = await mkdtemp(join(tmpdir(), "amana-kafka-"));
let missing = "";
let kafka: Kafka;
try {
  kafka = await startKafka({ dir, progress: silentProgress });
} catch (error) {
  if (process.env["CI"]) throw error;
  missing = String(error);
  process.stderr.write(`\nSKIPPED: tests with a real Kafka, which CI requires. ${missing}\n\n`);
}
afterAll(async () => {
  await kafka?.stop();
  await rm(dir, { recursive: true, force: true });
});

const topics = [
  "fresh.v1",
  "ahead.v1",
  "ordered.v1",
  "shared.v1",
  "failing.v1",
  "slow.v1",
  "outage.v1",
  "closed.v1",
  "forged.v1",
  topic,
];

type WhenFinished = (close: () => Promise<void>) => void;

/** Creates a transport. Concurrent tests pass their own `onTestFinished`. */
async function aTransport(brokers = kafka.brokers, whenFinished: WhenFinished = onTestFinished): Promise<Transport> {
  const options = { kind: "kafka", brokers: [brokers], keys: testEventKeys(...topics), requiresCopies: false } as const;
  const transport = await createTransport(options, { clientId: "test", logger });
  whenFinished(async () => await transport[Symbol.asyncDispose]());
  return transport;
}

const bodyOf = (message: Message) => Buffer.from(message.payload).toString();
const numbers = (count: number, prefix = "") => Array.from({ length: count }, (_, number) => `${prefix}${number}`);
const keys = numbers(24, "key");

/** Subscribes with a new transport; `received` contains "key:body" of each received message. */
async function aSubscriber(
  to: string,
  group: string,
  beforeMessages: MessageHandler = async () => {},
  whenFinished?: WhenFinished,
) {
  const transport = await aTransport(kafka.brokers, whenFinished);
  const received: string[] = [];
  await transport.subscribe(to, group, async (messages) => {
    await beforeMessages(messages);
    received.push(...messages.map((message) => `${message.key}:${bodyOf(message)}`));
  });
  return Object.assign(transport, { received });
}

async function withAdmin<T>(use: (admin: ReturnType<Client["admin"]>) => Promise<T>): Promise<T> {
  const admin = new Client({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.disconnect();
  }
}

/**
 * Returns the state and the number of members of a group, for example "Stable 2" when two members
 * have partitions.
 */
const readGroupState = (group: string) =>
  withAdmin(async (admin) => {
    const { groups } = await admin.describeGroups([group]);
    return `${groups[0]?.state} ${groups[0]?.members.length}`;
  });

describe.skipIf(missing !== "")("the Kafka transport", () => {
  const warnings: string[] = [];
  const recordWarning = (warning: Error) => warnings.push(`${warning.name}: ${warning.message}`);
  beforeAll(() => {
    process.on("warning", recordWarning);
  });
  afterAll(() => {
    process.off("warning", recordWarning);
    expect(warnings).toEqual([]);
  });

  test("the Kafka transport creates a missing topic, and delivers a message unchanged to every group", async () => {
    const [first, second] = [Promise.withResolvers<readonly Message[]>(), Promise.withResolvers<readonly Message[]>()];
    const transport = await aTransport();
    await transport.subscribe("fresh.v1", "one", async (messages) => first.resolve(messages));
    await transport.subscribe("fresh.v1", "two", async (messages) => second.resolve(messages));
    const message = { key: "k", payload: Buffer.from([0, 255]), headers: { ce_id: uuidv7(), ce_type: "é" } };
    await (await aTransport()).publish("fresh.v1", [message]);
    for (const arrived of await Promise.all([first.promise, second.promise])) {
      expect(arrived.map((signed) => transport.keys.verify("fresh.v1", signed))).toEqual([message]);
    }
  });

  test("the Kafka transport accepts messages of a publisher whose clock is more than an hour ahead", async () => {
    const { received } = await aSubscriber("ahead.v1", "ahead");
    const now = Date.now;
    const ahead = vi.spyOn(Date, "now").mockImplementation(() => now() + 61 * 60 * 1000);
    onTestFinished(() => ahead.mockRestore());
    await (await aTransport()).publish("ahead.v1", [aMessage("early", { key: "k" })]);
    await eventually(() => expect(received).toEqual(["k:early"]));
  });

  test("the Kafka transport delivers the messages of each key in order from several batches and partitions", async () => {
    const { received } = await aSubscriber("ordered.v1", "order");
    const publisher = await aTransport();
    for (const body of numbers(30)) {
      await publisher.publish(
        "ordered.v1",
        keys.map((key) => aMessage(body, { key })),
      );
    }
    // kafkajs can send a batch twice while a topic is being created.
    await eventually(() => expect(new Set(received).size).toBe(30 * keys.length));
    for (const key of keys) {
      expect([...new Set(received)].filter((text) => text.startsWith(`${key}:`))).toEqual(numbers(30, `${key}:`));
    }
    const offsets = await withAdmin((admin) => admin.fetchTopicOffsets("ordered.v1"));
    expect(offsets.map(({ high }) => Number(high) > 0)).toEqual(Array(6).fill(true));
  });

  test("two members of a Kafka group share the messages, and after one member stops, the other member gets all messages", async () => {
    const [leaving, remaining] = [await aSubscriber("shared.v1", "share"), await aSubscriber("shared.v1", "share")];
    await eventually(async () => expect(await readGroupState("share.shared.v1")).toBe("Stable 2"));
    const publisher = await aTransport();
    const publish = (body: string) =>
      publisher.publish(
        "shared.v1",
        keys.map((key) => aMessage(body, { key })),
      );
    // Waits until both members have received messages.
    await eventually(async () => {
      await publish("shared");
      expect([leaving.received.length > 0, remaining.received.length > 0]).toEqual([true, true]);
    });
    await leaving[Symbol.asyncDispose]();
    remaining.received.length = 0;
    await publish("alone");
    await eventually(() => {
      // A rebalance may deliver a message twice.
      expect(new Set(remaining.received.filter((text) => text.endsWith(":alone")))).toEqual(
        new Set(keys.map((key) => `${key}:alone`)),
      );
    });
  });

  test("the Kafka transport passes the same messages to a failing handler again, in the same order, until the handler succeeds", async () => {
    let failures = 0;
    const { received } = await aSubscriber("failing.v1", "fail", async (messages) => {
      if (messages.some((message) => bodyOf(message) === "bad") && ++failures < 5) throw new TypeError("handler failed");
    });
    await (await aTransport()).publish(
      "failing.v1",
      ["1", "bad", "2"].map((body) => aMessage(body)),
    );
    await eventually(() => expect(received).toEqual(["k:1", "k:bad", "k:2"]));
    expect(failures).toBe(5);
  });

  test("the Kafka transport delivers a message to only one member of a group, even if the handler takes longer than the session timeout", {
    concurrent: true,
  }, async (testContext) => {
    const calls: string[] = [];
    const handleSlowly: MessageHandler = async (messages) => {
      calls.push(...messages.map(bodyOf));
      await new Promise((resolve) => setTimeout(resolve, 8_000));
    };
    const aMember = () => aSubscriber("slow.v1", "slow", handleSlowly, testContext.onTestFinished);
    const members = [await aMember(), await aMember()];
    await eventually(async () => expect(await readGroupState("slow.slow.v1")).toBe("Stable 2"));
    await (await aTransport(kafka.brokers, testContext.onTestFinished)).publish("slow.v1", [aMessage("once")]);
    await eventually(() => expect(members.flatMap(({ received }) => received)).toEqual(["k:once"]));
    expect(calls).toEqual(["once"]);
  });

  test("two consumers of the Kafka transport apply each of thousands of messages once even if one consumer is killed", {
    concurrent: true,
  }, async (testContext) => {
    await using db = await createTestDatabase("messaging", database);
    const env = {
      DATABASE_URL: db.url,
      EVENTS: "kafka",
      KAFKA_BROKERS: kafka.brokers,
      EVENT_MAC_KEYS: testEventSettings(topic).EVENT_MAC_KEYS,
    };
    await using killed = startChild("./consumer-process.ts", env);
    await using survivor = startChild("./consumer-process.ts", env);
    await Promise.all([killed.nextLine(), survivor.nextLine()]);
    await eventually(async () => expect(await readGroupState(`tests.${topic}`)).toBe("Stable 2"));
    const transport = await aTransport(kafka.brokers, testContext.onTestFinished);
    await using _relay = startRelay({ databaseUrl: db.url, topics: [topic], transport, logger });

    for (const body of numbers(60)) {
      await Promise.all(keys.map((key) => emit(db.orm, key, `${body}a`, `${body}b`)));
      if (body === "20") {
        await eventually(async () => expect((await effects(db.orm)).length).toBeGreaterThan(100));
        killed.kill("SIGKILL");
      }
    }
    expect(await killed.ended()).toBe("SIGKILL");
    const expected = numbers(60).flatMap((body) => [`${body}a`, `${body}b`]);
    await eventually(async () => expect(await effects(db.orm)).toHaveLength(keys.length * expected.length));
    for (const key of keys) {
      const rows = await db.orm.em.fork().execute("select body from effect where key = ? order by position", [key]);
      expect(rows.map(({ body }) => body)).toEqual(expected);
    }
    expect(await deadLetters(db.orm)).toEqual([]);
  });

  test("a relay and a consumer deliver all events without a restart of their processes if Kafka is down at their start and again later", async () => {
    await using db = await createTestDatabase("messaging", database);
    await kafka.stop();
    const [consuming, publishing] = [await aTransport(), await aTransport()];
    await using _consumer = await consume(
      { topic: "outage.v1", consumer: "outage", effect: recordEffect },
      { orm: db.orm, transport: consuming, logger },
    );
    await using _relay = startRelay({
      databaseUrl: db.url,
      topics: [topic],
      // Publishes to the topic of this test instead of the topic of `emit`.
      transport: { ...publishing, publish: (_topic, messages) => publishing.publish("outage.v1", messages) },
      logger,
    });
    await emit(db.orm, "k", "before");
    expect(await outbox(db.orm)).toEqual(["before"]);
    await kafka.start();
    await waitForRelay(db.orm);
    await eventually(async () => expect(await effects(db.orm)).toEqual(["before"]));

    const bodies = numbers(60);
    for (const body of bodies) {
      await emit(db.orm, "k", body);
      if (body === "20") await kafka.kill();
      if (body === "40") await kafka.start();
    }
    await waitForRelay(db.orm);
    await eventually(async () => expect(await effects(db.orm)).toEqual(["before", ...bodies]));
    expect(await deadLetters(db.orm)).toEqual([]);
  });

  test("a Kafka transport that is closed during its start leaves its consumer group", async () => {
    const nowhere = await aTransport("127.0.0.1:1");
    await nowhere.subscribe("closed.v1", "close", async () => {});
    const publishing = expect(nowhere.publish("closed.v1", [aMessage("1")])).rejects.toThrow();
    await nowhere[Symbol.asyncDispose]();
    await publishing;

    for (const afterMs of [0, 10, 30, 100, 200]) {
      const transport = await aTransport();
      await transport.subscribe("closed.v1", "close", async () => {});
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      await transport[Symbol.asyncDispose]();
      expect(await readGroupState("close.closed.v1")).toMatch(/^(Empty|Dead) 0$/);
    }
  });
});
