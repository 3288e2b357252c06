import { databaseTime, type Orm } from "@amana/database";
import { type Logger, timeOfUuid } from "@amana/runtime";
import { eventIdOf, type Message } from "./message.ts";
import type { MessageKeys } from "./message-keys.ts";
import { consumedEvents } from "./metrics.ts";

/** During a flood of rejected messages, the log has one alert a minute. */
const alertPauseMs = 60_000;
/**
 * Inboxes keep an event id for 40 days from the time in the id. One day less allows for clocks that
 * differ. Republishing stays possible, because the outbox keeps events for three days only.
 */
const messageAgeMaxMs = 39 * 24 * 60 * 60 * 1000;

/**
 * Returns a function that returns the messages that may take effect, without their MACs. It rejects
 * messages without a good MAC, and messages that are older than inboxes remember: repeated, they
 * would take effect again. Rejected messages are counted and logged, not stored, so that a sender
 * without a key can fill no disk.
 */
export function createAuthentication(orm: Orm, topic: string, keys: MessageKeys, logger: Logger) {
  let count = 0;
  let tooOld = 0;
  let alertedAtMs = Number.NEGATIVE_INFINITY;

  return async (messages: readonly Message[]): Promise<Message[]> => {
    const authentic: Message[] = [];
    let now: Date | undefined;
    for (const message of messages) {
      const verified = keys.verify(topic, message);
      // The database's clock decides, because this process's clock may be ahead and would then
      // reject every event.
      if (verified && !now && isTooOld(verified, new Date())) now = await databaseTime(orm.em.fork());
      if (verified && !(now && isTooOld(verified, now))) authentic.push(verified);
      else if (verified) tooOld++;
    }
    const rejected = messages.length - authentic.length;
    count += rejected;
    consumedEvents.inc({ topic, outcome: "forged" }, rejected);
    // Also reports the rejected messages of the last minute when only good messages follow.
    if (count > 0 && performance.now() - alertedAtMs >= alertPauseMs) {
      logger.error({ alert: true, count, too_old: tooOld }, "messages rejected: MAC is not good, or too old");
      alertedAtMs = performance.now();
      count = 0;
      tooOld = 0;
    }
    return authentic;
  };
}

/** The age comes from the event id (UUIDv7), which the MAC covers. */
function isTooOld(message: Message, now: Date): boolean {
  const id = eventIdOf(message);
  return id !== undefined && timeOfUuid(id) < now.getTime() - messageAgeMaxMs;
}
