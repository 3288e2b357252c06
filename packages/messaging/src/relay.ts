import { noTenantOption, plansByIndex } from "@amana/database";
import { backoffMs, type Logger, Pause, poll, sleep } from "@amana/runtime";
import pg from "pg";
import { relaysActive } from "./metrics.ts";
import { whenCommitted } from "./outbox.ts";
import { deletePublished } from "./outbox-position.ts";
import { TopicRelay } from "./relay-topic.ts";
import type { Transport } from "./transport.ts";

export interface Relay extends AsyncDisposable {
  /** Says that rows were committed, for who writes them past `transaction`. */
  wake(): void;
}

/** How often the relay shows life. */
const lifeMs = 1_500;
/** A relay that shows no life for so long loses its session and with it the lock. */
const frozenMs = 6_000;
/** A publication that takes longer is tried again; what comes of it later is a duplicate. */
const publishTimeoutMs = 25_000;
/** How often a replica that is not the relay asks whether it should be. */
const electionMs = 1_000;
const cleaningMs = 60 * 60 * 1000;
/** Any number; it names the relay among a database's advisory locks. */
export const relayLock = 7_166_242;
/**
 * The system of a frozen process still answers for it: what ends its session is that it asks
 * nothing any more, or takes no answer. And a machine that vanished is noticed by keepalives, not
 * after the hours that are the default.
 * It reads what has no tenant, and would see nobody's rows beside that.
 */
export const relaySessionOptions = `-c idle_session_timeout=${frozenMs} -c tcp_user_timeout=${frozenMs} -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 ${plansByIndex} ${noTenantOption}`;

interface RelayOptions {
  readonly databaseUrl: string;
  /** What is written to others stays where it is. */
  readonly topics: readonly string[];
  readonly transport: Transport;
  readonly logger: Logger;
  /** For tests. */
  readonly timeoutMs?: number;
}

/**
 * Moves committed outbox rows to the transport, in order of each topic, at least once. Of all
 * replicas of a service one relays: the one whose connection holds an advisory lock. The lock goes
 * with the connection, so a relay that ends is replaced within about a second, and one that is
 * frozen within about eight, since the server ends a session that is idle: by the database's clock.
 * A commit in the relay's own process wakes it; the other replicas notify it, outside any business
 * transaction. What a relay has published but not written down yet is published again by the one
 * that takes over; inboxes drop what they know. Each topic goes its own way: one that hangs or
 * fails holds up no other.
 */
export function startRelay({ databaseUrl, transport, logger, ...options }: RelayOptions): Relay {
  const { timeoutMs = publishTimeoutMs } = options;
  const topics = options.topics.map((topic) => new TopicRelay(topic, { transport, logger, timeoutMs }));
  const wakeTopics = () => {
    for (const topic of topics) topic.wake();
  };
  const stop = new AbortController();
  const committed = new Pause();
  const wake = () => {
    committed.wake();
    wakeTopics();
  };
  const stopListening = whenCommitted(wake);

  /** Relays until the connection fails, which is thrown, or the relay is closed. */
  const relayOn = async (client: pg.Client, lost: AbortController) => {
    relaysActive.set(1);
    await client.query("listen outbox");
    const end = AbortSignal.any([lost.signal, stop.signal]);
    const life = setInterval(() => client.query("select 1").catch(() => {}), lifeMs);
    const cleaning = poll("clean-outbox", logger, () => deletePublished(client), cleaningMs);
    try {
      const running = topics.map((topic) => topic.run({ client, end }).finally(() => lost.abort()));
      // While the transport has rows in hand, nobody here starts anew with them.
      await Promise.allSettled(running);
      await Promise.all(running);
    } finally {
      clearInterval(life);
      await cleaning[Symbol.asyncDispose]();
    }
  };

  /** Tells the replica that relays of commits here, one notification at a time. */
  const standBy = async (client: pg.Client): Promise<void> => {
    if (!(await committed.wait(electionMs)) || stop.signal.aborted) return;
    committed.begin();
    await client.query("notify outbox");
  };

  const run = async () => {
    for (let failures = 1; !stop.signal.aborted; failures++) {
      const client = createSession(databaseUrl);
      const lost = new AbortController();
      client.on("error", () => lost.abort());
      client.on("end", () => lost.abort());
      client.on("notification", wakeTopics);
      try {
        await client.connect();
        while (!stop.signal.aborted && !lost.signal.aborted) {
          failures = 0;
          if (await becomeRelay(client)) await relayOn(client, lost);
          else await standBy(client);
        }
      } catch (error) {
        if (!stop.signal.aborted) logger.warn({ err: error }, "the relay lost its database and will connect again");
      }
      relaysActive.set(0);
      await client.end().catch(() => {});
      if (!stop.signal.aborted) await sleep(backoffMs(Math.max(1, failures), 200, 5_000), stop.signal);
    }
  };
  relaysActive.set(0);
  const running = run();

  return {
    wake,
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
    // Topics ask side by side.
    pipeline: true,
    options: relaySessionOptions,
  });

async function becomeRelay(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ got: boolean }>("select pg_try_advisory_lock($1) as got", [relayLock]);
  return rows[0]?.got === true;
}
