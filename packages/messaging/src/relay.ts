import { backoffMs, faultPoint, type Logger, sleep } from "@amana/runtime";
import pg from "pg";
import type { Message, Transport } from "./message.ts";

export interface Relay extends AsyncDisposable {
  /** Resolves when everything committed before the call has been published. For tests. */
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
/** Notifications can get lost with a connection; this bounds how long a row may then wait. */
const wakeUpMs = 5_000;
/** How often a replica that is not the relay asks whether it should be. */
const electionMs = 1_000;
const advisoryLock = 7_166_242; // any number; it names the relay among a database's advisory locks

/**
 * Moves committed outbox rows to the transport, in order, at least once. Of all replicas of a service one relays:
 * the one whose connection holds an advisory lock. The lock goes with the connection, so a relay that is cut off
 * is replaced within about a second. Rows are deleted after the transport has them; a crash in between publishes
 * them again, and inboxes drop what they know. All unpublished rows are read each time, never "id > last": a
 * transaction that commits late with an early id is not passed over.
 */
export function startRelay(options: { databaseUrl: string; transport: Transport; logger: Logger }): Relay {
  const { transport, logger } = options;
  const stop = new AbortController();
  let wake = () => {};
  let idle = false;
  const settledWaiters = new Set<() => void>();

  const becomeRelay = async (client: pg.Client): Promise<boolean> => {
    const { rows } = await client.query<{ got: boolean }>("select pg_try_advisory_lock($1) as got", [advisoryLock]);
    return rows[0]?.got === true;
  };

  const publishBatch = async (client: pg.Client): Promise<number> => {
    const { rows } = await client.query<Row>({
      name: "outbox_batch",
      text: "select id, topic, key, payload, headers from outbox order by id limit $1",
      values: [batchRowsMax],
    });
    const byTopic = Map.groupBy(rows, (row) => row.topic);
    for (const [topic, topicRows] of byTopic) {
      const messages: Message[] = topicRows.map(({ key, payload, headers }) => ({ key, payload, headers }));
      await transport.publish(topic, messages);
      faultPoint("relay.published");
      await client.query({
        name: "outbox_delete",
        text: "delete from outbox where id = any($1)",
        values: [topicRows.map((row) => row.id)],
      });
    }
    return rows.length;
  };

  const relayOn = async (client: pg.Client, lost: AbortSignal) => {
    await client.query("listen outbox");
    let failures = 0;
    while (!lost.aborted && !stop.signal.aborted) {
      let notified = false;
      const next = new Promise<void>((resolve) => {
        wake = () => {
          notified = true;
          resolve();
        };
      });
      try {
        const count = await publishBatch(client);
        failures = 0;
        if (count > 0) continue;
      } catch (error) {
        if (lost.aborted || stop.signal.aborted) return;
        failures++;
        logger.warn({ err: error, failures }, "events could not be published and wait in the outbox");
        await sleep(backoffMs(failures, 100, 5_000), stop.signal);
        continue;
      }
      idle = true;
      for (const resolve of settledWaiters) resolve();
      settledWaiters.clear();
      const timer = setTimeout(() => wake(), wakeUpMs);
      if (!notified) await next;
      clearTimeout(timer);
      idle = false;
    }
  };

  const run = async () => {
    let failures = 0;
    while (!stop.signal.aborted) {
      const client = new pg.Client({ connectionString: options.databaseUrl, keepAlive: true, application_name: "relay" });
      const lost = new AbortController();
      client.on("error", () => lost.abort());
      client.on("end", () => {
        lost.abort();
        wake();
      });
      client.on("notification", () => wake());
      try {
        await client.connect();
        failures = 0;
        while (!stop.signal.aborted && !lost.signal.aborted) {
          if (await becomeRelay(client)) await relayOn(client, lost.signal);
          else await sleep(electionMs, stop.signal);
        }
      } catch (error) {
        failures++;
        if (!stop.signal.aborted) logger.warn({ err: error }, "the relay lost its database and will connect again");
      }
      await client.end().catch(() => {});
      if (!stop.signal.aborted) await sleep(backoffMs(Math.max(1, failures), 200, 5_000), stop.signal);
    }
  };
  const running = run();

  return {
    async settled() {
      if (idle) wake();
      await new Promise<void>((resolve) => settledWaiters.add(resolve));
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      wake();
      await running;
    },
  };
}
