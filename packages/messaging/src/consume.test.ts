import { createOrm, type Orm } from "@amana/database";
import { createLogger, uuidv7 } from "@amana/runtime";
import { createTestDatabase, eventually, type TestDatabase } from "@amana/testing";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { afterEach, beforeEach, expect, test } from "vitest";
import { database, deadLetters, effects, topic, writeDown } from "../test/database.ts";
import { aMessage, MemoryTransport } from "../test/memory-transport.ts";
import { cleanInbox } from "./inbox.ts";
import { type Consumption, consume } from "./index.ts";

const logger = createLogger("test", "silent");
let db: TestDatabase;
let transport: MemoryTransport;
const stack: AsyncDisposable[] = [];

beforeEach(async () => {
  db = await createTestDatabase("messaging", database);
  transport = new MemoryTransport();
});
afterEach(async () => {
  await Promise.all(stack.splice(0).map((consumer) => consumer[Symbol.asyncDispose]()));
  await db[Symbol.asyncDispose]();
});

async function aConsumer(options: Partial<Consumption> = {}, orm: Orm = db.orm) {
  const consumption = { topic, consumer: "tests", effect: writeDown, ...options };
  stack.push(await consume(consumption, { orm, transport, logger }));
}

const bodiesFrom = (count: number) => Array.from({ length: count }, (_, number) => String(number));
const reasons = async () => (await deadLetters(db.orm)).map(({ reason }) => reason);

test("a message takes effect once, however often and in whatever batches it arrives", async () => {
  await aConsumer();
  const [one, two, three] = [aMessage("1"), aMessage("2"), aMessage("3")];
  await transport.deliver(one, one, two, one);
  await transport.deliver(two, three);
  await transport.deliver(one);
  await transport.deliver(one, two, three);
  expect(await effects(db.orm)).toEqual(["1", "2", "3"]);
});

test("two consumers of different names each see every message", async () => {
  const seen: string[] = [];
  for (const consumer of ["a", "b"]) {
    await aConsumer({
      consumer,
      effect: async (_em, messages) => {
        for (const { payload } of messages) seen.push(`${consumer}${Buffer.from(payload)}`);
      },
    });
  }
  await transport.deliver(aMessage("1"), aMessage("2"));
  expect(seen.sort()).toEqual(["a1", "a2", "b1", "b2"]);
});

test("one consumer on two replicas that get the same messages at once, in opposite order, has each effect once", async () => {
  const second = new MemoryTransport();
  await using other = {
    orm: await createOrm({ url: db.url, ...database }, logger),
    [Symbol.asyncDispose]: () => other.orm.close(),
  };
  await aConsumer();
  stack.push(await consume({ topic, consumer: "tests", effect: writeDown }, { orm: other.orm, transport: second, logger }));
  const rounds = Array.from({ length: 10 }, () => bodiesFrom(20).map((body) => aMessage(body)));
  for (const messages of rounds) {
    await Promise.all([transport.deliver(...messages), second.deliver(...messages.toReversed())]);
  }
  expect((await effects(db.orm)).sort()).toEqual(rounds.flatMap(() => bodiesFrom(20)).sort());
  expect(await deadLetters(db.orm)).toEqual([]);
});

test("many messages at once take effect in their order", async () => {
  await aConsumer();
  await transport.deliver(...bodiesFrom(450).map((body) => aMessage(body)));
  expect(await effects(db.orm)).toEqual(bodiesFrom(450));
});

test("a message that always fails is parked with the reason, once, and its neighbours take effect in order", async () => {
  await aConsumer();
  const poison = aMessage("poison", { key: "p" });
  const batch = [aMessage("1"), poison, aMessage("2")];
  await transport.deliver(...batch);
  await transport.deliver(...batch);
  expect(await effects(db.orm)).toEqual(["1", "2"]);
  const [letter, ...more] = await deadLetters(db.orm);
  expect(more).toEqual([]);
  expect(letter).toMatchObject({
    consumer: "tests",
    topic,
    key: "p",
    event_id: poison.headers["ce_id"],
    payload: Buffer.from("poison"),
    headers: poison.headers,
    reason: "Error: this message is poison",
  });
});

test("a message that fails now and then is not parked", async () => {
  let failures = 0;
  await aConsumer({
    effect: async (em, messages) => {
      await writeDown(em, messages);
      if (messages.some(({ payload }) => Buffer.from(payload).toString() === "2") && ++failures < 3) throw new Error("not now");
    },
  });
  await transport.deliver(aMessage("1"), aMessage("2"), aMessage("3"));
  expect(failures).toBe(3);
  expect(await effects(db.orm)).toEqual(["1", "2", "3"]);
  expect(await deadLetters(db.orm)).toEqual([]);
});

test("what fails is tried four times on its own", async () => {
  let tries = 0;
  await aConsumer({
    effect: async () => {
      tries++;
      throw new Error("never");
    },
  });
  await transport.deliver(aMessage("1"));
  expect(tries).toBe(1 + 4);
  expect(await reasons()).toEqual(["Error: never"]);
});

test("a message without an event id, or with one that is none, is parked", async () => {
  await aConsumer();
  const without = { ...aMessage("1"), headers: {} };
  await transport.deliver(without, aMessage("2"), aMessage("3", { id: "not a uuid" }));
  expect(await effects(db.orm)).toEqual(["2"]);
  expect(await deadLetters(db.orm)).toMatchObject([
    { event_id: null, payload: Buffer.from("1"), headers: {} },
    { event_id: null, payload: Buffer.from("3"), headers: { ce_id: "not a uuid" } },
  ]);
  for (const reason of await reasons()) expect(reason).toContain("no event id");
});

test("a message is parked whatever characters are in it", async () => {
  await aConsumer({
    effect: async () => {
      throw new Error("NUL \0 and half a pair \ud800");
    },
  });
  const id = uuidv7();
  await transport.deliver({
    key: "\0k\ud800",
    payload: Buffer.from([0, 255]),
    headers: { ce_id: id, "\0a": "b\0\ud800 \\u0000" },
  });
  expect(await deadLetters(db.orm)).toMatchObject([
    {
      key: "\ufffdk\ufffd",
      event_id: id,
      payload: Buffer.from([0, 255]),
      headers: { ce_id: id, "\ufffda": "b\ufffd\ufffd \\u0000" },
      reason: "Error: NUL \ufffd and half a pair \ufffd",
    },
  ]);
});

test("an outage of the database parks nothing, and the next delivery takes effect", async () => {
  let outages = 2;
  await aConsumer({
    effect: async (em, messages) => {
      await writeDown(em, messages);
      if (outages-- > 0) await em.execute("select pg_terminate_backend(pg_backend_pid(), 5000)");
    },
  });
  const batch = [aMessage("1"), aMessage("2")];
  await expect(transport.deliver(...batch)).rejects.toThrow();
  await expect(transport.deliver(...batch)).rejects.toThrow();
  await transport.deliver(...batch);
  expect(await effects(db.orm)).toEqual(["1", "2"]);
  expect(await deadLetters(db.orm)).toEqual([]);
});

test("an outage while messages are tried one by one parks only what had failed before", async () => {
  let outages = 1;
  await aConsumer({
    effect: async (em, messages) => {
      await writeDown(em, messages);
      if (messages.length > 1) throw new Error("one by one, please");
      if (outages-- > 0) await em.execute("select pg_terminate_backend(pg_backend_pid(), 5000)");
    },
  });
  const batch = [aMessage("poison"), aMessage("1"), aMessage("2")];
  await expect(transport.deliver(...batch)).rejects.toThrow();
  expect(await reasons()).toEqual(["Error: this message is poison"]);
  await transport.deliver(...batch);
  expect(await effects(db.orm)).toEqual(["1", "2"]);
  expect(await reasons()).toEqual(["Error: this message is poison"]);
});

test("`committed` runs after each commit with an effect, when others can see it, and only then", async () => {
  const seenAtCommit: Promise<string[]>[] = [];
  await aConsumer({ committed: () => seenAtCommit.push(effects(db.orm)) });
  const [one, two] = [aMessage("1"), aMessage("2")];
  await transport.deliver(one);
  await transport.deliver(one);
  await transport.deliver(aMessage("poison"));
  await transport.deliver(one, two);
  expect(await Promise.all(seenAtCommit)).toEqual([["1"], ["1", "2"]]);
});

test("what was seen more than 30 days ago is forgotten, in batches, from the start on", async () => {
  const seen = async () => {
    const rows = await db.orm.em.fork().execute<{ consumer: string }[]>("select consumer from inbox order by consumer");
    return rows.map(({ consumer }) => consumer);
  };
  const see = (consumer: string, days: number, count: number) =>
    db.orm.em
      .fork()
      .execute(
        "insert into inbox (consumer, event_id, received_at) select ?, gen_random_uuid(), now() - make_interval(days => ?) from generate_series(1, ?)",
        [consumer, days, count],
      );
  await see("tests", 31, 3);
  await see("tests", 29, 1);
  await see("others", 31, 1);
  const em = () => db.orm.em.fork() as SqlEntityManager;
  expect(await cleanInbox(em(), "tests", 2)).toBe(2);
  await aConsumer();
  await eventually(async () => expect(await seen()).toEqual(["others", "tests"]));
});

test("an event id in capitals is the same id", async () => {
  await aConsumer();
  const id = uuidv7();
  await transport.deliver(aMessage("1", { id: id.toUpperCase() }));
  await transport.deliver(aMessage("1", { id }));
  expect(await effects(db.orm)).toEqual(["1"]);
});
