import { transaction } from "@amana/database";
import { createLogger } from "@amana/runtime";
import { createTestDatabase, eventually, type TestDatabase } from "@amana/testing";
import pg from "pg";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startChild } from "../test/child.ts";
import { database, effects, emit, outbox, recordEffect, topic } from "../test/database.ts";
import { MemoryTransport } from "../test/memory-transport.ts";
import { waitForRelay } from "../test/wait-for-relay.ts";
import { addToOutbox, consume, republish, startRelay, type Transport } from "./index.ts";
import { onCommit } from "./outbox.ts";
import { deletePublished, loadCursor, readNext, saveCursor } from "./outbox-cursor.ts";
import type { Relay } from "./relay.ts";
import { relayLock, relaySessionOptions } from "./relay.ts";

const logger = createLogger("test", "silent");
let db: TestDatabase;
let transport: MemoryTransport;
const relays: Relay[] = [];

beforeEach(async () => {
  db = await createTestDatabase("messaging", database);
  transport = new MemoryTransport();
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(relays.splice(0).map((relay) => relay[Symbol.asyncDispose]()));
  await db[Symbol.asyncDispose]();
});

function aRelay(): Relay {
  const relay = startRelay({ databaseUrl: db.url, topics: [topic, "other.v1", "stuck.v1"], transport, logger });
  relays.push(relay);
  return relay;
}

/** Begins a transaction and inserts an event. Returns a function that commits the transaction. */
async function beginEarly(body: string): Promise<() => Promise<void>> {
  const hasId = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const committed = transaction(db.orm, async (em) => {
    addToOutbox(em, { topic, key: "a", type: "t", source: "s", payload: Buffer.from(body), occurredAt: new Date() });
    await em.flush();
    hasId.resolve();
    await mayCommit.promise;
  });
  // Throws if the transaction fails before it has inserted the event.
  await Promise.race([hasId.promise, committed]);
  return async () => {
    mayCommit.resolve();
    await committed;
  };
}

/** Ends the relays' sessions, as a restart of the database does. */
const terminateSessions = () =>
  db.orm.em
    .fork()
    .execute(
      "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'relay' and datname = current_database()",
    );

test("the relay publishes committed events with id and headers, and no event of a transaction that is rolled back", async () => {
  aRelay();
  const occurredAt = new Date("2026-11-20T10:00:00.000Z");
  const event = { topic, key: "k", type: "tests.v1.Test", source: "tests", payload: Buffer.from([0, 255]), occurredAt };
  const rolledBack = transaction(db.orm, async (em) => {
    addToOutbox(em, event);
    await em.flush();
    throw new Error("rolled back");
  });
  await expect(rolledBack).rejects.toThrow("rolled back");
  const id = await transaction(db.orm, async (em) => addToOutbox(em, { ...event, traceparent: "00-1-2-01" }));
  await waitForRelay(db.orm);
  expect(transport.published).toEqual([
    {
      topic,
      message: {
        key: "k",
        payload: Buffer.from([0, 255]),
        headers: {
          ce_specversion: "1.0",
          ce_id: id,
          ce_type: "tests.v1.Test",
          ce_source: "tests",
          ce_time: "2026-11-20T10:00:00.000Z",
          "content-type": "application/protobuf",
          traceparent: "00-1-2-01",
        },
      },
    },
  ]);
  expect(await outbox(db.orm)).toEqual([]);
});

test("deletePublished keeps published rows for three days, and the next relay does not publish these rows again", async () => {
  const firstRelay = aRelay();
  await emit(db.orm, "k", "1", "2");
  await waitForRelay(db.orm);
  await firstRelay[Symbol.asyncDispose]();
  const rows = () => db.orm.em.fork().execute<{ id: string }[]>("select id from outbox order by id");
  expect(await rows()).toHaveLength(2);
  await db.orm.em.fork().execute("update outbox set created_at = now() - interval '73 hours' where payload = '1'");
  await emit(db.orm, "k", "old and not published");
  await db.orm.em
    .fork()
    .execute("update outbox set created_at = now() - interval '9 days' where payload = 'old and not published'");
  const client = new pg.Client({ connectionString: db.url });
  await client.connect();
  expect(await deletePublished(client, topic)).toBe(1);
  await client.end();
  expect(await rows()).toHaveLength(2);
  aRelay();
  await waitForRelay(db.orm);
  expect(transport.bodies).toEqual(["1", "2", "old and not published"]);
});

test("readNext returns a row whose id is below the cursor if the row's transaction commits late", async () => {
  const event = { topic, key: "k", type: "t", source: "s", occurredAt: new Date() };
  const [hasBegun, hasId, early] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const firstTransaction = transaction(db.orm, async (em) => {
    await em.execute("select pg_current_xact_id()");
    hasBegun.resolve();
    await hasId.promise;
    addToOutbox(em, { ...event, payload: Buffer.from("began first") });
  });
  await hasBegun.promise;
  const lastTransaction = transaction(db.orm, async (em) => {
    addToOutbox(em, { ...event, payload: Buffer.from("began last") });
    await em.flush();
    hasId.resolve();
    await early.promise;
  });
  await firstTransaction;
  const client = new pg.Client({ connectionString: db.url });
  await client.connect();
  const bodies = ({ rows }: Awaited<ReturnType<typeof readNext>>) => rows.map(({ payload }) => payload.toString());
  const firstRead = await readNext(client, topic, await loadCursor(client, topic));
  early.resolve();
  await lastTransaction;
  const secondRead = await readNext(client, topic, firstRead.next);
  const lastRead = await readNext(client, topic, secondRead.next);
  expect([bodies(firstRead), bodies(secondRead), bodies(lastRead)]).toEqual([["began first"], ["began last"], []]);
  await client.end();
});

test("a relay that replaces a closed relay publishes an outbox row whose transaction began before the replacement and commits after it", async () => {
  const firstRelay = aRelay();
  const commitLate = await beginEarly("early id");
  for (const body of ["1", "2"]) {
    await emit(db.orm, "b", body);
    await waitForRelay(db.orm);
  }
  await firstRelay[Symbol.asyncDispose]();
  aRelay();
  await emit(db.orm, "b", "3");
  await waitForRelay(db.orm);
  await commitLate();
  await waitForRelay(db.orm);
  expect(transport.bodies).toEqual(["1", "2", "3", "early id"]);
  expect(await outbox(db.orm)).toEqual([]);
});

test("the relay publishes each outbox row once after the database was copied to a server with lower transaction ids", async () => {
  const client = new pg.Client({ connectionString: db.url });
  await client.connect();
  await emit(db.orm, "k", "was in progress", "published", "published and old");
  await client.query(
    "update outbox set xid = case payload when 'was in progress' then xid8 '90000000000' else xid8 '80000000000' end",
  );
  await saveCursor(client, topic, { id: "3", snapshot: "90000000000:90000000001:90000000000" });
  aRelay();
  await transport.untilPublished(1);
  for (const [index, body] of ["new", "newest"].entries()) {
    await emit(db.orm, "k", body);
    await transport.untilPublished(index + 2);
  }
  expect(transport.bodies).toEqual(["was in progress", "new", "newest"]);
  await client.query("update outbox set created_at = now() - interval '4 days' where payload = 'published and old'");
  expect(await deletePublished(client, topic)).toBe(1);
  await client.end();
});

test("saveCursor does not replace a cursor with the older cursor of a frozen relay", async () => {
  const client = new pg.Client({ connectionString: db.url });
  await client.connect();
  await saveCursor(client, topic, { id: "20", snapshot: "7:9:8" });
  await saveCursor(client, topic, { id: "19", snapshot: "5:6:" });
  expect(await loadCursor(client, topic)).toEqual({ id: "20", snapshot: "7:9:8" });
  await client.end();
});

test("onCommit calls its listener with the topic of each committed event, and not for a transaction that is rolled back", async () => {
  const topics: string[] = [];
  const stopListening = onCommit((committed) => topics.push(committed));
  const event = { key: "k", type: "t", source: "s", payload: Buffer.from("x"), occurredAt: new Date() };
  const rolledBack = transaction(db.orm, async (em) => {
    addToOutbox(em, { ...event, topic: "stuck.v1" });
    throw new Error("rolled back");
  });
  await expect(rolledBack).rejects.toThrow("rolled back");
  await transaction(db.orm, async (em) => {
    addToOutbox(em, { ...event, topic });
    addToOutbox(em, { ...event, topic: "other.v1" });
    expect(topics).toEqual([]);
  });
  stopListening();
  await transaction(db.orm, async (em) => void addToOutbox(em, { ...event, topic }));
  expect(topics).toEqual([topic, "other.v1"]);
});

test("`republish` publishes the events of a time range again, with the same ids and in the same order", async () => {
  const relay = aRelay();
  const [earlyId] = await emit(db.orm, "k", "early");
  const ids = await emit(db.orm, "k", ...Array.from({ length: 30 }, (_, i) => String(i)));
  await waitForRelay(db.orm);
  await db.orm.em.fork().execute("update outbox set created_at = now() - interval '1 hour' where payload = 'early'");
  const range = { topic, from: new Date(Date.now() - 60_000), to: new Date(Date.now() + 60_000) };
  expect(await republish(db.orm, range, () => {})).toBe(30);
  relay.wake();
  await waitForRelay(db.orm);
  expect(transport.ids).toEqual([earlyId, ...ids, ...ids]);
  expect(await republish(db.orm, { ...range, topic: "other.v1" }, () => {})).toBe(0);
});

test("the relay, `deletePublished` and outbox_waiting do not read all rows of another topic", async () => {
  await emit(db.orm, "k", "1", "2", "3");
  for (const statement of [
    "insert into outbox (topic, key, payload, headers) select 'other.v1', 'k', '', '{}' from generate_series(1, 20000)",
    `insert into outbox_position (topic, id, snapshot)
     values ('other.v1', 20003, pg_current_snapshot()), ('${topic}', 20003, pg_current_snapshot())`,
    "analyze outbox",
  ])
    await db.orm.em.fork().execute(statement);
  await emit(db.orm, "k", "waiting");
  const client = new pg.Client({ connectionString: db.url, options: relaySessionOptions });
  await client.connect();
  const countRead = async (): Promise<number> => {
    const { rows } = await client.query<{ count: number }>(
      "select (seq_tup_read + idx_tup_fetch)::int as count from pg_stat_xact_user_tables where relname = 'outbox'",
    );
    return rows[0]?.count ?? 0;
  };
  // PostgreSQL keeps the counters of `pg_stat_xact_user_tables` until the end of the transaction.
  await client.query("begin");
  await readNext(client, topic, { id: "0", snapshot: "1:1:" });
  const { rows } = await client.query<{ payload: Buffer }>("select payload from outbox_waiting");
  expect(await countRead()).toBeLessThan(20);
  await deletePublished(client, topic);
  expect(await countRead()).toBeLessThan(20);
  await deletePublished(client, "other.v1");
  expect(await countRead()).toBeLessThan(5_100);
  await client.end();
  expect(rows.map(({ payload }) => payload.toString())).toEqual(["waiting"]);
});

test("the relay publishes the outbox rows of two concurrent transactions, even if the row with the lower id is committed last", async () => {
  aRelay();
  const commitLate = await beginEarly("early id");
  await emit(db.orm, "b", "late id");
  await waitForRelay(db.orm);
  expect(transport.bodies).toEqual(["late id"]);
  await commitLate();
  await waitForRelay(db.orm);
  expect(transport.bodies).toEqual(["late id", "early id"]);
});

test("two relays on one database publish each message once, and the messages of each key in order", async () => {
  aRelay();
  aRelay();
  const keys = ["a", "b", "c", "d"];
  const numbers = Array.from({ length: 50 }, (_, number) => number);
  await Promise.all(
    keys.map(async (key) => {
      for (const number of numbers) await emit(db.orm, key, `${key}${number}`);
    }),
  );
  await waitForRelay(db.orm);
  expect(transport.published).toHaveLength(keys.length * numbers.length);
  for (const key of keys) {
    expect(transport.bodies.filter((body) => body.startsWith(key))).toEqual(numbers.map((number) => `${key}${number}`));
  }
});

test("a second relay on the same database publishes the next events after the active relay is closed", async () => {
  const active = aRelay();
  await emit(db.orm, "k", "one");
  await waitForRelay(db.orm);
  aRelay();
  await active[Symbol.asyncDispose]();
  await emit(db.orm, "k", "two");
  await waitForRelay(db.orm);
  expect(transport.bodies).toEqual(["one", "two"]);
});

test("a consumer applies an event once when the relay is killed after the publication and the next relay publishes the event again", async () => {
  const [id] = await emit(db.orm, "k", "body");
  await using crashing = startChild("./relay-process.ts", { DATABASE_URL: db.url, FAULT_POINT: "relay.published" });
  expect(await crashing.ended()).toBe("SIGKILL");
  expect(crashing.lines).toEqual([JSON.stringify({ id })]);
  expect(await outbox(db.orm)).toEqual(["body"]);

  aRelay();
  await waitForRelay(db.orm);
  expect(transport.ids).toEqual([id]);
  expect(await outbox(db.orm)).toEqual([]);

  await using _consumer = await consume({ topic, consumer: "tests", effect: recordEffect }, { orm: db.orm, transport, logger });
  const [{ message }] = transport.published as [(typeof transport.published)[number]];
  await transport.deliver(message);
  await transport.deliver(message);
  expect(await effects(db.orm)).toEqual(["body"]);
});

test("the relay publishes events that were committed during an outage of the transport, in order, when the transport is available again", async () => {
  transport.beforePublish = () => {
    throw new Error("no broker");
  };
  aRelay();
  await emit(db.orm, "k", "1", "2");
  await eventually(() => expect(transport.attempts).toBeGreaterThan(2));
  await emit(db.orm, "k", "3");
  expect(await outbox(db.orm)).toEqual(["1", "2", "3"]);
  expect(transport.published).toEqual([]);
  transport.beforePublish = () => {};
  await waitForRelay(db.orm);
  expect(transport.bodies).toEqual(["1", "2", "3"]);
});

test("the relay publishes the events of other topics while the events of one topic cannot be published", async () => {
  transport.beforePublish = (to) => {
    if (to === topic) throw new Error("no such topic");
  };
  aRelay();
  await transaction(db.orm, async (em) => {
    const event = { key: "k", type: "t", source: "s", occurredAt: new Date() };
    addToOutbox(em, { ...event, topic, payload: Buffer.from("stuck") });
    addToOutbox(em, { ...event, topic: "other.v1", payload: Buffer.from("published") });
  });
  await transport.untilPublished(1);
  expect(transport.bodies).toEqual(["published"]);
  await eventually(async () => expect(await outbox(db.orm)).toEqual(["stuck"]));
});

test("the relay publishes large messages in batches of at most 1 MiB, and addToOutbox rejects a message of more than 256 KiB", async () => {
  aRelay();
  const bodies = Array.from({ length: 12 }, (_, number) => `${number}${"x".repeat(200 * 1024)}`);
  await emit(db.orm, "k", ...bodies);
  await waitForRelay(db.orm);
  expect(transport.bodies).toEqual(bodies);
  for (const bytes of transport.batchBytes) expect(bytes).toBeLessThan(1024 * 1024);
  await expect(emit(db.orm, "k", "x".repeat(256 * 1024 + 1))).rejects.toThrow(RangeError);
});

test("the relay publishes more messages than fit in one batch, in order", async () => {
  const bodies = Array.from({ length: 1_203 }, (_, number) => String(number));
  await emit(db.orm, "k", ...bodies);
  aRelay();
  await waitForRelay(db.orm);
  expect(transport.bodies).toEqual(bodies);
});

test("the relay publishes an event immediately after the event's commit, without waiting for a timer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  aRelay();
  for (const [index, body] of ["1", "2", "3"].entries()) {
    await emit(db.orm, "k", body);
    await transport.untilPublished(index + 1);
  }
  expect(transport.bodies).toEqual(["1", "2", "3"]);
});

test("a relay reconnects after its database connection ends, and publishes later commits", async () => {
  aRelay();
  await emit(db.orm, "k", "0");
  for (const body of ["1", "2", "3"]) {
    await waitForRelay(db.orm);
    await terminateSessions();
    await emit(db.orm, "k", body);
  }
  await waitForRelay(db.orm);
  expect(transport.bodies).toEqual(["0", "1", "2", "3"]);
});

test("the relay publishes messages again when its database connection ends during the publication", async () => {
  transport.beforePublish = async () => {
    transport.beforePublish = () => {};
    await terminateSessions();
  };
  aRelay();
  const ids = await emit(db.orm, "k", "1", "2");
  await waitForRelay(db.orm);
  expect(transport.ids).toEqual([...ids, ...ids]);
  expect(await outbox(db.orm)).toEqual([]);
});

test("the disposal of a relay completes even if the relay's database is unreachable", async () => {
  const relay = startRelay({ databaseUrl: "postgres://u:p@127.0.0.1:1/d", topics: [topic], transport, logger });
  await relay[Symbol.asyncDispose]();
});

test("the relay publishes the events of another topic while 501 events of one topic cannot be published", async () => {
  let isUnavailable = true;
  transport.beforePublish = (published) => {
    if (published === "stuck.v1" && isUnavailable) throw new Error("unavailable");
  };
  const stuck = Array.from({ length: 501 }, (_, i) => `stuck ${i}`);
  await transaction(db.orm, async (em) => {
    for (const [inTopic, body] of [...stuck.map((text) => ["stuck.v1", text]), [topic, "other"]] as const) {
      addToOutbox(em, {
        topic: inTopic as string,
        key: "k",
        type: "t",
        source: "s",
        payload: Buffer.from(body as string),
        occurredAt: new Date(),
      });
    }
  });
  aRelay();
  await transport.untilPublished(1);
  expect(transport.bodies).toEqual(["other"]);
  isUnavailable = false;
  await waitForRelay(db.orm);
  expect(transport.bodies).toEqual(["other", ...stuck]);
});

test("the relay retries a publication that times out, and does not delay another topic", async () => {
  let hangs = true;
  const signals: (AbortSignal | undefined)[] = [];
  const hanging: Transport = {
    publish: async (to, messages, signal) => {
      if (to === topic && hangs) {
        signals.push(signal);
        await new Promise(() => {});
      }
      await transport.publish(to, messages);
    },
    subscribe: async () => {},
    services: [],
    keys: transport.keys,
    [Symbol.asyncDispose]: async () => {},
  };
  const relay = startRelay({ databaseUrl: db.url, topics: [topic, "other.v1"], transport: hanging, logger, timeoutMs: 300 });
  relays.push(relay);
  await transaction(db.orm, async (em) => {
    const event = { key: "k", type: "t", source: "s", occurredAt: new Date() };
    addToOutbox(em, { ...event, topic, payload: Buffer.from("hangs") });
    addToOutbox(em, { ...event, topic: "other.v1", payload: Buffer.from("published") });
  });
  await transport.untilPublished(1);
  expect(transport.bodies).toEqual(["published"]);
  await eventually(() => expect(signals.length).toBeGreaterThan(1));
  expect(signals[0]?.aborted).toBe(true);
  hangs = false;
  await waitForRelay(db.orm);
  expect(transport.bodies).toEqual(["published", "hangs"]);
});

test("a second relay replaces a frozen relay, and no event is lost or reordered", async () => {
  await using frozen = startChild("./relay-process.ts", { DATABASE_URL: db.url });
  const [firstId] = await emit(db.orm, "k", "1");
  expect(JSON.parse(await frozen.nextLine())).toEqual({ id: firstId });
  aRelay();
  frozen.kill("SIGSTOP");
  const ids = await emit(db.orm, "k", "2", "3");
  // If the frozen relay has not saved its cursor, the first event is published again.
  const published = () => transport.ids.filter((id) => id !== firstId);
  await eventually(() => expect(published()).toEqual(ids), 30_000);
  frozen.kill("SIGCONT");
  const [lastId] = await emit(db.orm, "k", "4");
  await eventually(() => expect(published()).toEqual([...ids, lastId]));
});

test("a second relay replaces a relay that freezes while it receives a query result", async () => {
  const large = Array.from({ length: 400 }, (_, i) => `${i}${"x".repeat(200 * 1024)}`);
  await emit(db.orm, "k", ...large);
  // Unlike the relay, this client selects all rows at once, and it does not read the result.
  const client = new pg.Client({ connectionString: db.url, application_name: "relay", options: relaySessionOptions });
  client.on("error", () => {});
  await client.connect();
  const { rows } = await client.query("select pg_try_advisory_lock($1) as got", [relayLock]);
  expect(rows).toEqual([{ got: true }]);
  client.query("select payload from outbox").catch(() => {});
  (client as unknown as { connection: { stream: { pause(): void } } }).connection.stream.pause();
  aRelay();
  await transport.untilPublished(1);
  await client.end().catch(() => {});
});
