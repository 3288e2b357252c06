import { type Orm, transaction } from "@amana/database";
import type { Logger } from "@amana/runtime";
import type { Circuit } from "./circuit.ts";
import type { Consumption } from "./consume.ts";
import { lockDue, messageOf, noteFailure, park, resolve } from "./dead-letter.ts";
import { isDatabaseAway, reasonOf, UnknownEventTypeError } from "./failure.ts";
import { claimFromInbox } from "./inbox.ts";

/**
 * Tries a letter whose time has come: effect, inbox and the letter's end in one commit. Undefined when it failed, which is
 * written down, or when another replica has it. A letter that has failed to the end of the schedule, and alone, is parked.
 */
export async function tryAgain(
  consumption: Consumption,
  context: { orm: Orm; logger: Logger; pausesMs: readonly number[] },
  id: string,
  circuit: Circuit,
): Promise<{ hadEffect: boolean; reason: string } | undefined> {
  const { orm, logger, pausesMs } = context;
  try {
    return await transaction(orm, async (em) => {
      const letter = await lockDue(em, id);
      if (!letter) return undefined;
      const fresh = await claimFromInbox(em, consumption.consumer, [messageOf(letter)]);
      if (fresh.length > 0) await consumption.effect(em, fresh);
      await resolve(em, [id], "DELIVERED");
      return { hadEffect: fresh.length > 0, reason: letter.reason };
    });
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    const isUnknownType = error instanceof UnknownEventTypeError;
    await transaction(orm, async (em) => {
      const failed = await noteFailure(em, id, { reason: reasonOf(error), isUnknownType, pausesMs });
      if (!failed || isUnknownType) return;
      logger.warn({ err: error, dead_letter: id, attempts: failed.attempts }, "a message failed again");
      if (failed.attempts <= pausesMs.length || !circuit.hasSucceededWithin(failed.ageMs)) return;
      if (await park(em, id)) logger.error({ err: error, alert: true, dead_letter: id }, "a message is parked");
    });
    return undefined;
  }
}
