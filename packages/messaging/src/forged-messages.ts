import { databaseTime, type Orm, transaction } from "@amana/database";
import type { Logger } from "@amana/runtime";
import { keepForged, type Subscription } from "./dead-letter.ts";
import type { Message } from "./message.ts";
import { isTooOld } from "./message-age.ts";
import type { MessageKeys } from "./message-keys.ts";

/** Greater than any event of ours: such a message is not worth its place. */
const bytesMax = 300 * 1024;
/** In a minute, a flood of them is one alert, and the database hears of so many and no more. */
const windowMs = 60_000;
const askedMax = 1_000;

/**
 * Rejects messages without a good MAC, and messages that are older than inboxes remember. Neither
 * has an effect. A limited number is stored as FORGED for operators. They can retry a message after
 * this service gets its missing key, but never a message that is too old.
 */
export function createForgedMessages(orm: Orm, subscription: Subscription, logger: Logger) {
  let count = 0;
  let tooOld = 0;
  let asked = 0;
  let windowAtMs = Number.NEGATIVE_INFINITY;
  let alertedAtMs = Number.NEGATIVE_INFINITY;

  return {
    /** Answers the authentic ones, without their MACs. */
    async setAside(messages: readonly Message[], keys: MessageKeys): Promise<Message[]> {
      const authentic: Message[] = [];
      let now: Date | undefined;
      for (const message of messages) {
        const verified = keys.verify(subscription.topic, message);
        // The database's clock decides, because this process's clock may be ahead and would then
        // reject every event.
        if (verified && !now && isTooOld(verified, new Date())) now = await databaseTime(orm.em.fork());
        if (verified && !(now && isTooOld(verified, now))) {
          authentic.push(verified);
          continue;
        }
        count++;
        if (verified) tooOld++;
        if (performance.now() - windowAtMs >= windowMs) {
          windowAtMs = performance.now();
          asked = 0;
        }
        if (sizeOf(message) > bytesMax || asked >= askedMax) continue;
        asked++;
        const hasRoom = await transaction(orm, (em) => keepForged(em, subscription, message, verified ? "TOO_OLD" : "MAC"));
        if (!hasRoom) asked = askedMax;
      }
      // Of all that came: those of the last minute too when nothing but good ones follows.
      if (count > 0 && performance.now() - alertedAtMs >= windowMs) {
        logger.error({ alert: true, count, too_old: tooOld }, "messages rejected: MAC is not good, or too old");
        alertedAtMs = performance.now();
        count = 0;
        tooOld = 0;
      }
      return authentic;
    },
  };
}

function sizeOf({ key, payload, headers }: Message): number {
  return Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, key.length + payload.length);
}
