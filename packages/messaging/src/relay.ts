import { backoffMs, type Logger, sleep } from "@amana/runtime";
import pg from "pg";
import { publishBatch, readBatch } from "./outbox-batch.ts";
import type { Transport } from "./transport.ts";

export interface Relay extends AsyncDisposable {
  /**
   * Resolves when everything committed before the call has been published, by this relay: while
   * another one holds the lock it waits until this one takes over. Throws when the relay is closed.
   * For tests.
   */
  settled(): Promise<void>;
}

/** Notifications get lost with a connection: this bounds how long a row then waits. Also how often the relay shows life. */
const wakeUpMs = 1_500;
/** A relay that does not show life for so long, frozen or with a machine that hangs, loses its session and with it the lock. */
const frozenMs = 6_000;
/** A publication that takes longer has failed; it is tried again, and what comes of it later is a duplicate. */
const publishTimeoutMs = 25_000;
/** How often a replica that is not the relay asks whether it should be. */
const electionMs = 1_000;
/** Any number; it names the relay among a database's advisory locks. */
export const relayLock = 7_166_242;
/**
 * The system of a frozen process still answers for it: what ends its session is that it asks
 * nothing any more, or takes no answer. And a machine that vanished is noticed by keepalives, not
 * after the hours that are the default.
 */
export const relaySessionOptions = `-c idle_session_timeout=${frozenMs} -c tcp_user_timeout=${frozenMs} -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3`;

/**
 * Moves committed outbox rows to the transport, in order of each topic, at least once. Of all
 * replicas of a service one relays: the one whose connection holds an advisory lock. The lock goes
 * with the connection, so a relay that ends is replaced within about a second, and one that is
 * frozen within about eight, since the server ends a session that is idle: by the database's clock.
 * A frozen one that wakes can publish once more what it had read; inboxes drop what they know. Rows
 * are deleted after the transport has them; a crash in between publishes them again. All
 * unpublished rows are read each time, never "id > last": a transaction that commits late with an
 * early id is not passed over. Each topic goes its own way: one that hangs or fails holds up no
 * other.
 */
export function startRelay(options: {
  databaseUrl: string;
  transport: Transport;
  logger: Logger;
  /** For tests. */
  timeoutMs?: number;
}): Relay {
  const { transport, logger, timeoutMs = publishTimeoutMs } = options;
  const stop = new AbortController();
  const waiting = new Set<PromiseWithResolvers<void>>();
  let wake = () => {};

  /** Relays until the connection fails, which is thrown, or the relay is closed. */
  const relayOn = async (client: pg.Client, lost: AbortSignal, worked: () => void) => {
    await client.query("listen outbox");
    const topics = createTopicStates(() => wake());
    const failed = (topic: string, error: unknown, failures: number) => {
      if (stop.signal.aborted || lost.aborted) return;
      logger.warn({ err: error, topic, failures }, "events could not be published and wait in the outbox");
    };
    try {
      while (!lost.aborted && !stop.signal.aborted) {
        const woken = Promise.withResolvers<void>();
        wake = woken.resolve;
        // Who asked before the rows are read knows that theirs are gone when none are left; who asks later does not.
        const asked = [...waiting];
        const leftOut = topics.leftOut();
        const rows = await readBatch(client, leftOut.topics);
        worked();
        for (const [topic, topicRows] of Map.groupBy(rows, (row) => row.topic)) {
          topics.start(topic, publishBatch(client, transport, topic, topicRows, timeoutMs), failed);
        }
        if (rows.length > 0) continue;
        if (leftOut.topics.length === 0) {
          for (const waiter of asked) {
            waiting.delete(waiter);
            waiter.resolve();
          }
        }
        const timer = setTimeout(wake, Math.ceil(Math.min(wakeUpMs, leftOut.restMs)));
        await woken.promise;
        clearTimeout(timer);
      }
    } finally {
      // While the transport has rows in hand, nobody here starts anew with them; others may, and inboxes know them.
      await topics.ended();
    }
  };

  const run = async () => {
    for (let failures = 1; !stop.signal.aborted; failures++) {
      const client = createSession(options.databaseUrl);
      const lost = new AbortController();
      client.on("error", () => lost.abort());
      client.on("end", () => {
        lost.abort();
        wake();
      });
      client.on("notification", () => wake());
      try {
        await client.connect();
        while (!stop.signal.aborted && !lost.signal.aborted) {
          const worked = () => {
            failures = 0;
          };
          if (await becomeRelay(client)) await relayOn(client, lost.signal, worked);
          else await sleep(electionMs, stop.signal);
        }
      } catch (error) {
        if (!stop.signal.aborted) logger.warn({ err: error }, "the relay lost its database and will connect again");
      }
      await client.end().catch(() => {});
      if (!stop.signal.aborted) await sleep(backoffMs(Math.max(1, failures), 200, 5_000), stop.signal);
    }
  };
  const running = run();

  return {
    async settled() {
      if (stop.signal.aborted) throw new Error("the relay is closed");
      const waiter = Promise.withResolvers<void>();
      waiting.add(waiter);
      wake();
      await waiter.promise;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      wake();
      await running;
      for (const waiter of waiting) waiter.reject(new Error("the relay is closed"));
      waiting.clear();
    },
  };
}

const createSession = (databaseUrl: string) =>
  new pg.Client({
    connectionString: databaseUrl,
    application_name: "relay",
    connectionTimeoutMillis: 5_000,
    statement_timeout: 10_000,
    query_timeout: 15_000,
    keepAlive: true,
    options: relaySessionOptions,
  });

async function becomeRelay(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ got: boolean }>("select pg_try_advisory_lock($1) as got", [relayLock]);
  return rows[0]?.got === true;
}

/**
 * Of each topic, whether rows are under way, and whether it rests because the transport did not
 * take them: until it is tried again, however much of it waits, the others go on without it.
 */
function createTopicStates(wake: () => void) {
  const resting = new Map<string, { failures: number; untilMs: number }>();
  const underWay = new Map<string, Promise<void>>();
  return {
    /** The topics to leave out for now, and how long until the first of them has rested: for ever where none rests. */
    leftOut() {
      const nowMs = performance.now();
      const rests = [...resting].filter(([topic, { untilMs }]) => untilMs > nowMs && !underWay.has(topic));
      return {
        topics: [...rests.map(([topic]) => topic), ...underWay.keys()],
        restMs: Math.min(...rests.map(([, { untilMs }]) => untilMs - nowMs)),
      };
    },
    start(topic: string, publishing: Promise<void>, failed: (topic: string, error: unknown, failures: number) => void) {
      const settled = publishing.then(
        () => void resting.delete(topic),
        (error: unknown) => {
          const failures = (resting.get(topic)?.failures ?? 0) + 1;
          resting.set(topic, { failures, untilMs: performance.now() + backoffMs(failures, 100, 2_000) });
          failed(topic, error, failures);
        },
      );
      const ended = settled.then(() => {
        underWay.delete(topic);
        wake();
      });
      underWay.set(topic, ended);
    },
    ended: () => Promise.all(underWay.values()),
  };
}
