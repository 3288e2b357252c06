import { backoffMs, faultPoint, type Logger, sleep } from "@amana/runtime";
import pg from "pg";
import type { Transport } from "./message.ts";

export interface Relay extends AsyncDisposable {
  /**
   * Resolves when everything committed before the call has been published, by this relay: while another one holds
   * the lock it waits until this one takes over. Throws when the relay is closed. For tests.
   */
  settled(): Promise<void>;
}

interface Row {
  id: string;
  topic: string;
  key: string;
  payload: Buffer;
  headers: Record<string, string>;
}

const batchRowsMax = 500;
/** All rows of a batch may go to one partition, and Kafka takes 1 MiB at once (message.max.bytes), headers included. */
const batchBytesMax = 512 * 1024;
/** Notifications can get lost with a connection; this bounds how long a row may then wait. Also how often the relay shows life. */
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
 * The system of a frozen process still answers for it: what ends its session is that it asks nothing any more, or takes no
 * answer. And a machine that vanished is noticed by keepalives, not after the hours that are the default.
 */
export const relaySessionOptions = `-c idle_session_timeout=${frozenMs} -c tcp_user_timeout=${frozenMs} -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3`;

/**
 * Moves committed outbox rows to the transport, in order of each topic, at least once. Of all replicas of a service one
 * relays: the one whose connection holds an advisory lock. The lock goes with the connection, so a relay that ends is
 * replaced within about a second, and one that is frozen within about eight, since the server ends a session that is idle:
 * by the database's clock. A frozen one that wakes can publish once more what it had read; inboxes drop what they know.
 * Rows are deleted after the transport has them; a crash in between publishes them again. All unpublished rows are read
 * each time, never "id > last": a transaction that commits late with an early id is not passed over. Each topic goes its
 * own way: one that hangs or fails holds up no other.
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

  const becomeRelay = async (client: pg.Client): Promise<boolean> => {
    const { rows } = await client.query<{ got: boolean }>("select pg_try_advisory_lock($1) as got", [relayLock]);
    return rows[0]?.got === true;
  };

  const readBatch = async (client: pg.Client, topicsLeftOut: readonly string[]): Promise<Row[]> => {
    const { rows } = await client.query<Row>({
      name: "outbox_batch",
      // What is read is what is published, so that a client that is frozen while it reads leaves little on the way.
      text: `select id, topic, key, payload, headers from (
               select *, sum(length(payload)) over (order by id) - length(payload) as bytes_before
               from (select * from outbox where topic <> all($2) order by id limit $1) as oldest
             ) as batch where bytes_before = 0 or bytes_before + length(payload) <= $3 order by id`,
      values: [batchRowsMax, topicsLeftOut, batchBytesMax],
    });
    return rows;
  };

  /** Hands the rows over and deletes them; throws after `timeoutMs` at the latest. */
  const publish = async (client: pg.Client, topic: string, rows: readonly Row[]): Promise<void> => {
    const abandoned = new AbortController();
    const ended = new AbortController();
    const timeLimit = sleep(timeoutMs, ended.signal).then(() => {
      if (ended.signal.aborted) return;
      abandoned.abort();
      throw new Error(`the transport did not answer within ${timeoutMs} ms`);
    });
    const messages = rows.map(({ key, payload, headers }) => ({ key, payload, headers }));
    try {
      await Promise.race([transport.publish(topic, messages, abandoned.signal), timeLimit]);
    } finally {
      ended.abort();
    }
    faultPoint("relay.published");
    await client.query({
      name: "outbox_delete",
      text: "delete from outbox where id = any($1)",
      values: [rows.map((row) => row.id)],
    });
  };

  /** Relays until the connection fails, which is thrown, or the relay is closed. */
  const relayOn = async (client: pg.Client, lost: AbortSignal, worked: () => void) => {
    await client.query("listen outbox");
    // However much of a topic waits that the transport does not take: until it is tried again, the others go on without it.
    const stuck = new Map<string, { failures: number; untilMs: number }>();
    const underWay = new Map<string, Promise<void>>();

    const start = (topic: string, rows: readonly Row[]) => {
      const publishing = publish(client, topic, rows).then(
        () => {
          stuck.delete(topic);
        },
        (error: unknown) => {
          const failures = (stuck.get(topic)?.failures ?? 0) + 1;
          stuck.set(topic, { failures, untilMs: performance.now() + backoffMs(failures, 100, 2_000) });
          if (stop.signal.aborted || lost.aborted) return;
          logger.warn({ err: error, topic, failures }, "events could not be published and wait in the outbox");
        },
      );
      underWay.set(
        topic,
        publishing.then(() => {
          underWay.delete(topic);
          wake();
        }),
      );
    };

    try {
      while (!lost.aborted && !stop.signal.aborted) {
        const woken = Promise.withResolvers<void>();
        wake = woken.resolve;
        // Who asked before the rows are read knows that theirs are gone when none are left; who asks later does not.
        const asked = [...waiting];
        const nowMs = performance.now();
        const resting = new Map([...stuck].filter(([topic, { untilMs }]) => untilMs > nowMs && !underWay.has(topic)));
        const leftOut = [...resting.keys(), ...underWay.keys()];
        const rows = await readBatch(client, leftOut);
        worked();
        for (const [topic, topicRows] of Map.groupBy(rows, (row) => row.topic)) start(topic, topicRows);
        if (rows.length > 0) continue;
        if (leftOut.length === 0) {
          for (const waiter of asked) {
            waiting.delete(waiter);
            waiter.resolve();
          }
        }
        const waitMs = Math.min(wakeUpMs, ...[...resting.values()].map(({ untilMs }) => untilMs - nowMs));
        const timer = setTimeout(wake, Math.ceil(waitMs));
        await woken.promise;
        clearTimeout(timer);
      }
    } finally {
      // While the transport still has rows in hand, nobody here starts anew with them; others may, and inboxes know them.
      await Promise.all(underWay.values());
    }
  };

  const run = async () => {
    let failures = 0;
    while (!stop.signal.aborted) {
      const client = new pg.Client({
        connectionString: options.databaseUrl,
        application_name: "relay",
        connectionTimeoutMillis: 5_000,
        statement_timeout: 10_000,
        query_timeout: 15_000,
        keepAlive: true,
        options: relaySessionOptions,
      });
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
      failures++;
      if (!stop.signal.aborted) await sleep(backoffMs(failures, 200, 5_000), stop.signal);
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
