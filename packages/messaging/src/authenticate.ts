import { databaseTime, type Orm } from "@amana/database";
import { type Logger, timeMsOfUuid } from "@amana/runtime";
import { eventIdOf, type Message } from "./message.ts";
import type { MessageKeys } from "./message-keys.ts";
import { consumedEvents } from "./metrics.ts";

/** Limits the log to one alert a minute during a flood of rejected messages. */
const alertPauseMs = 60_000;
/**
 * Maximum age of an event. Inboxes keep an event id for 40 days from the time in the id. The
 * maximum is a day shorter, because clocks differ. Events that are published again do not reach
 * this age, because the outbox keeps events for only three days.
 */
const messageAgeMaxMs = 39 * 24 * 60 * 60 * 1000;

/**
 * Creates a function that returns the authentic messages, without their MACs. It rejects messages
 * with an invalid MAC. It also rejects events above the maximum age: inboxes no longer contain
 * their ids, so a repeated event would take effect again. Rejected messages are counted and logged,
 * not stored, so that a sender without a key cannot fill the disk.
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
      // Compares with the clock of the database. The clock of this process may be ahead, and would
      // then cause the rejection of every event.
      if (verified && !now && isTooOld(verified, new Date())) now = await databaseTime(orm.em.fork());
      if (verified && !(now && isTooOld(verified, now))) authentic.push(verified);
      else if (verified) tooOld++;
    }
    const rejectedCount = messages.length - authentic.length;
    count += rejectedCount;
    consumedEvents.inc({ topic, outcome: "forged" }, rejectedCount);
    // Also runs when all messages are authentic, so that rejections since the last alert are
    // reported later.
    if (count > 0 && performance.now() - alertedAtMs >= alertPauseMs) {
      logger.error({ alert: true, count, too_old: tooOld }, "messages rejected, MAC invalid or event too old");
      alertedAtMs = performance.now();
      count = 0;
      tooOld = 0;
    }
    return authentic;
  };
}

/** Reads the age from the event id (UUIDv7), which the MAC protects. */
function isTooOld(message: Message, now: Date): boolean {
  const id = eventIdOf(message);
  return id !== undefined && timeMsOfUuid(id) < now.getTime() - messageAgeMaxMs;
}
