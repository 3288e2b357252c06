import { type Orm, transaction } from "@amana/database";
import { type Logger, poll } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Circuit } from "./circuit.ts";
import { dueLetters, lockDue, messageOf, noteFailure, park, resolve, retryNow, type Subscription } from "./dead-letter.ts";
import { applyFresh, type Effect } from "./effect.ts";
import { isDatabaseAway } from "./failure.ts";
import type { Message } from "./message.ts";
import { handling, inTraceOf } from "./message-spans.ts";

const pollMs = 1_500;
const atOnceMax = 20;

type Consumption = Subscription & { readonly effect: Effect };

interface Retrying {
  readonly orm: Orm;
  readonly logger: Logger;
  readonly pausesMs: readonly number[];
  readonly circuit: Circuit;
  /** Told of each that had its effect. */
  readonly succeeded: (result: unknown) => void;
}

/** Tries messages that were set aside again at their time, and all when a new version starts. */
export function startRetrying(consumption: Consumption, retrying: Retrying): AsyncDisposable {
  const { orm, logger, succeeded } = retrying;
  const em = () => orm.em.fork();
  let isFirst = true;
  return poll(
    "retry-messages",
    logger,
    async () => {
      // A version that starts may know what the one before it did not.
      if (isFirst) await retryNow(em(), consumption);
      isFirst = false;
      let delivered = 0;
      for (const id of await dueLetters(em(), consumption, atOnceMax)) {
        const outcome = await tryAgain(consumption, retrying, id);
        if (outcome) delivered++;
        if (outcome?.hadEffect) {
          succeeded(outcome.result);
          // What fails for one reason is mended for all of them.
          await retryNow(em(), consumption, outcome.reason);
        }
      }
      // Those that failed have their pause; another replica may have the rest in hand.
      return delivered;
    },
    pollMs,
  );
}

/**
 * Tries a letter whose time has come: effect, inbox and the letter's end in one commit. Undefined
 * when it failed, which is written down, or when another replica has it. A letter that has failed
 * to the end of the schedule, and alone, is parked.
 */
async function tryAgain(
  consumption: Consumption,
  { orm, logger, pausesMs, circuit }: Retrying,
  id: string,
): Promise<{ hadEffect: boolean; result: unknown; reason: string } | undefined> {
  let message: Message | undefined;
  try {
    return await transaction(orm, async (em) => {
      const letter = await lockDue(em, id);
      if (!letter) return undefined;
      const messages = [messageOf(letter)];
      message = messages[0];
      const { fresh, result } = await handling(consumption, messages, () => applyFresh(em, consumption, messages));
      await resolve(em, id, "DELIVERED");
      return { hadEffect: fresh.length > 0, result, reason: letter.reason };
    });
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    const noted = async (em: SqlEntityManager) => {
      const failed = await noteFailure(em, id, error, pausesMs);
      if (!failed) return;
      logger.warn({ err: error, dead_letter: id, attempts: failed.attempts }, "a message failed again");
      if (failed.attempts <= pausesMs.length || !circuit.hasSucceededWithin(failed.ageMs)) return;
      if (await park(em, id)) logger.error({ err: error, alert: true, dead_letter: id }, "a message is parked");
    };
    await inTraceOf(message, () => transaction(orm, noted));
    return undefined;
  }
}
