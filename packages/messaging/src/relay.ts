import { noTenantOption, plansByIndex } from "@amana/database";
import { backoffMs, type Logger, Pause, poll, sleep } from "@amana/runtime";
import pg from "pg";
import { relayActive } from "./metrics.ts";
import { onCommit } from "./outbox.ts";
import { deletePublished } from "./outbox-cursor.ts";
import { TopicRelay } from "./relay-topic.ts";
import type { Transport } from "./transport.ts";

export interface Relay extends AsyncDisposable {
  /**
   * Wakes the relay. Call it after a commit that did not use `transaction`, because only
   * `transaction` wakes the relay automatically.
   */
  wake(): void;
}

/** Interval of the relay's heartbeat queries while all topics publish. */
const heartbeatMs = 1_500;
/**
 * PostgreSQL ends the session of the relay, and releases the session's lock, after this time
 * without a query.
 */
const idleTimeoutMs = 6_000;
/**
 * Timeout of a publication, after which the relay repeats it. Both publications may succeed;
 * consumers skip the duplicates.
 */
const publishTimeoutMs = 25_000;
/** Interval at which other replicas try to get the lock. */
const electionMs = 1_000;
const cleaningMs = 60 * 60 * 1000;
/** Key of the advisory lock. The number is arbitrary. */
export const relayLock = 7_166_242;
/**
 * Session settings that release the lock of a failed relay. Keepalives detect a lost machine in
 * seconds instead of hours. They do not detect a frozen process, because its operating system still
 * acknowledges them. PostgreSQL therefore also ends sessions that send no query or read no
 * response. The session has no tenant, because the outbox belongs to no tenant. It cannot read rows
 * of tenants.
 */
export const relaySessionOptions = `-c idle_session_timeout=${idleTimeoutMs} -c tcp_user_timeout=${idleTimeoutMs} -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 ${plansByIndex} ${noTenantOption}`;

interface RelayOptions {
  readonly databaseUrl: string;
  /** Topics to publish. Rows of other topics stay in the outbox. */
  readonly topics: readonly string[];
  readonly transport: Transport;
  readonly logger: Logger;
  /** Timeout of a publication, for tests. */
  readonly timeoutMs?: number;
}

/**
 * Publishes committed outbox rows to the transport at least once, and in order within each topic.
 * Only the replica of a service whose session holds an advisory lock publishes. The lock ends with
 * the session, so another replica replaces a stopped relay within about a second. Another replica
 * replaces a frozen relay within about eight seconds, because PostgreSQL ends idle sessions. A
 * commit in the process of the relay wakes the relay. Other replicas notify the relay after their
 * commits, outside of the transactions. After a failover, rows that the former relay published
 * after its last cursor write are published again; inboxes skip them. Topics are independent: a
 * topic that hangs or fails does not delay other topics.
 */
export function startRelay({ databaseUrl, transport, logger, ...options }: RelayOptions): Relay {
  const { timeoutMs = publishTimeoutMs } = options;
  const byName = new Map(options.topics.map((topic) => [topic, new TopicRelay(topic, { transport, logger, timeoutMs })]));
  const topics = [...byName.values()];
  const wakeTopics = () => {
    for (const topic of topics) topic.wake();
  };
  const stop = new AbortController();
  const committed = new Pause();
  const stopListening = onCommit((topic) => {
    committed.wake();
    byName.get(topic)?.wake();
  });

  /** Deletes old published rows of each topic. Returns the number of deleted rows. */
  const deleteOldRows = async (client: pg.Client): Promise<number> => {
    const deleted = await Promise.all(options.topics.map((topic) => deletePublished(client, topic)));
    return deleted.reduce((sum, count) => sum + count, 0);
  };

  /** Publishes outbox rows until the relay is closed. Throws when the connection fails. */
  const relayRows = async (client: pg.Client, connectionLost: AbortController) => {
    relayActive.set(1);
    await client.query("listen outbox");
    const end = AbortSignal.any([connectionLost.signal, stop.signal]);
    const sendHeartbeat = () => {
      // Sends a heartbeat only while all topics publish. A topic that is not publishing sends
      // queries, which also keep the session alive.
      if (topics.every((topic) => topic.isPublishing)) client.query("select 1").catch(() => {});
    };
    const heartbeats = setInterval(sendHeartbeat, heartbeatMs);
    const cleaning = poll("clean-outbox", logger, () => deleteOldRows(client), cleaningMs);
    try {
      const running = topics.map((topic) => topic.run({ client, end }).finally(() => connectionLost.abort()));
      // Waits for all topics, so that rows in flight are not published again.
      await Promise.allSettled(running);
      await Promise.all(running);
    } finally {
      clearInterval(heartbeats);
      await cleaning[Symbol.asyncDispose]();
    }
  };

  /** Waits for a commit in this process and notifies the replica that runs the relay. */
  const standBy = async (client: pg.Client): Promise<void> => {
    if (!(await committed.wait(electionMs)) || stop.signal.aborted) return;
    committed.begin();
    await client.query("notify outbox");
  };

  const run = async () => {
    for (let failures = 1; !stop.signal.aborted; failures++) {
      const client = createSession(databaseUrl);
      const connectionLost = new AbortController();
      client.on("error", () => connectionLost.abort());
      client.on("end", () => connectionLost.abort());
      client.on("notification", wakeTopics);
      try {
        await client.connect();
        while (!stop.signal.aborted && !connectionLost.signal.aborted) {
          failures = 0;
          if (await becomeRelay(client)) await relayRows(client, connectionLost);
          else await standBy(client);
        }
      } catch (error) {
        if (!stop.signal.aborted) logger.warn({ err: error }, "relay's database session failed, reconnect scheduled");
      }
      relayActive.set(0);
      await client.end().catch(() => {});
      if (!stop.signal.aborted) await sleep(backoffMs(Math.max(1, failures), 200, 5_000), stop.signal);
    }
  };
  relayActive.set(0);
  const running = run();

  return {
    wake() {
      committed.wake();
      wakeTopics();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      stopListening();
      committed.wake();
      await running;
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
    // Sends the queries of the topics without waiting for the results of earlier queries.
    pipeline: true,
    options: relaySessionOptions,
  });

async function becomeRelay(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ got: boolean }>("select pg_try_advisory_lock($1) as got", [relayLock]);
  return rows[0]?.got === true;
}
