import { timeOfUuid } from "@amana/runtime";
import { eventIdOf } from "./event-id.ts";
import type { Message } from "./message.ts";

/**
 * Inboxes keep an event id for 40 days from the time in the id. The day less is for clocks that
 * differ. What the outbox still has is at most three days old, so republishing stays possible.
 */
const messageAgeMaxMs = 39 * 24 * 60 * 60 * 1000;

/**
 * Whether the inbox may have forgotten the event, so that a repeated message would take effect
 * again. The time is that of the event id (UUIDv7), a header that the MAC covers: it cannot be
 * changed without the topic's key. Decide by the database's clock, which inboxes go by.
 */
export function isTooOld(message: Message, now: Date): boolean {
  const id = eventIdOf(message);
  return id !== undefined && timeOfUuid(id) < now.getTime() - messageAgeMaxMs;
}
