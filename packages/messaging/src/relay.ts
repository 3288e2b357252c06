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
/** Notifications can get lost with a connection; this bounds how long a row may then wait. */
const wakeUpMs = 5_000;
/** How often a replica that is not the relay asks whether it should be. */
const electionMs = 1_000;
const advisoryLock = 7_166_242; // any number; it names the relay among a database's advisory locks

/**
 * Moves committed outbox rows to the transport, in order, at least once. Of all replicas of a service one relays:
 * the one whose connection holds an advisory lock. The lock goes with the connection, so a relay that ends is
 * replaced within about a second, and one whose machine vanishes within half a minute. Rows are deleted after the
 * transport has them; a crash in between publishes them again, and inboxes drop what they know. All unpublished
 * rows are read each time, never "id > last": a transaction that commits late with an early id is not passed over.
 */
export function startRelay(options: { databaseUrl: string; transport: Transport; logger: Logger }): Relay {
  const { transport, logger } = options;
  const stop = new AbortController();
  const waiting = new Set<PromiseWithResolvers<void>>();
  let wake = () => {};

  const becomeRelay = async (client: pg.Client): Promise<boolean> => {
    const { rows } = await client.query<{ got: boolean }>("select pg_try_advisory_lock($1) as got", [advisoryLock]);
    return rows[0]?.got === true;
  };

  const readBatch = async (client: pg.Client, topicsLeftOut: readonly string[]): Promise<Row[]> => {
    const { rows } = await client.query<Row>({
      name: "outbox_batch",
      text: "select id, topic, key, payload, headers from outbox where topic <> all($2) order by id limit $1",
      values: [batchRowsMax, topicsLeftOut],
    });
    let count = 0;
    for (let bytes = 0; count < rows.length; count++) {
      bytes += (rows[count] as Row).payload.length;
      if (bytes > batchBytesMax && count > 0) break;
    }
    return rows.slice(0, count);
  };

  /** Publishes and deletes, topic by topic. Answers the failures of the transport by topic; others do not wait for them. */
  const publish = async (client: pg.Client, rows: readonly Row[]): Promise<Map<string, unknown>> => {
    const failed = new Map<string, unknown>();
    for (const [topic, topicRows] of Map.groupBy(rows, (row) => row.topic)) {
      try {
        await transport.publish(
          topic,
          topicRows.map(({ key, payload, headers }) => ({ key, payload, headers })),
        );
      } catch (error) {
        failed.set(topic, error);
        continue;
      }
      faultPoint("relay.published");
      await client.query({
        name: "outbox_delete",
        text: "delete from outbox where id = any($1)",
        values: [topicRows.map((row) => row.id)],
      });
    }
    return failed;
  };

  /** Relays until the connection fails, which is thrown, or the relay is closed. */
  const relayOn = async (client: pg.Client, lost: AbortSignal, worked: () => void) => {
    await client.query("listen outbox");
    // However much of a topic waits that the transport does not take: until it is tried again, the others go on without it.
    const stuck = new Map<string, { failures: number; untilMs: number }>();
    while (!lost.aborted && !stop.signal.aborted) {
      const woken = Promise.withResolvers<void>();
      wake = woken.resolve;
      // Who asked before the rows are read knows that theirs are gone when none are left; who asks later does not.
      const asked = [...waiting];
      const nowMs = performance.now();
      const resting = new Map([...stuck].filter(([, { untilMs }]) => untilMs > nowMs));
      const rows = await readBatch(client, [...resting.keys()]);
      worked();
      if (rows.length > 0) {
        const failed = await publish(client, rows);
        for (const { topic } of rows) if (!failed.has(topic)) stuck.delete(topic);
        for (const [topic, error] of failed) {
          const failures = (stuck.get(topic)?.failures ?? 0) + 1;
          stuck.set(topic, { failures, untilMs: performance.now() + backoffMs(failures, 100, 2_000) });
          if (!stop.signal.aborted) {
            logger.warn({ err: error, topic, failures }, "events could not be published and wait in the outbox");
          }
        }
        continue;
      }
      if (resting.size === 0) {
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
        // Else the server keeps the lock of a machine that vanished for as long as its system keeps the connection: hours.
        options: "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3",
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
