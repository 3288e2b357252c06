import { timeOfUuid } from "@amana/runtime";
import { eventIdOf } from "./event-id.ts";
import type { Message } from "./message.ts";

/**
 * Inboxes keep an event id for 40 days from the time in the id. One day less allows for clocks that
 * differ. Republishing stays possible, because the outbox keeps events for three days only.
 */
const messageAgeMaxMs = 39 * 24 * 60 * 60 * 1000;

/**
 * Returns whether the inbox may have forgotten the event, so that a repeated message would take
 * effect again. The age comes from the event id (UUIDv7). The MAC covers this header, so that only
 * holders of the topic's key can change it. `now` is the time of the database, as for inboxes.
 */
export function isTooOld(message: Message, now: Date): boolean {
  const id = eventIdOf(message);
  return id !== undefined && timeOfUuid(id) < now.getTime() - messageAgeMaxMs;
}
