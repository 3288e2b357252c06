import { isDatabaseUnavailable, type Orm, transaction } from "@amana/database";
import { faultPoint, type Logger, poll, sleep } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { claimFromInbox, cleanInbox, park } from "./inbox.ts";
import type { Message, Transport } from "./message.ts";

/** What a consumer does with messages it has not seen before, inside the transaction that marks them as seen. */
export type Effect = (em: SqlEntityManager, messages: readonly Message[]) => Promise<void>;

export interface Consumption {
  readonly topic: string;
  /** Names this consumer in its inbox and towards Kafka: "webhooks". */
  readonly consumer: string;
  readonly effect: Effect;
  /** Runs after each commit that had an effect, for example to wake a worker. */
  readonly committed?: () => void;
}

const batchMessagesMax = 200;
const attemptsMax = 4;
const cleaningMs = 60 * 60 * 1000;

/**
 * Consumes a topic: inbox rows and effect commit together, so a message takes effect once however often it
 * arrives. A message that fails four times on its own is parked in dead_letter and those behind it go on; while the
 * database is away nothing is parked and the transport delivers again.
 */
export async function consume(
  consumption: Consumption,
  context: { orm: Orm; transport: Transport; logger: Logger },
): Promise<AsyncDisposable> {
  const { topic, consumer, effect, committed } = consumption;
  const { orm, logger } = context;

  const apply = async (messages: readonly Message[]) => {
    const count = await transaction(orm, async (em) => {
      const fresh = await claimFromInbox(em, consumer, messages);
      if (fresh.length > 0) await effect(em, fresh);
      return fresh.length;
    });
    faultPoint("consumer.committed");
    if (count > 0) committed?.();
  };

  const applyOne = async (message: Message) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await apply([message]);
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error;
        if (attempt < attemptsMax) {
          await sleep(50 * 2 ** attempt);
          continue;
        }
        const event_id = message.headers["ce_id"];
        logger.error({ err: error, alert: true, topic, consumer, event_id }, "a message is parked in dead_letter");
        const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
        return await transaction(orm, (em) => park(em, consumer, topic, message, reason));
      }
    }
  };

  await context.transport.subscribe(topic, consumer, async (messages) => {
    for (let start = 0; start < messages.length; start += batchMessagesMax) {
      const batch = messages.slice(start, start + batchMessagesMax);
      try {
        await apply(batch);
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error;
        // One bad message must not hold up its neighbours: find it by going one by one.
        for (const message of batch) await applyOne(message);
      }
    }
  });

  return poll("clean-inbox", logger, () => cleanInbox(orm.em.fork() as SqlEntityManager, consumer), cleaningMs);
}
