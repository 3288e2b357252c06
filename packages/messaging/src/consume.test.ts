import { createOrm, databaseTime, keepPartitions, type Orm, transaction } from "@amana/database";
import { createLogger, uuidv7 } from "@amana/runtime";
import { createTestDatabase, eventually, type TestDatabase } from "@amana/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { database, deadLetters, effects, recordEffect, topic } from "../test/database.ts";
import { aMessage, MemoryTransport } from "../test/memory-transport.ts";
import type { FunctionEffect } from "./effect.ts";
import { addToOutbox, consume, type StatementEffect, type TopicHandler, UnknownEventTypeError } from "./index.ts";

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

async function aConsumer(options: Partial<TopicHandler> = {}, orm: Orm = db.orm, context: { retrySeconds?: number[] } = {}) {
  const topicHandler = { topic, consumer: "tests", effect: recordEffect, ...options };
  stack.push(await consume(topicHandler, { orm, transport, logger, ...context }));
}

const bodiesFrom = (count: number) => Array.from({ length: count }, (_, number) => String(number));
const reasons = async () => (await deadLetters(db.orm)).map(({ reason }) => reason);

test("a consumer applies a message once when the message is delivered repeatedly in different batches", async () => {
  await aConsumer();
  const [first, second, third] = [aMessage("1"), aMessage("2"), aMessage("3")];
  await transport.deliver(first, first, second, first);
  await transport.deliver(second, third);
  await transport.deliver(first);
  await transport.deliver(first, second, third);
  expect(await effects(db.orm)).toEqual(["1", "2", "3"]);
});

test("two consumers with different names each apply every message", async () => {
  const received: string[] = [];
  for (const consumer of ["a", "b"]) {
    await aConsumer({
      consumer,
      effect: async (_em, messages) => {
        for (const { payload } of messages) received.push(`${consumer}${Buffer.from(payload)}`);
      },
    });
  }
  await transport.deliver(aMessage("1"), aMessage("2"));
  expect(received.sort()).toEqual(["a1", "a2", "b1", "b2"]);
});

test("a consumer with two replicas applies each message once when both replicas get the messages concurrently in opposite order", async () => {
  const secondTransport = new MemoryTransport();
  await using otherReplica = {
    orm: await createOrm({ url: db.url, ...database }, logger),
    [Symbol.asyncDispose]: () => otherReplica.orm.close(),
  };
  await aConsumer();
  stack.push(
    await consume(
      { topic, consumer: "tests", effect: recordEffect },
      { orm: otherReplica.orm, transport: secondTransport, logger },
    ),
  );
  const rounds = Array.from({ length: 10 }, () => bodiesFrom(20).map((body) => aMessage(body)));
  for (const messages of rounds) {
    await Promise.all([transport.deliver(...messages), secondTransport.deliver(...messages.toReversed())]);
  }
  expect((await effects(db.orm)).sort()).toEqual(rounds.flatMap(() => bodiesFrom(20)).sort());
  expect(await deadLetters(db.orm)).toEqual([]);
});

test("a consumer applies every message when the transport delivers more messages at once than one batch can contain", async () => {
  await aConsumer();
  await transport.deliver(...bodiesFrom(450).map((body) => aMessage(body)));
  expect(await effects(db.orm)).toEqual(bodiesFrom(450));
});

const statuses = async () => (await deadLetters(db.orm)).map(({ status }) => status);
/** Pauses of 10 ms, so that a dead-lettered message soon gets the status PARKED. */
const quickRetries = { retrySeconds: [0.01, 0.01, 0.01] };
/** Returns an effect that throws for messages with one of the bodies. */
const failingFor = (bodies: Set<string>, failure: (body: string) => Error): FunctionEffect => {
  return async (em, messages) => {
    for (const message of messages) {
      const body = Buffer.from(message.payload).toString();
      if (bodies.has(body)) throw failure(body);
      await recordEffect(em, [message]);
    }
  };
};

test("a consumer dead-letters a message with the status PARKED and the reason of the failure when the message's last retry fails, and applies the other messages of the batch", async () => {
  await aConsumer({}, db.orm, quickRetries);
  const poison = aMessage("poison", { key: "p" });
  const batch = [aMessage("1"), poison, aMessage("2")];
  await transport.deliver(...batch);
  await transport.deliver(...batch);
  expect(await effects(db.orm)).toEqual(["1", "2"]);
  await eventually(async () => expect(await statuses()).toEqual(["PARKED"]));
  const [deadLetter] = await deadLetters(db.orm);
  expect(deadLetter).toMatchObject({
    consumer: "tests",
    topic,
    key: "p",
    event_id: poison.headers["ce_id"],
    event_type: "tests.v1.Test",
    payload: Buffer.from("poison"),
    headers: poison.headers,
    reason: "Error: this message is poison",
    attempts: 4,
  });
});

test("a consumer retries a failed message until the effect of the message succeeds", async () => {
  const failingBodies = new Set(["1"]);
  await aConsumer({ effect: failingFor(failingBodies, () => new TypeError("a bug")) }, db.orm, {
    retrySeconds: Array(100).fill(0.01),
  });
  await transport.deliver(aMessage("1"));
  await eventually(async () => expect((await deadLetters(db.orm))[0]?.attempts).toBeGreaterThan(2));
  expect(await statuses()).toEqual(["RETRYING"]);
  failingBodies.clear();
  await eventually(async () => expect(await effects(db.orm)).toEqual(["1"]));
  expect(await deadLetters(db.orm)).toMatchObject([{ status: "DELIVERED", payload: Buffer.alloc(0) }]);
});

test("a consumer executes an effect in SQL once for each message, even after a repeated delivery or a retry of the dead-lettered message", async () => {
  const failingBodies = new Set(["bad"]);
  const results: number[] = [];
  const effect: StatementEffect<object, number> = {
    documentOf(messages) {
      const bodies = messages.map(({ payload, headers }) => [headers["ce_id"], Buffer.from(payload).toString()] as const);
      if (bodies.some(([, body]) => failingBodies.has(body))) throw new Error("effect failed");
      return Object.fromEntries(bodies);
    },
    ctes: `added as (
      insert into effect (event_id, key, body) select event_id, 'k', doc ->> event_id::text from fresh, input returning event_id
    )`,
    resultCte: "added",
    resultOf: (rows) => rows.length,
  };
  await aConsumer({ effect, afterCommit: (count) => results.push(count as number) }, db.orm, {
    retrySeconds: Array(100).fill(0.05),
  });
  const [first, bad, second] = [aMessage("1"), aMessage("bad"), aMessage("2")];
  await transport.deliver(first, second, first);
  await transport.deliver(first, second);
  await transport.deliver(bad);
  expect([results, await statuses()]).toEqual([[2], ["RETRYING"]]);
  failingBodies.clear();
  await eventually(async () => expect(await statuses()).toEqual(["DELIVERED"]));
  await transport.deliver(bad, first);
  expect((await effects(db.orm)).toSorted()).toEqual(["1", "2", "bad"]);
  expect(results).toEqual([2, 1]);
});

test("a consumer applies later messages of a key while an earlier message of the key is dead-lettered", async () => {
  const failingBodies = new Set(["k1"]);
  await aConsumer({ effect: failingFor(failingBodies, () => new Error("effect failed")) }, db.orm, {
    retrySeconds: Array(1_000).fill(0.01),
  });
  await transport.deliver(aMessage("k1"), aMessage("k2"), aMessage("x1", { key: "x" }));
  await transport.deliver(aMessage("k3"));
  expect(await effects(db.orm)).toEqual(["k2", "x1", "k3"]);
  expect(await statuses()).toEqual(["RETRYING"]);
  failingBodies.clear();
  await eventually(async () => expect(await effects(db.orm)).toEqual(["k2", "x1", "k3", "k1"]));
});

test("a consumer applies a dead-lettered message once when the message is delivered again after the cause of its failure is fixed", async () => {
  const failingBodies = new Set(["1"]);
  await aConsumer({ effect: failingFor(failingBodies, () => new Error("effect failed")) }, db.orm, { retrySeconds: [1] });
  const message = aMessage("1");
  await transport.deliver(message);
  expect(await statuses()).toEqual(["RETRYING"]);
  failingBodies.clear();
  await transport.deliver(message);
  await eventually(async () => expect(await statuses()).toEqual(["DELIVERED"]));
  expect(await effects(db.orm)).toEqual(["1"]);
});

test("a consumer pauses after three different messages fail in a row, and applies all messages after the cause is fixed", async () => {
  const bodies = bodiesFrom(20);
  let isBroken = true;
  let attempts = 0;
  const effect: FunctionEffect = async (em, messages) => {
    attempts++;
    if (isBroken) throw new Error('column "body" does not exist');
    await recordEffect(em, messages);
  };
  await aConsumer({ effect }, db.orm, { retrySeconds: [5, 5, 5] });
  const messages = bodies.map((body) => aMessage(body, { key: body }));
  await expect(transport.deliver(...messages)).rejects.toThrow("is paused");
  expect(await statuses()).toEqual(["RETRYING", "RETRYING", "RETRYING"]);
  const attemptsBefore = attempts;
  for (let i = 0; i < 20; i++) await expect(transport.deliver(...messages)).rejects.toThrow("is paused");
  expect(attempts - attemptsBefore).toBeLessThan(20);
  isBroken = false;
  await eventually(() => transport.deliver(...messages));
  await eventually(async () => expect(new Set(await statuses())).toEqual(new Set(["DELIVERED"])));
  expect((await effects(db.orm)).sort()).toEqual(bodies.toSorted());
});

test("a consumer applies a message that follows ten failing messages, after the consumer's pauses have ended", async () => {
  const badBodies = bodiesFrom(10);
  await aConsumer({ effect: failingFor(new Set(badBodies), (body) => new Error(body)) }, db.orm, { retrySeconds: [0.05] });
  const messages = [...badBodies, "good"].map((body) => aMessage(body));
  await eventually(() => transport.deliver(...messages));
  expect(await effects(db.orm)).toEqual(["good"]);
  expect(await statuses()).toHaveLength(10);
});

test("a consumer applies an event of an unknown type after an upgrade that supports the type, and does not delay other events with the same key", async () => {
  const supported = new Set<string>();
  const effect: FunctionEffect = async (em, messages) => {
    for (const { headers } of messages) {
      if (headers["ce_type"] === "tests.v1.New" && !supported.has("tests.v1.New"))
        throw new UnknownEventTypeError("tests.v1.New");
    }
    await recordEffect(em, messages);
  };
  await aConsumer({ effect }, db.orm, { retrySeconds: [60] });
  const newEvents = bodiesFrom(5).map((body) => {
    const message = aMessage(body, { key: body });
    return { ...message, headers: { ...message.headers, ce_type: "tests.v1.New" } };
  });
  await transport.deliver(...newEvents, aMessage("same key", { key: "0" }));
  expect(await effects(db.orm)).toEqual(["same key"]);
  expect(new Set(await statuses())).toEqual(new Set(["WAITING"]));
  // Restarts the consumer as the next version of the service, which supports the new event type.
  await Promise.all(stack.splice(0).map((consumer) => consumer[Symbol.asyncDispose]()));
  supported.add("tests.v1.New");
  await aConsumer({ effect }, db.orm, { retrySeconds: [60] });
  await eventually(async () => expect((await effects(db.orm)).sort()).toEqual(["0", "1", "2", "3", "4", "same key"]));
});

test("a consumer applies the other messages of a batch when the effect of one message exceeds the statement timeout", async () => {
  const effect: FunctionEffect = async (em, messages) => {
    if (messages.some(({ key }) => key === "slow")) {
      await em.execute("set local statement_timeout = 20");
      await em.execute("select pg_sleep(1)");
    }
    await recordEffect(em, messages);
  };
  await aConsumer({ effect }, db.orm, { retrySeconds: [60] });
  await transport.deliver(aMessage("1"), aMessage("slow", { key: "slow" }), aMessage("2"));
  expect(await effects(db.orm)).toEqual(["1", "2"]);
  expect((await deadLetters(db.orm)).map(({ reason }) => reason)).toEqual([expect.stringContaining("statement timeout")]);
});

test("a consumer applies a PARKED message once when the message is published again after the cause of its failure is fixed", async () => {
  const failingBodies = new Set(["bad"]);
  await aConsumer({ effect: failingFor(failingBodies, () => new Error("effect failed")) }, db.orm, quickRetries);
  const badMessage = aMessage("bad", { key: "b" });
  await transport.deliver(badMessage);
  await eventually(async () => expect(await statuses()).toEqual(["PARKED"]));
  await transport.deliver(badMessage);
  expect(await statuses()).toEqual(["PARKED"]);
  failingBodies.clear();
  await transport.deliver(badMessage);
  await transport.deliver(badMessage, badMessage);
  expect(await effects(db.orm)).toEqual(["bad"]);
  await eventually(async () => expect(await statuses()).toEqual(["DELIVERED"]));
});

test("a consumer pauses between its queries while another replica has locked a due dead-lettered message", async () => {
  await aConsumer({ effect: failingFor(new Set(["bad"]), () => new Error("effect failed")) }, db.orm, { retrySeconds: [0.05] });
  await transport.deliver(aMessage("bad"));
  await transaction(db.orm, async (em) => {
    await em.execute("select 1 from dead_letter for update");
    await new Promise((resolve) => setTimeout(resolve, 600));
    const fork = vi.spyOn(db.orm.em, "fork");
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(fork.mock.calls.length).toBeLessThan(40);
    fork.mockRestore();
  });
});

test("a consumer stores the reason of a database error with SQLSTATE, table and column, and without values", async () => {
  await aConsumer({
    effect: async (em) => {
      await em.execute("insert into inbox (consumer, event_id, received_at) values ('Amina Benali', 'Amina Benali', null)");
    },
  });
  await transport.deliver(aMessage("1"));
  await aConsumer({
    consumer: "others",
    effect: async (em) => {
      await em.execute("insert into inbox (consumer, event_id, received_at) values ('Amina Benali', gen_random_uuid(), null)");
    },
  });
  await transport.deliver(aMessage("2"));
  const storedReasons = await reasons();
  expect(storedReasons.join()).toContain("SQLSTATE 22P02");
  expect(storedReasons.join()).toMatch(/SQLSTATE 23502, table inbox_\w+, column received_at/);
  expect(JSON.stringify(storedReasons)).not.toContain("Benali");
});

test("a consumer ignores messages with an invalid MAC, and applies authentic messages with the same id", async () => {
  await aConsumer();
  const [authentic, other] = [aMessage("1"), aMessage("2")];
  const signed = transport.keys.sign(topic, authentic);
  const forged = { ...signed, payload: Buffer.from("forged") };
  await transport.deliverUnsigned(other, forged, signed);
  await transport.deliverUnsigned(other, forged);
  expect(await effects(db.orm)).toEqual(["1"]);
  expect(await deadLetters(db.orm)).toEqual([]);
});

const dayMs = 24 * 60 * 60 * 1000;

test("a consumer ignores a message whose event is more than 39 days old, and applies a message whose event is 38 days old", async () => {
  await aConsumer();
  const [oldMessage, recentMessage] = [39.01, 38].map((days) =>
    aMessage(String(days), { id: uuidv7(Date.now() - days * dayMs) }),
  );
  if (!oldMessage || !recentMessage) throw new Error("messages missing");
  await transport.deliver(oldMessage, recentMessage);
  await transport.deliver(oldMessage);
  // The consumer reads the age of an event from its id. A sender cannot send an old event with a
  // new id, because the MAC includes the id.
  const signed = transport.keys.sign(topic, oldMessage);
  await transport.deliverUnsigned({ ...signed, headers: { ...signed.headers, ce_id: uuidv7() } });
  expect(await effects(db.orm)).toEqual(["38"]);
  expect(await deadLetters(db.orm)).toEqual([]);
});

test("a consumer applies a message of today even if the consumer's clock is a year ahead", async () => {
  await aConsumer();
  const message = aMessage("today");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 365 * dayMs });
  try {
    await transport.deliver(message);
  } finally {
    vi.useRealTimers();
  }
  expect(await effects(db.orm)).toEqual(["today"]);
  expect(await deadLetters(db.orm)).toEqual([]);
});

test("a consumer applies an event once, even if the publisher's clock is a year behind the database's clock", async () => {
  await aConsumer();
  const occurredAt = await databaseTime(db.orm.em.fork());
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 365 * dayMs });
  const event = { topic, key: "k", type: "tests.v1.Test", source: "tests", payload: Buffer.from("1"), occurredAt };
  const id = await transaction(db.orm, async (em) => addToOutbox(em, event)).finally(() => vi.useRealTimers());
  const message = aMessage("1", { id });
  await transport.deliver(message);
  while ((await keepPartitions({ orm: db.orm, logger })) > 0);
  await transport.deliver(message);
  expect(await effects(db.orm)).toEqual(["1"]);
  expect(await deadLetters(db.orm)).toEqual([]);
});

test("a consumer dead-letters a message without an event id, or with a malformed event id, with the status PARKED", async () => {
  await aConsumer();
  const withoutId = { ...aMessage("1"), headers: {} };
  await transport.deliver(withoutId, aMessage("2", { key: "2" }), aMessage("3", { id: "not a uuid", key: "3" }));
  expect(await effects(db.orm)).toEqual(["2"]);
  expect(await deadLetters(db.orm)).toMatchObject([
    { status: "PARKED", event_id: null, payload: Buffer.from("1"), headers: {} },
    { status: "PARKED", event_id: null, payload: Buffer.from("3"), headers: { ce_id: "not a uuid" } },
  ]);
  for (const reason of await reasons()) expect(reason).toContain("no event id");
});

test("a consumer dead-letters a message with replacement characters in place of NUL and unpaired surrogates", async () => {
  await aConsumer({
    effect: async () => {
      throw new Error("NUL \0 and half a pair \ud800");
    },
  });
  const id = uuidv7();
  await transport.deliver({
    key: '\0k"{\\\ud800',
    payload: Buffer.from([0, 255]),
    headers: { ce_id: id, "\0a": "b\0\ud800 \\u0000" },
  });
  expect(await deadLetters(db.orm)).toMatchObject([
    {
      key: '\ufffdk"{\\\ufffd',
      event_id: id,
      payload: Buffer.from([0, 255]),
      headers: { ce_id: id, "\ufffda": "b\ufffd\ufffd \\u0000" },
      reason: "Error: NUL \ufffd and half a pair \ufffd",
    },
  ]);
});

test("a consumer dead-letters no message during a database outage, and applies the messages when they are delivered again", async () => {
  let outages = 2;
  await aConsumer({
    effect: async (em, messages) => {
      await recordEffect(em, messages);
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

test("a consumer dead-letters messages that failed before a database outage, and does not dead-letter messages that fail because of the outage", async () => {
  let outages = 1;
  await aConsumer({
    effect: async (em, messages) => {
      await recordEffect(em, messages);
      if (messages.length > 1) throw new Error("batch failed");
      if (outages-- > 0) await em.execute("select pg_terminate_backend(pg_backend_pid(), 5000)");
    },
  });
  const batch = [aMessage("poison", { key: "p" }), aMessage("1"), aMessage("2")];
  await expect(transport.deliver(...batch)).rejects.toThrow();
  expect(await reasons()).toEqual(["Error: this message is poison"]);
  await transport.deliver(...batch);
  expect(await effects(db.orm)).toEqual(["1", "2"]);
  expect(await reasons()).toEqual(["Error: this message is poison"]);
});

test("a consumer calls `afterCommit` only after a commit in which a message took effect", async () => {
  const effectsAtCommit: Promise<string[]>[] = [];
  await aConsumer({ afterCommit: () => effectsAtCommit.push(effects(db.orm)) });
  const [first, second] = [aMessage("1"), aMessage("2")];
  for (const batch of [[first], [first], [aMessage("poison", { key: "p" })], [first, second]]) {
    await transport.deliver(...batch);
    // Waits for the queries of `afterCommit`, so that they do not read the effects of the next
    // batch.
    await Promise.all(effectsAtCommit);
  }
  expect(await Promise.all(effectsAtCommit)).toEqual([["1"], ["1", "2"]]);
});

test("a consumer logs the error if `afterCommit` throws after a successful retry, and the message stays DELIVERED", async () => {
  const logError = vi.spyOn(logger, "error");
  const failingBodies = new Set(["1"]);
  const afterCommit = () => {
    throw new Error("no worker to wake");
  };
  const effect = failingFor(failingBodies, () => new TypeError("a bug"));
  await aConsumer({ effect, afterCommit }, db.orm, { retrySeconds: Array(100).fill(0.01) });
  await transport.deliver(aMessage("1"));
  failingBodies.clear();
  await eventually(async () => expect(await statuses()).toEqual(["DELIVERED"]));
  const fields = { err: new Error("no worker to wake"), topic };
  await eventually(async () => expect(logError).toHaveBeenCalledWith(fields, expect.stringContaining("after the commit")));
});

test("keepPartitions deletes an inbox row 40 days after the time that its event id contains", async () => {
  const insertSeen = (consumer: string, days: number) =>
    db.orm.em
      .fork()
      .execute("insert into inbox (consumer, event_id) values (?, uuidv7(make_interval(days => -?)))", [consumer, days]);
  await insertSeen("tests", 41);
  await insertSeen("tests", 39);
  await insertSeen("others", 41);
  await insertSeen("others", 0);
  while ((await keepPartitions({ orm: db.orm, logger })) > 0);
  expect(
    await db.orm.em
      .fork()
      .execute(
        "select consumer, uuid_extract_timestamp(event_id) > now() - interval '1 day' as today from inbox order by event_id",
      ),
  ).toEqual([
    { consumer: "tests", today: false },
    { consumer: "others", today: true },
  ]);
});

test("a consumer applies a message once when its event id arrives in upper case and again in lower case", async () => {
  await aConsumer();
  const id = uuidv7();
  await transport.deliver(aMessage("1", { id: id.toUpperCase() }));
  await transport.deliver(aMessage("1", { id }));
  expect(await effects(db.orm)).toEqual(["1"]);
});
