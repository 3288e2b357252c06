import { type Orm, transaction } from "@amana/database";
import type { Logger } from "@amana/runtime";
import { keepForged, type Subscription } from "./dead-letter.ts";
import type { Message } from "./message.ts";
import type { MessageKeys } from "./message-keys.ts";

/** Greater than any event of ours: such a message is not worth its place. */
const bytesMax = 300 * 1024;
/** In a minute, a flood of them is one alert, and the database hears of so many and no more. */
const windowMs = 60_000;
const askedMax = 1_000;

/**
 * Messages without a good MAC never reach an effect. A bounded number is kept for whoever looks
 * into it; they can be tried again once their MAC is good, which it is when a key was missing here.
 */
export function createForgedMessages(orm: Orm, subscription: Subscription, logger: Logger) {
  let count = 0;
  let asked = 0;
  let windowAtMs = Number.NEGATIVE_INFINITY;
  let alertedAtMs = Number.NEGATIVE_INFINITY;

  return {
    /** Answers the authentic ones, without their MACs. */
    async setAside(messages: readonly Message[], keys: MessageKeys): Promise<Message[]> {
      const authentic: Message[] = [];
      for (const message of messages) {
        const verified = keys.verify(subscription.topic, message);
        if (verified) {
          authentic.push(verified);
          continue;
        }
        count++;
        if (performance.now() - windowAtMs >= windowMs) {
          windowAtMs = performance.now();
          asked = 0;
        }
        if (sizeOf(message) > bytesMax || asked >= askedMax) continue;
        asked++;
        const hasRoom = await transaction(orm, (em) => keepForged(em, subscription, message));
        if (!hasRoom) asked = askedMax;
      }
      // Of all that came: those of the last minute too when nothing but good ones follows.
      if (count > 0 && performance.now() - alertedAtMs >= windowMs) {
        logger.error({ alert: true, count }, "messages whose MAC is not good were not handled");
        alertedAtMs = performance.now();
        count = 0;
      }
      return authentic;
    },
  };
}

function sizeOf({ key, payload, headers }: Message): number {
  return Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, key.length + payload.length);
}
